"""What a test reads of TCP, and why it was not faster: a core and a window are no network."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.errors import MeasurementError, MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.limits import Limits
from pytest_fabric.judge.misses import misses
from pytest_fabric.judge.views import PairResult
from pytest_fabric.metrics import TCP_STATISTICS, unit_of
from pytest_fabric.report import evidence
from pytest_fabric.results import Measurement, Tcp
from pytest_fabric.units import gbps
from tests.clusters import TEXT, cluster
from tests.judge.test_views import RECORD

ROW = Tcp(
    version="3.18",
    streams=4,
    seconds=5.0,
    sent_bps=50e9,
    received_bps=50e9,
    retransmits=0,
    mss_bytes=8948,
    fairness=0.99,
    rtt_min_s=50e-6,
    rtt_mean_s=60e-6,
    rtt_max_s=90e-6,
    cwnd_bytes=300_000,
    cpu_sender=1.5,
    cpu_receiver=1.5,
    congestion="cubic",
)


def record(row: Tcp | None = ROW) -> Measurement:
    changes: dict[str, object] = {
        "tool": "iperf3",
        "latency": None,
        "growth": (),
        "settings": {},
        "tcp": row,
    }
    return replace(RECORD, counter_errors={}, **changes)  # type: ignore[arg-type]


def result(row: Tcp | None = ROW) -> PairResult:
    return PairResult(record(row), Ledger(), line_bps=400e9)


def test_values_have_the_metrics_that_limits_name() -> None:
    found = result(replace(ROW, retransmits=3493))

    for name, unit in TCP_STATISTICS.items():
        value = getattr(found, name)
        assert (value.metric, value.unit, unit_of(value.metric)) == (f"tcp.{name}", unit, unit)
    assert found.throughput == gbps(50)
    assert found.retransmissions.number == pytest.approx(0.001, rel=1e-3)
    assert found.throughput.label == "iperf3 of 4 streams: throughput"


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (None, "throughput"),
        (replace(ROW, retransmits=None), "retransmissions"),
        (replace(ROW, mss_bytes=None), "retransmissions"),
        (replace(ROW, rtt_mean_s=None), "rtt"),
        (ROW, "p99"),
    ],
)
def test_what_was_not_measured_is_no_value(row: Tcp | None, name: str) -> None:
    with pytest.raises(MissingValueError):
        getattr(result(row), name)


def test_streams_that_went_elsewhere_are_not_judged() -> None:
    doubtful = replace(record(), doubts=("a:r0 sent 0 B",))

    with pytest.raises(MeasurementError, match="sent 0 B"):
        _ = PairResult(doubtful, Ledger()).throughput


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (ROW, "neither a core nor a window was the limit"),
        (
            replace(ROW, version="3.12", cpu_sender=0.96),
            "CPU-bound, not the network: the one thread of iperf3 3.12 at the sender "
            "a:r0 used its core (96 % of one in all)",
        ),
        (
            replace(ROW, version="3.9", cpu_receiver=1.0),
            "the one thread of iperf3 3.9 at the receiver b:r0",
        ),
        (replace(ROW, cpu_sender=0.96), "neither a core"),
        (replace(ROW, cpu_sender=3.9), "each of its 4 threads at the sender a:r0"),
        (
            replace(ROW, receiver_limited=0.97),
            "97 % of the time limited by the receiver's window (net.ipv4.tcp_rmem there): 4 "
            "streams had 91.6 KiB each in flight at 60 us, a line of 400 Gb/s takes 2.86 MiB",
        ),
        (replace(ROW, buffer_limited=0.6), "60 % of the time limited by the sender's buffer"),
        (replace(ROW, retransmits=1200), "limited by congestion: 1,200 segments sent again"),
    ],
)
def test_a_slow_run_says_what_held_it_up(row: Tcp, told: str) -> None:
    """50 Gb/s x 60 us / 8 / 4 streams = 91.6 KiB; 400 Gb/s x 60 us / 8 = 2.86 MiB."""
    value = result(row).throughput

    assert any(told in line for line in value.detail), value.detail
    assert result(row).rtt.detail == ()


LIMITED = TEXT.replace("limits:\n", 'limits:\n      tcp.throughput: ">= 100 Gb/s"\n')


def test_a_miss_under_load_is_measured_again_alone() -> None:
    profiles = (cluster(LIMITED).nodes["gpu001"].profile,)

    assert misses(record(), profiles)
    assert not misses(record(replace(ROW, received_bps=150e9)), profiles)


class Skipped(Exception):
    """What stands for pytest's own."""


def skip(reason: str) -> None:
    raise Skipped(reason)


def test_a_limit_that_nobody_declares_is_skipped_in_an_optional_layer_only() -> None:
    limits = Limits("gpu001:rail0", (cluster(LIMITED).nodes["gpu001"].profile,), skip)

    assert result(replace(ROW, received_bps=150e9)).throughput in limits["tcp.throughput"]
    with pytest.raises(Skipped, match=r"no limit tcp\.rtt is declared in profile ours"):
        _ = limits["tcp.rtt"]
    with pytest.raises(MissingValueError, match=r"expected a limit for ib_write_lat\.max"):
        _ = limits["ib_write_lat.max"]


def test_a_failure_shows_the_whole_run() -> None:
    (_, text), *_ = evidence.details(record(replace(ROW, retransmits=12)))

    assert text.startswith(
        "4 streams: 50 Gb/s sent, 50 Gb/s received; 12 segments sent again; fairness 0.99; "
        "round trip min 50 us, mean 60 us, max 90 us; cores used: sender 1.50, receiver 1.50"
    )
