"""What a test reads of a ping: the worst direction, and an error where nothing came back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.errors import CounterError, MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.misses import misses
from pytest_fabric.judge.views import PairResult
from pytest_fabric.metrics import unit_of
from pytest_fabric.report import evidence
from pytest_fabric.results import Measurement, Reach
from pytest_fabric.units import ms
from tests.clusters import TEXT, cluster
from tests.judge.test_views import RECORD

GOOD = Reach("a:r0", 84, 3000, 3000, 0, 0, 28e-6, 32e-6, 90e-6, None)
SILENT = replace(GOOD, received=0, rtt_min_s=None, rtt_median_s=None, rtt_max_s=None)


def record(*ways: Reach, packet: str | None = None, mtu: int | None = None) -> Measurement:
    return replace(
        RECORD,
        tool="ping",
        latency=None,
        mtu=mtu,
        growth=(),
        settings={"packet": packet},
        reach=ways,
        counter_errors={},
    )


def result(made: Measurement, *alone: Measurement) -> PairResult:
    return PairResult(made, Ledger(), alone=lambda: alone)


def test_values_and_their_metrics() -> None:
    found = result(record(GOOD))

    assert found.loss == 0
    assert found.rtt_median < ms(1)
    assert [check.metric for check in found.ledger.checks] == ["ping.loss", "ping.rtt_median"]
    assert (found.rtt_min.number, found.rtt_max.number) == (28e-6, 90e-6)
    assert found.loss.label == "ping: share of packets lost"


def test_a_ping_of_full_size_has_metrics_of_its_own() -> None:
    found = result(record(replace(GOOD, packet_bytes=9000), packet="full", mtu=4096))

    assert found.loss.metric == "ping.full.loss"
    assert found.loss.label == "ping 9000 B whole: share of packets lost"
    assert (found.mtu.metric, found.mtu.number) == ("link.mtu", 4096)


def test_the_worst_direction_counts() -> None:
    ways = (replace(GOOD, received=2997), replace(GOOD, port="b:r0", rtt_median_s=2e-3))
    found = result(record(*ways, packet="full"))

    assert (found.loss.number, found.rtt_median.number) == (0.001, 2e-3)
    assert found.loss.detail[1] == "b:r0: 3,000 of 3,000 packets of 84 B came back"


@pytest.mark.parametrize(
    ("made", "name", "message"),
    [
        (record(SILENT), "rtt_median", "0 of 3,000 packets came back"),
        (record(GOOD, SILENT), "rtt_max", "0 of 3,000 packets came back"),
        (record(replace(GOOD, sent=99, received=99)), "loss", "at least 100 packets"),
        (record(), "loss", "did not measure loss"),
        (record(GOOD), "mtu", "only a ping of full size"),
        (record(SILENT, packet="full"), "mtu", "expected full packets to come back both ways"),
        (record(GOOD), "los", "did you mean loss"),
        (record(GOOD), "p99", "it has loss"),
    ],
)
def test_what_was_not_measured_is_no_value(made: Measurement, name: str, message: str) -> None:
    with pytest.raises(MissingValueError, match=message):
        getattr(result(made), name)


def test_a_ping_counts_nothing() -> None:
    with pytest.raises(CounterError, match="no counter says pause"):
        result(record(GOOD)).growth("pause")


LOSSY = replace(GOOD, received=2900)
SLOW = replace(GOOD, rtt_median_s=5e-3)
LIMITS = TEXT.replace(
    'pause.growth: "== 0"',
    'ping.loss: "<= 0.001"\n      ping.full.loss: "<= 0.5"\n      ping.rtt_median: "<= 1 ms"',
)


@pytest.mark.parametrize(
    ("made", "is_missed"),
    [
        (record(GOOD), False),
        (record(LOSSY), True),
        (record(SLOW), True),
        (record(LOSSY, packet="full"), False),
        (record(SLOW, packet="full"), True),
        (record(SILENT), False),
        (record(SILENT, LOSSY, packet="full"), False),
        (record(), False),
    ],
)
def test_what_load_can_change_is_measured_again_alone(made: Measurement, is_missed: bool) -> None:
    """Packets travel in no lossless class; but no load makes a path silent."""
    profile = cluster(LIMITS).nodes["gpu001"].profile
    assert misses(made, (profile,)) is is_missed


def test_alone_decides_a_loss_under_load() -> None:
    assert result(record(LOSSY), record(GOOD)).loss == 0
    is_clean = result(record(SILENT), record(GOOD)).loss == 0
    assert not is_clean


def test_evidence_tells_each_direction() -> None:
    ways = (replace(GOOD, duplicates=2), replace(SILENT, port="b:r0", errors=9, mtu=1500))
    told = dict(evidence.details(record(*ways)))["measured"]

    assert told == (
        "a:r0 sent 3,000 packets of 84 B, 3,000 came back, 2 twice; round trip min 28 us, median "
        "32 us, max 90 us; b:r0 sent 3,000 packets of 84 B, 0 came back, 9 in errors; too long for "
        "an MTU of 1500"
    )


def test_units() -> None:
    names = ("loss", "rtt_min", "rtt_median", "rtt_max")
    assert [unit_of(f"ping.{name}") for name in names] == ["", "s", "s", "s"]
    assert [unit_of(f"ping.full.{name}") for name in names] == ["", "s", "s", "s"]
    assert (unit_of("ping.p99"), unit_of("ping.84.loss")) == (None, None)
