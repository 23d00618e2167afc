"""What tests read: the record's numbers, and an error where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric import us
from pytest_fabric.errors import PORT_NOT_FOUND, CounterError, MeasurementError, MissingValueError
from pytest_fabric.judge.facts import PortResult
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.views import PairResult
from pytest_fabric.results import (
    Bandwidth,
    Growth,
    Latency,
    Measurement,
    PciHop,
    RdmaPort,
    Traffic,
)
from tests import ports

RECORD = Measurement(
    key="ib_write_lat size=4",
    tool="ib_write_lat",
    target="a:r0..b:r0",
    commands={},
    versions={},
    attempts=(),
    settings={},
    latency=Latency(4, 20_000, 1.8e-6, 9e-6, 2e-6, 2.1e-6, 2.4e-6, 8e-6),
    bandwidth=None,
    mtu=4096,
    growth=(
        Growth("a:r0", "rx_prio3_pause", "pause", 0, "rx", 3),
        Growth("b:r0", "tx_prio3_pause", "pause", 18_422, "tx", 3),
    ),
    counter_errors={"discards": "b:r0: rx_discards_phy is unreadable"},
    traffic=Traffic(80_000, 90_000, 90_000, 0.25, "a:r0"),
    doubts=(),
    beside=(),
    company=0,
    alone=False,
    raw={},
    error=None,
    started=0.0,
    duration=1.0,
)

RESENT = (
    Growth("a:r0", "implied_nak_seq_err", "retransmissions", 7, "tx"),
    Growth("a:r0", "local_ack_timeout_err", "retransmissions", 2, "tx"),
)

PORT = replace(
    ports.PORT,
    guid="",
    firmware=None,
    psid=None,
    state="DOWN",
    physical_state="Polling",
    speed_bps=None,
    active_mtu=None,
    numa_node=None,
    pcie=(PciHop("0000:1a:00.0", 32e9, 8, 32e9, 16), PciHop("0000:19:01.0", 32e9, 8, 32e9, 8)),
)


def pair(record: Measurement = RECORD) -> PairResult:
    return PairResult(record, Ledger())


def test_numbers_carry_unit_metric_and_label() -> None:
    """A failure text needs all of them."""
    value = pair().p99

    assert (value.number, value.unit, value.metric) == (2.4e-6, "s", "ib_write_lat.4.p99")
    assert value.label == "ib_write_lat 4 B: P99"


def test_growth_sums_both_ends_and_names_the_counters_that_grew() -> None:
    """The total decides, the end that grew is the evidence."""
    value = pair().growth("pause")

    assert value.number == 18_422
    assert value.detail == ("b:r0 tx_prio3_pause +18,422",)


@pytest.mark.parametrize(
    ("meaning", "error"),
    [("discards", CounterError), ("crc_errors", CounterError), ("paws", MissingValueError)],
)
def test_a_missing_counter_is_not_zero_growth(meaning: str, error: type[Exception]) -> None:
    """Unreadable, absent or unknown: each is an error."""
    with pytest.raises(error):
        pair().growth(meaning)


def test_what_was_not_measured_is_an_error_and_a_slip_gets_a_hint() -> None:
    """A latency run has no average bandwidth, and nothing is called p9."""
    with pytest.raises(MissingValueError, match="did not measure average"):
        _ = pair().average
    with pytest.raises(MissingValueError, match="did you mean p99"):
        _ = pair().p9


def test_a_percentile_needs_samples() -> None:
    """perftest's P99.9 of a thousand iterations is its maximum."""
    few = replace(RECORD, latency=Latency(4, 400, 1e-6, 9e-6, 2e-6, 2e-6, 3e-6, 9e-6))
    thousand = replace(RECORD, latency=Latency(4, 1000, 1e-6, 9e-6, 2e-6, 2e-6, 3e-6, 9e-6))

    assert pair(thousand).p99 < us(5)
    with pytest.raises(MissingValueError, match=r"P99\.9 needs at least 10,000"):
        _ = pair(thousand).p999
    with pytest.raises(MissingValueError, match="P99 needs at least 500"):
        _ = pair(few).p99


def test_a_run_with_duration_has_no_percentile() -> None:
    """-D prints an average only; it never stands in for P99."""
    record = replace(RECORD, latency=Latency(4, 20_000, None, None, None, 2e-6, None, None))

    with pytest.raises(MissingValueError, match="did not measure p99"):
        _ = pair(record).p99


def test_doubtful_values_are_not_judged_but_the_class_is() -> None:
    """When traffic went elsewhere its latency says nothing; where it went is a finding."""
    record = replace(RECORD, doubts=("a:r0 moved only 25% of the payload on priority 3",))

    with pytest.raises(MeasurementError, match="only 25%"):
        _ = pair(record).p99
    with pytest.raises(MeasurementError):
        pair(record).growth("pause")
    assert pair(record).class_share.number == 0.25


def test_a_peak_that_was_not_measured_is_an_error() -> None:
    """perftest prints 0.00 for it."""
    record = replace(
        RECORD, tool="ib_write_bw", latency=None, bandwidth=Bandwidth(2**20, 9, None, 3e11, 4e5)
    )

    with pytest.raises(MissingValueError, match="did not measure peak"):
        _ = pair(record).peak


def test_a_port_says_what_it_knows_and_where_the_pcie_link_is_narrow() -> None:
    """The slot above the NIC is shown beside the NIC's own link."""
    port = PortResult("a:r0", PORT, Ledger())

    assert port.pcie_width == 8
    assert port.pcie_width.detail == (
        "0000:1a:00.0 32 GT/s x8, can do 32 GT/s x16",
        "0000:19:01.0 32 GT/s x8, can do 32 GT/s x8",
    )


@pytest.mark.parametrize("name", ["speed", "active_mtu", "firmware", "psid"])
def test_what_a_port_does_not_say_is_an_error(name: str) -> None:
    """Unreadable is not a value."""
    with pytest.raises(MissingValueError, match="does not say"):
        getattr(PortResult("a:r0", PORT, Ledger()), name)


def test_a_port_that_is_not_there_is_a_value_and_all_else_of_it_an_error() -> None:
    """What the node has instead is told."""
    absent = MeasurementError("a:r0", PORT_NOT_FOUND, "expected mlx5_0 at 1a, found 3a")

    assert PortResult("a:r0", PORT, Ledger()).presence == "present"
    gone = PortResult("a:r0", absent, Ledger())
    assert gone.presence == "absent"
    assert gone.presence.detail == ("expected mlx5_0 at 1a, found 3a",)
    with pytest.raises(MeasurementError, match="found 3a"):
        _ = gone.state


SPREAD = replace(PORT, numa_node=1, local_cpus="32-63,96-127", irq_cpus=(32, 33, 96))


@pytest.mark.parametrize(
    ("port", "numa", "cpus", "remote"),
    [
        (SPREAD, 1, 3, 0),
        (replace(SPREAD, irq_cpus=(32,)), 1, 1, 0),
        (replace(SPREAD, irq_cpus=(0, 1, 33)), 1, 3, 2),
        (replace(SPREAD, numa_node=-1, local_cpus="0-127"), -1, 3, 0),
    ],
)
def test_where_a_card_is_and_who_serves_it(
    port: RdmaPort, numa: int, cpus: int, remote: int
) -> None:
    """Interrupts on the cores of another socket cross the link between sockets."""
    result = PortResult("a:r0", port, Ledger())

    assert (result.numa_node.number, result.irq_cpus.number) == (numa, cpus)
    assert result.remote_irq_cpus.number == remote


@pytest.mark.parametrize(
    ("port", "name"),
    [
        (PORT, "numa_node"),
        (PORT, "irq_cpus"),
        (PORT, "remote_irq_cpus"),
        (replace(SPREAD, local_cpus=None), "remote_irq_cpus"),
        (replace(SPREAD, local_cpus="none of them"), "remote_irq_cpus"),
    ],
)
def test_interrupts_that_are_not_shown_are_an_error(port: RdmaPort, name: str) -> None:
    """None is shown is not none is remote."""
    with pytest.raises(MissingValueError, match="see not_available"):
        getattr(PortResult("a:r0", port, Ledger()), name)


class Skipped(Exception):
    pass


def skip_all(metric: str) -> None:
    raise Skipped(metric)


@pytest.mark.parametrize("name", ["p99", "mtu", "class_share"])
def test_what_the_profile_leaves_out_is_skipped_before_it_is_missed(name: str) -> None:
    """`result` is read before `limits`: hardware that cannot show a metric must not be an error."""
    with pytest.raises(Skipped):
        getattr(PairResult(RECORD, Ledger(), skip_all), name)
    with pytest.raises(Skipped, match=r"discards\.growth"):
        PairResult(RECORD, Ledger(), skip_all).growth("discards")
    with pytest.raises(Skipped, match=r"link\.speed"):
        _ = PortResult("a:r0", PORT, Ledger(), skip_all).speed


@pytest.mark.parametrize(("routing", "number"), [("ecmp", 9), ("adaptive", 2), ("spray", 2)])
def test_what_overtaking_lets_grow_is_left_out_where_packets_overtake(
    routing: str, number: int
) -> None:
    record = replace(RECORD, growth=RESENT)

    assert PairResult(record, Ledger(), routing=routing).growth("retransmissions").number == number


def test_the_sum_of_both_directions_is_no_average_of_one() -> None:
    row = Bandwidth(2**20, 9, None, 7.8e11, 4e5)
    one = replace(RECORD, tool="ib_write_bw", latency=None, bandwidth=row, settings={})
    both = replace(one, settings={"directions": 2})

    assert PairResult(both, Ledger()).bidirectional.number == 7.8e11
    for record, name in ((both, "average"), (both, "message_rate"), (one, "bidirectional")):
        with pytest.raises(MissingValueError, match=f"which has no {name}"):
            getattr(PairResult(record, Ledger()), name)
