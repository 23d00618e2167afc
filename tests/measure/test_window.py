"""Windows: the port's own counters must have moved by what was sent, where it was sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure import window
from pytest_fabric.measure.settings import Settings
from pytest_fabric.results import Bandwidth, Growth, Latency, Pair, Port, Traffic
from pytest_fabric.transport import Outcome
from tests.ports import PORT

PAIR = Pair(Port("a", "r0"), Port("b", "r0"))
WRITE = Settings("ib_write_bw", 2**20, None, 5, 4, 106, None, 3)
READ = replace(WRITE, tool="ib_read_bw")
#: 5 s sampled of about 7 s at 380 Gb/s: 190,000 messages of 1 MiB were counted.
ROW = Bandwidth(2**20, 190_000, None, 380e9, 45_000.0)
COUNTED = 190_000 * 2**20
SENT = COUNTED * 6 // 5
DRIVERS = {"a:r0": "mlx5_core", "b:r0": "mlx5_core"}


def moved(port: str, direction: str, delta: int, priority: int | None = None) -> Growth:
    name = f"{direction}_prio{priority}_bytes" if priority is not None else f"port_{direction}_data"
    return Growth(port, name, "bytes", delta, direction, priority)


def grown(sent: int = SENT, received: int = SENT, on: int = 3) -> window.Window:
    growth = [moved("a:r0", "tx", sent), moved("b:r0", "rx", received)]
    growth += [moved("a:r0", "tx", sent if p == on else 0, p) for p in range(8)]
    growth += [moved("b:r0", "rx", received if p == on else 0, p) for p in range(8)]
    return window.Window(tuple(growth), {}, 8.0)


def told(
    seen: window.Window,
    settings: Settings = WRITE,
    line: float | None = 400e9,
    row: Bandwidth | Latency = ROW,
    drivers: dict[str, str] = DRIVERS,
) -> tuple[str, ...]:
    rest = (settings, PAIR, row, 4096, seen)
    return window.doubts(*rest, window.traffic(*rest), drivers, line)


def doubts(seen: window.Window, settings: Settings = WRITE, line: float | None = 400e9) -> str:
    return "; ".join(told(seen, settings, line))


def test_traffic_where_it_was_sent_raises_no_doubt() -> None:
    """Both ends moved what the tool counted and a little more, on the declared priority."""
    assert doubts(grown()) == ""
    assert window.traffic(WRITE, PAIR, ROW, 4096, grown()) == Traffic(
        COUNTED, SENT, SENT, 1.0, "a:r0"
    )


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (grown(sent=COUNTED // 2), "a:r0 sent"),
        (grown(received=0), "b:r0 received"),
    ],
)
def test_less_than_was_sent_means_it_went_elsewhere(seen: window.Window, message: str) -> None:
    """Traffic over another port would prove nothing about this one."""
    assert message in doubts(seen)
    assert "the traffic went elsewhere" in doubts(seen)


def test_much_more_than_was_sent_is_foreign() -> None:
    """Another job's traffic on the port spoils the figure."""
    assert "foreign traffic" in doubts(grown(sent=3 * SENT))
    assert doubts(grown(sent=3 * SENT), line=None) == ""


def test_another_priority_is_another_class() -> None:
    """A figure of the best-effort queue says nothing about the lossless one."""
    seen = grown(on=0)

    assert window.traffic(WRITE, PAIR, ROW, 4096, seen).class_share == 0
    assert "a:r0 moved only 0% of the payload on the declared priority 3" in doubts(seen)


def test_one_end_that_can_tell_is_enough_for_a_doubt() -> None:
    """The share is judged with both ends only; that it was missed shows at one."""
    whole = grown(on=0)
    ours = tuple(g for g in whole.growth if g.port == "a:r0" or g.priority is None)
    seen = window.Window(ours, {}, 8.0)

    assert window.traffic(WRITE, PAIR, ROW, 4096, seen).class_share is None
    assert "a:r0 moved only 0% of the payload on the declared priority 3" in doubts(seen)


def test_the_end_that_moved_least_on_the_class_is_named() -> None:
    """A receiver that maps it elsewhere is told apart from a sender that does."""
    right, wrong = grown(on=3), grown(on=0)
    mixed = window.Window(
        tuple(g for g in right.growth if g.port == "a:r0")
        + tuple(g for g in wrong.growth if g.port == "b:r0"),
        {},
        8.0,
    )

    assert window.traffic(WRITE, PAIR, ROW, 4096, mixed).class_port == "b:r0"


def test_a_read_is_sent_by_the_server() -> None:
    """The payload of a read comes from the other end."""
    growth = (moved("b:r0", "tx", SENT), moved("a:r0", "rx", SENT))

    assert doubts(window.Window(growth, {}, 8.0), READ) == ""
    assert "went elsewhere" in doubts(grown(received=0), WRITE)


def test_ports_without_any_counter_prove_nothing() -> None:
    """An absent counter is not zero, and not enough either."""
    assert "no counter" in doubts(window.Window((), {}, 8.0))


def test_problems_of_both_ends_are_told_once_each() -> None:
    """The second end must not hide what is wrong with the first."""
    ends = [{"pause": "a:r0: off", "bytes": "same"}, {"pause": "b:r0: off", "bytes": "same"}]

    assert window.joined(ends) == {"pause": "a:r0: off; b:r0: off", "bytes": "same"}


def test_soft_roce_is_judged_by_packets_and_may_resend() -> None:
    """rxe counts packets, those sent again too: only too few of them are telling."""
    packets = COUNTED // 4096
    growth = (
        Growth("a:r0", "sent_pkts", "packets", 3 * packets, "tx"),
        Growth("b:r0", "rcvd_pkts", "packets", packets, "rx"),
    )
    rxe = dict.fromkeys(DRIVERS, "rdma_rxe")
    seen = window.Window(growth, {}, 8.0)
    few = window.Window(tuple(replace(g, delta=g.delta // 9) for g in growth), {}, 8.0)

    assert told(seen, drivers=rxe) == ()
    assert told(few, drivers=rxe)


def test_a_latency_run_tolerates_its_own_acknowledgements_and_no_bulk() -> None:
    """20,000 messages of 4 B make some megabytes of packets; hundreds are somebody else's."""
    settings = Settings("ib_write_lat", 4, 20_000, None, None, 106, None, 3)
    row = Latency(4, 20_000, 1e-6, 9e-6, 2e-6, 2e-6, 3e-6, 9e-6)

    def check(sent: int) -> tuple[str, ...]:
        return told(grown(sent, sent), settings, row=row)

    assert check(20_000 * 2 * 82) == ()
    assert any("foreign" in text for text in check(500_000_000))


def test_a_class_lost_half_way_through_shows() -> None:
    """Under -D the tool counts the middle of the run: the share is held against all that moved."""
    half = tuple(
        moved(port, way, SENT // 2 if p in (0, 3) else 0, p)
        for port, way in (("a:r0", "tx"), ("b:r0", "rx"))
        for p in range(8)
    )
    whole = (moved("a:r0", "tx", SENT), moved("b:r0", "rx", SENT))
    seen = window.Window((*half, *whole), {}, 8.0)

    assert window.traffic(WRITE, PAIR, ROW, 4096, seen).class_share == pytest.approx(0.5, abs=0.01)
    assert "moved only 50%" in doubts(seen)


@pytest.mark.parametrize("first", ["", "/proc/uptime:soon 1\n", "/proc/uptime:\n", "99.1 2.0\n"])
def test_counters_without_the_time_at_which_they_were_read_are_an_error(first: str) -> None:
    """A window whose length nobody knows has no rate that could be foreign."""
    counters = "/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data:7\n"
    said = {"sysfs": Outcome("exit", 0, first + counters, "", False, 0.1)}

    with pytest.raises(MeasurementError, match="expected seconds in /proc/uptime"):
        window.parsed(said, Port("a", "r0"), PORT)
