"""What an end cannot count: pause of a lossless priority, where the driver counts it at all."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from pytest_fabric.measure.context import Side
from pytest_fabric.measure.end import End
from pytest_fabric.measure.fabric import CheckedSession
from pytest_fabric.measure.pair_window import _blind
from pytest_fabric.results import Growth, NodeFacts, Port
from tests.clusters import TEXT, cluster
from tests.judge.test_views import PORT

NODE = NodeFacts("gpu001", "6.1", None, {}, None, (), {}, {}, ())
NAME = "gpu001:rail0"


def side(driver: str, text: str = TEXT) -> Side:
    rail = cluster(text).nodes["gpu001"].rails["rail0"]
    end = End(Port("gpu001", "rail0"), rail, NODE, replace(PORT, driver=driver))
    return Side(cast(CheckedSession, None), end, None, None, "")


def pause(priority: int | None) -> Growth:
    return Growth(NAME, "a counter of pause", "pause", 0, "rx", priority)


@pytest.mark.parametrize(
    ("driver", "grown", "is_blind"),
    [
        ("mlx5_core", [pause(3)], False),
        ("mlx5_core", [pause(4)], True),
        ("mlx5_core", [pause(None)], True),
        ("bnxt_en", [], True),
        ("qede", [pause(None)], False),
        ("ionic", [pause(None)], False),
        ("unheard_of", [], False),
    ],
)
def test_pfc_is_off_where_a_driver_that_counts_it_does_not(
    driver: str, grown: list[Growth], is_blind: bool
) -> None:
    """A driver that counts PFC as a whole has no counter per priority, whatever is on."""
    problems = _blind(side(driver), tuple(grown))

    assert problems.keys() == ({"pause"} if is_blind else set())
    assert all("lossless priority 3: is PFC on there?" in one for one in problems.values())


def test_what_is_not_declared_lossless_is_not_missed() -> None:
    assert _blind(side("mlx5_core", TEXT.replace("lossless: [3], ", "")), ()) == {}
