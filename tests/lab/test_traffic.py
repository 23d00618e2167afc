"""What flows is counted where it flows, once, and shared ports share."""

from __future__ import annotations

from random import Random

import pytest

from pytest_fabric.lab import physics
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.traffic import Flow, Traffic

from .clusters import INFINIBAND, ROCE, port

MIB = 2**20

#: Payload that fills a 400 Gb/s port at an MTU of 4096.
FULL = physics.goodput_bps(MIB, 4, port(), port(ROCE, "gpu002:rail0"), Random(1))


class Watch:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def flow(sender: Port, receiver: Port, **changes: object) -> Flow:
    values: dict[str, object] = {
        "verb": "write",
        "size": MIB,
        "bps": 8e9,
        "seconds": 10.0,
        "real_s": 1.0,
        "priority": 3,
        "answers": 3,
        "bulk": True,
    }
    return Flow(sender, receiver, **(values | changes))  # type: ignore[arg-type]


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def traffic(watch: Watch) -> Traffic:
    return Traffic(watch)


def run(traffic: Traffic, watch: Watch, *flows: Flow) -> None:
    for each in flows:
        traffic.start(each)
    watch.now += 1.0
    for each in flows:
        traffic.stop(each, complete=True)


def ports(*fault: str) -> list[Port]:
    return [port(ROCE, f"gpu00{number}:rail0", *fault) for number in (1, 2, 3)]


def test_payload_is_counted_with_its_headers_at_both_ends(traffic: Traffic, watch: Watch) -> None:
    one, other, idle = ports()

    run(traffic, watch, flow(one, other))

    payload = 9537 * MIB  # 10 s of 1 GB/s, in whole messages
    sent, received = traffic.tally(one), traffic.tally(other)
    assert payload < sent.sent_bytes[3] < 1.02 * payload
    assert sent.sent_bytes == received.received_bytes
    assert sent.sent_packets[3] == payload // 4096
    assert received.write_requests == 9537
    assert sum(traffic.tally(idle).received_bytes) == 0


def test_answers_go_back_on_the_receivers_priority(traffic: Traffic, watch: Watch) -> None:
    one, other, _ = ports()

    run(traffic, watch, flow(one, other, answers=5))

    assert traffic.tally(other).sent_packets[5] == 9537
    assert traffic.tally(one).received_packets[5] == 9537
    assert traffic.tally(other).sent_bytes[5] < 0.001 * traffic.tally(one).sent_bytes[3]


def test_a_read_is_requested_by_the_one_who_receives(traffic: Traffic, watch: Watch) -> None:
    one, other, _ = ports()

    run(traffic, watch, flow(one, other, verb="read"))

    assert traffic.tally(one).read_requests == 9537
    assert traffic.tally(one).write_requests == 0


def test_two_flows_into_one_port_share_it(traffic: Traffic, watch: Watch) -> None:
    one, other, third = ports()
    flows = flow(one, other, bps=FULL), flow(third, other, bps=FULL)

    run(traffic, watch, *flows)

    assert [each.average_bps() / FULL for each in flows] == [pytest.approx(0.49, abs=0.002)] * 2


def test_two_flows_that_fit_into_one_port_do_not_notice(traffic: Traffic, watch: Watch) -> None:
    one, other, third = ports()
    flows = flow(one, other), flow(third, other)

    run(traffic, watch, *flows)

    assert [each.average_bps() for each in flows] == [8e9] * 2


def test_what_was_alone_for_half_of_its_time_had_all_of_the_port_then(
    traffic: Traffic, watch: Watch
) -> None:
    one, other, third = ports()
    first, second = flow(one, other, bps=FULL), flow(third, other, bps=FULL)
    traffic.start(first)
    watch.now += 0.5
    traffic.start(second)
    watch.now += 0.5
    traffic.stop(first, complete=True)

    assert first.average_bps() / FULL == pytest.approx(0.75, abs=0.01)
    assert second.share == 1


def test_opposite_directions_and_other_ports_do_not_share(traffic: Traffic, watch: Watch) -> None:
    one, other, third = ports()
    flows = flow(one, other, bps=FULL), flow(other, third, bps=FULL)

    run(traffic, watch, *flows)

    assert [each.average_bps() for each in flows] == [FULL] * 2


def test_counters_advance_while_traffic_flows(traffic: Traffic, watch: Watch) -> None:
    one, other, _ = ports()
    traffic.start(flow(one, other))
    seen = []
    for _ in range(3):
        watch.now += 0.25
        seen.append(traffic.tally(one).sent_bytes[3])

    assert 0 < seen[0] < seen[1] < seen[2]


def test_a_flow_that_is_cut_off_counts_what_it_had_sent(traffic: Traffic, watch: Watch) -> None:
    one, other, _ = ports()
    cut = flow(one, other)
    traffic.start(cut)
    watch.now += 0.5
    traffic.stop(cut, complete=False)
    watch.now += 0.5

    assert cut.payload == pytest.approx(5e9)
    assert traffic.tally(one).sent_packets[3] == pytest.approx(5e9 / 4096, rel=0.001)


def test_only_a_paused_port_sees_pauses_and_only_with_traffic(
    traffic: Traffic, watch: Watch
) -> None:
    one, other, third = ports("pause_rx@gpu001:rail0")
    run(traffic, watch, flow(other, third))
    assert traffic.tally(one).pauses[3] == 0

    run(traffic, watch, flow(one, other))

    assert traffic.tally(one).pauses[3] > 100
    assert sum(traffic.tally(one).pauses) == traffic.tally(one).pauses[3]
    assert [sum(traffic.tally(each).pauses) for each in (other, third)] == [0, 0]


def test_infiniband_frames_are_counted_whole(traffic: Traffic, watch: Watch) -> None:
    one, other = (port(INFINIBAND, f"ib{number}:rail0") for number in (1, 2))

    run(traffic, watch, flow(one, other, priority=0, answers=0))

    tally = traffic.tally(one)
    assert tally.sent_bytes[0] == 9537 * MIB + tally.sent_packets[0] * 26


def test_foreign_traffic_flows_all_the_time_both_ways_and_takes_its_share(watch: Watch) -> None:
    uptime = Watch()
    traffic = Traffic(watch, uptime)
    ours = flow(*ports("foreign_traffic@gpu001:rail0")[:2], bps=FULL)
    busy, quiet = ours.sender, ours.receiver

    uptime.now += 1.0
    sent = sum(traffic.tally(busy).sent_bytes)
    run(traffic, watch, ours)

    assert sent == pytest.approx(0.25 * 400e9 / 8, rel=0.01)
    assert traffic.tally(busy).sent_bytes[3] - sent == traffic.tally(quiet).received_bytes[3]
    assert sum(traffic.tally(busy).received_bytes) > sent
    assert ours.average_bps() == pytest.approx(0.75 * FULL, rel=0.001)
