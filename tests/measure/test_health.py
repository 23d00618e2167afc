"""What became of a link between two readings: counts that went back are no growth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.measure.health import Seen, between

COUNTS = {"flaps": 2, "lost": 12, "corrected": 1000}
BEFORE = Seen(100.0, 400e9, COUNTS, 48.0)
LATER = {"flaps": 3, "lost": 12, "corrected": 5000}
AFTER = Seen(160.0, 400e9, LATER, 49.0)


def test_growth_is_the_difference() -> None:
    row = between("a:r0", BEFORE, AFTER)

    assert (row.seconds, row.flaps, row.lost, row.corrected) == (60.0, 1, 0, 4000)
    assert row.celsius == 49.0
    assert not row.problems


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (replace(AFTER, counts={**LATER, "lost": 3}), "cleared meanwhile"),
        (replace(AFTER, uptime_s=40.0), "restarted meanwhile"),
        (
            replace(AFTER, counts={**LATER, "lost": None}, problems={"lost": "no such counter"}),
            "no such counter",
        ),
        (replace(AFTER, problems={"lost": "ethtool is gone"}), "ethtool is gone"),
    ],
)
def test_what_cannot_be_told_has_its_reason(after: Seen, told: str) -> None:
    row = between("a:r0", BEFORE, after)

    assert row.lost is None
    assert told in row.problems["lost"]


@pytest.mark.parametrize("ends", [("it was lost", AFTER), (BEFORE, "it was lost")])
def test_a_node_that_did_not_answer_shows_nothing(ends: tuple[Seen | str, Seen | str]) -> None:
    row = between("a:r0", *ends)

    assert row.seconds == 0
    assert set(row.problems) == {"flaps", "lost", "corrected", "celsius"}
    assert set(row.problems.values()) == {"it was lost"}
