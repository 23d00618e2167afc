"""Why checks were skipped: the same words for all ports with the same reason."""

from __future__ import annotations

from pytest_fabric.report.reasons import counted, reason

from .examples import HOSTILE, verdict


def test_the_same_reason_at_many_ports_is_one() -> None:
    found = [
        verdict(port, "skipped", message=f"{port}: no incast ended there\nand more")
        for port in ("a:r0", "b:r0", "c:r0")
    ]

    assert counted(found) == [("no incast ended there", 3)]


def test_a_skip_without_a_message_has_the_name_of_its_check() -> None:
    assert reason(verdict("a:r0", "skipped", "test_x")) == "test_x"
    assert reason(verdict("a:r0", "skipped", message=HOSTILE)).isprintable()
