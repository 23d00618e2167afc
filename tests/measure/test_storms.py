"""When our own load has to end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.measure.storms import seen, storm
from pytest_fabric.results import Failure, Growth, Measurement
from tests.report.examples import BANDWIDTH

LONG = Growth("gpu002:rail0", "tx_prio3_pause_duration", "pause_duration", 3_000_000, "tx", 3)
SHORT = replace(LONG, delta=500_000)
STORM = Growth("gpu002:rail0", "tx_pause_storm_error_events", "pause_storms", 1, "tx")


@pytest.mark.parametrize(
    ("grown", "is_disruptive", "found"),
    [
        (LONG, True, "gpu002:rail0 paused 3.0 of 10.0 s"),
        (LONG, False, None),
        (SHORT, True, None),
        (STORM, True, "tx_pause_storm_error_events"),
        (STORM, False, "tx_pause_storm_error_events"),
        (replace(STORM, delta=0), True, None),
    ],
)
def test_long_pauses_end_what_disrupts_and_storms_end_any_load(
    grown: Growth, is_disruptive: bool, found: str | None
) -> None:
    """A slow receiver is what full load is to find; only its sender suffers."""
    told = storm([grown], 10.0, is_disruptive)
    assert (told is None) if found is None else (found in (told or ""))


def measurement(grown: Growth, error: Failure | None = None) -> Measurement:
    return replace(BANDWIDTH, growth=(grown,), settings={"duration_s": 10}, error=error)


def test_a_record_tells_its_storm() -> None:
    """Latency makes none; a run that was ended for it says so."""
    assert seen(measurement(LONG), "full") is None
    assert "paused" in (seen(measurement(LONG), "disruptive") or "")
    assert seen(measurement(STORM), "light") is None
    ended = Failure("pause_storm", "ended, since a pause storm shows")
    assert seen(measurement(SHORT, ended), "disruptive") == ended.message
