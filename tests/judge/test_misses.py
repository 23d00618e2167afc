"""Which measurements are made again alone, and what that can change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.misses import misses
from pytest_fabric.judge.peers import Group
from pytest_fabric.judge.views import PairResult
from pytest_fabric.results import Bandwidth, Growth, Measurement
from pytest_fabric.units import us
from tests.clusters import TEXT, cluster
from tests.report.examples import LATENCY


def record(p99_us: float, grown: str = "pause", delta: int = 0, size: int = 4) -> Measurement:
    assert LATENCY.latency is not None
    row = replace(LATENCY.latency, bytes=size, median_s=2e-6, p99_s=p99_us / 1e6)
    growth = (Growth("gpu001:rail0", "counter", grown, delta),)
    return replace(LATENCY, latency=row, growth=growth, counter_errors={}, doubts=(), error=None)


LIMITS = TEXT.replace(
    'pause.growth: "== 0"',
    'pause.growth: "== 0"\n      crc_errors.growth: "== 0"\n      ib_write_lat.4096.p99: "<= 6 us"',
).replace('    not_available: {crc_errors: "no such counter here"}\n', "")


@pytest.mark.parametrize(
    ("made", "is_missed"),
    [
        (record(4.0), False),
        (record(6.0), True),
        (record(4.0, "pause", 3), True),
        (record(4.0, "crc_errors", 3), False),
        (record(5.5, size=4096), False),
        (record(6.5, size=4096), True),
    ],
)
def test_a_miss_that_load_may_have_caused_is_confirmed(made: Measurement, is_missed: bool) -> None:
    """Errors of a cable are its own; a limit of the message size takes the place of the other."""
    profile = cluster(LIMITS).nodes["gpu001"].profile
    assert misses(made, (profile,)) is is_missed


def test_a_limit_without_a_size_is_about_bandwidth_of_the_usual_size() -> None:
    """Messages of eight bytes fill no line, and are asked for their rate."""
    profile = cluster(LIMITS).nodes["gpu001"].profile
    usual = int(profile.traffic.size.number)
    made = replace(record(4.0), tool="ib_write_bw", latency=None)

    slow = replace(made, bandwidth=Bandwidth(usual, 9, None, 2e11, 1e3))
    small = replace(made, bandwidth=Bandwidth(8, 9, None, 5e9, 8e7))

    assert misses(slow, (profile,))
    assert not misses(small, (profile,))


def result(loaded: Measurement, *alone: Measurement) -> PairResult:
    return PairResult(loaded, Ledger(), alone=lambda: alone)


def test_alone_decides_what_was_missed_under_load() -> None:
    """Every repetition must hold; without one the miss stands."""
    assert result(record(9.0), record(4.0)).p99 < us(5)
    assert not result(record(9.0), record(4.0), record(8.0)).p99 < us(5)
    assert not result(record(9.0)).p99 < us(5)


def test_what_was_missed_is_told_with_all_values() -> None:
    """For the message of a failure, and for the contention of a pass."""
    loaded = result(record(9.0), record(4.0), record(4.5))
    assert loaded.p99 < us(5)
    (check,) = loaded.ledger.checks
    assert check.company == "9 us under load, 4 us, 4.5 us alone"
    assert (check.passed, check.value, check.repetition) == (True, 4e-6, 0)


def test_the_repetition_that_decided_is_named() -> None:
    """Its evidence belongs to the verdict, not that of one that held."""
    broken = result(record(9.0), record(4.0), record(8.0), record(4.0))
    assert not broken.p99 < us(5)
    (check,) = broken.ledger.checks
    assert (check.value, check.repetition) == (8e-6, 1)
    plain = result(record(9.0))
    assert not plain.p99 < us(5)
    assert plain.ledger.checks[0].repetition is None


@pytest.mark.parametrize("meaning", ["crc_errors", "symbol_errors", "link_downed", "discards"])
def test_what_load_must_not_cause_is_not_measured_away(meaning: str) -> None:
    """Neighbours damage no frame, and a lossless class drops none however full it is."""
    broken = result(record(4.0, meaning, 3), record(4.0, meaning, 0))
    is_clean = broken.growth(meaning) == 0
    assert not is_clean


def test_what_load_may_cause_is_decided_alone() -> None:
    """Pause of a full leaf says nothing about the pair."""
    held_up = result(record(4.0, "pause", 3), record(4.0, "pause", 0))
    assert held_up.growth("pause") == 0


def test_who_misses_the_peers_only_is_known_once_they_are_measured() -> None:
    """Without its peers nothing is missed; with them, what is slower than they are."""
    text = LIMITS.replace('ib_write_lat.p99: "<= 5 us"', PEERS)
    profile = cluster(text).nodes["gpu001"].profile
    usual = [replace(record(2.0), target=f"gpu00{n}:r..gpu00{n + 1}:r") for n in range(2, 8)]
    slow = replace(record(3.0), target="gpu001:r..gpu002:r")
    group = Group([slow, *usual], "same leaf")

    assert not misses(slow, (profile,))
    assert misses(slow, (profile,), group=group)
    assert not misses(usual[0], (profile,), group=group)
    assert not misses(slow, (profile,), group=Group([slow, *usual[:3]], "same leaf"))


PEERS = 'ib_write_lat.p99: ["<= 1 ms", "within 20% of peers"]'
