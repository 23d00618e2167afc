"""Which CPUs serve an interrupt is read from the affinity files, whole or not at all."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import interrupts

TEXT = """/proc/irq/0/effective_affinity_list:0
/proc/irq/212/effective_affinity_list:0-3,8,10-11
/proc/irq/213/effective_affinity_list:
"""


def test_an_interrupt_has_the_cpus_of_its_list() -> None:
    assert interrupts.affinities(TEXT) == {0: (0,), 212: (0, 1, 2, 3, 8, 10, 11), 213: ()}


def test_a_node_without_affinity_files_says_nothing() -> None:
    assert interrupts.affinities("") == {}


@pytest.mark.parametrize(
    "text",
    [
        TEXT[:-1].removesuffix("\n/proc/irq/213/effective_affinity_list:"),
        "/proc/irq/5/effective_affinity_list:0-3,\n",
        "/proc/irq/5/effective_affinity_list:3-0\n",
        "/proc/irq/5/effective_affinity_list:0-3-5\n",
        "/proc/irq/5/effective_affinity_list:0-99999,0-99999\n",
        "/proc/irq/5/effective_affinity_list:\u0663\n",
        "grep: /proc/irq: Permission denied\n",
    ],
)
def test_half_a_list_or_none_is_refused(text: str) -> None:
    with pytest.raises(NotRecognisedError):
        interrupts.affinities(text)
