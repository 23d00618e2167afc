"""Too much for a link: marked where it can be told, paused where not, dropped where neither."""

from __future__ import annotations

import pytest

from pytest_fabric.lab import drivers
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.flow import Flow
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.traffic import Traffic

from .clusters import INFINIBAND, ROCE, nodes, port
from .controller import Controller
from .perftest_pairs import row
from .test_traffic import FULL, Watch, flow, run

IB = INFINIBAND.replace("ib[1-2]", "ib[1-4]")

#: Counters of a mlx5 port, by what they tell.
MARKED, NOTICES, HEEDED = "np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled"
PAUSES, PAUSED, LOST = "rx_prio3_pause", "rx_prio3_pause_duration", "out_of_sequence"
RESENT, IGNORED = "packet_seq_err", "rp_cnp_ignored"
TOLD = {MARKED, NOTICES, HEEDED, PAUSES, PAUSED, LOST, RESENT, IGNORED}


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def traffic(watch: Watch) -> Traffic:
    return Traffic(watch)


def ports(*faults: str, text: str = ROCE) -> list[Port]:
    return [port(text, f"gpu00{number}:rail0", *faults) for number in (1, 2, 3, 4)]


def counters(traffic: Traffic, one: Port) -> dict[str, int]:
    shape, tally = drivers.of(one), traffic.tally(one)
    return {**shape.pma(one, tally), **shape.hardware(one, tally), **shape.ethernet(one, tally)}


def grown(traffic: Traffic, one: Port) -> dict[str, int]:
    """Return what has grown on a port of what congestion moves."""
    before = counters(Traffic(Watch()), one)
    after = counters(traffic, one)
    return {
        name: after[name] - before[name]
        for name in after
        if name in TOLD and after[name] != before[name]
    }


def incast(
    traffic: Traffic, watch: Watch, receiver: Port, *senders: Port, **how: object
) -> list[Flow]:
    """Let all send to one at once, at full rate."""
    flows = [flow(one, receiver, bps=FULL, hashes=(0, 1, 2, 3), **how) for one in senders]
    run(traffic, watch, *flows)
    return flows


def test_incast_on_a_sound_fabric_is_marked_and_neither_paused_nor_lost(
    traffic: Traffic, watch: Watch
) -> None:
    receiver, *senders = ports()

    flows = incast(traffic, watch, receiver, *senders)

    shares = [each.average_bps() / FULL for each in flows]
    assert 0.95 < sum(shares) <= 1
    assert shares == [pytest.approx(1 / 3, abs=0.02)] * 3
    seen = grown(traffic, receiver)
    assert set(seen) == {MARKED, NOTICES}
    assert seen[MARKED] >= seen[NOTICES] > 1000
    told = [grown(traffic, one) for one in senders]
    assert [set(one) for one in told] == [{HEEDED}] * 3
    assert sum(one[HEEDED] for one in told) == pytest.approx(seen[NOTICES], abs=3)


@pytest.mark.parametrize(
    ("fault", "receiver", "sender"),
    [
        ("ecn_np_off@gpu001:rail0", set(), {PAUSES, PAUSED}),
        ("ecn_rp_off@gpu002:rail0", {MARKED, NOTICES}, {IGNORED, PAUSES, PAUSED}),
        ("cnp_class@gpu001:rail0", {MARKED, NOTICES}, {HEEDED, PAUSES, PAUSED}),
        ("pfc_off@gpu002:rail0", {MARKED, NOTICES, LOST}, {HEEDED, RESENT}),
        ("pfc_other_priority@gpu002:rail0", {MARKED, NOTICES, LOST}, {HEEDED, RESENT}),
    ],
)
def test_what_is_off_is_made_up_for_by_what_is_behind_it(
    traffic: Traffic, watch: Watch, fault: str, receiver: set[str], sender: set[str]
) -> None:
    target, *senders = ports(fault)

    incast(traffic, watch, target, *senders)

    assert set(grown(traffic, target)) == receiver
    assert set(grown(traffic, senders[0])) == sender


def test_a_sender_that_does_not_slow_down_takes_the_bandwidth_of_those_that_do(
    traffic: Traffic, watch: Watch
) -> None:
    """But where nobody is told, all have the same."""
    receiver, *senders = ports("ecn_rp_off@gpu002:rail0")
    greedy, *others = incast(traffic, watch, receiver, *senders)

    assert [greedy.average_bps() / one.average_bps() for one in others] == [
        pytest.approx(4, rel=0.05)
    ] * 2

    deaf, *senders = ports("ecn_rp_off@gpu002:rail0", "ecn_np_off@gpu001:rail0")
    shares = [one.average_bps() / FULL for one in incast(Traffic(watch), watch, deaf, *senders)]
    assert shares == [pytest.approx(1 / 3, abs=0.02)] * 3


def test_senders_that_are_only_paused_are_paused_for_what_they_have_too_much(
    traffic: Traffic, watch: Watch
) -> None:
    target, *senders = ports("ecn_np_off@gpu001:rail0")

    incast(traffic, watch, target, *senders)

    for sender in senders:
        assert grown(traffic, sender)[PAUSED] == pytest.approx(10e6 * 2 / 3, rel=0.01)


def test_a_fabric_without_pfc_and_ecn_drops(traffic: Traffic, watch: Watch) -> None:
    text = ROCE.replace("lossless: [3], dscp: 26", "dscp: 26, ecn: false")
    target, *senders = ports(text=text)

    flows = incast(traffic, watch, target, *senders)

    assert set(grown(traffic, target)) == {LOST}
    assert [set(grown(traffic, one)) for one in senders] == [{RESENT}] * 3
    assert sum(each.average_bps() for each in flows) < 0.6 * FULL


def test_a_leaf_that_knows_no_class_drops_and_tells_nobody(traffic: Traffic, watch: Watch) -> None:
    target, *senders = ports("class_unknown_leaf@leaf-0")

    incast(traffic, watch, target, *senders)

    assert set(grown(traffic, target)) == {LOST}
    assert [set(grown(traffic, one)) for one in senders] == [{RESENT}] * 3


def test_best_effort_traffic_is_dropped_on_a_sound_fabric(traffic: Traffic, watch: Watch) -> None:
    target, *senders = ports()

    incast(traffic, watch, target, *senders, priority=0)

    assert set(grown(traffic, target)) == {LOST}


def test_on_infiniband_senders_wait_for_credits(traffic: Traffic, watch: Watch) -> None:
    target, *senders = (port(IB, f"ib{number}:rail0") for number in (1, 2, 3))

    incast(traffic, watch, target, *senders, priority=0, answers=0)

    waited = [counters(traffic, one)["port_xmit_wait"] for one in (target, *senders)]
    still = counters(Traffic(Watch()), target)["port_xmit_wait"]
    assert waited[0] == still
    assert min(waited[1:]) > still + 10**6


def test_those_who_share_nothing_stay_clean(traffic: Traffic, watch: Watch) -> None:
    """Also while others crowd a port, and where a sender crowds only itself."""
    one, two, three, four = ports("ecn_np_off@gpu003:rail0")
    other_rail = [port(ROCE, f"gpu00{number}:rail1") for number in (1, 2)]
    flows = [flow(*ends, bps=FULL) for ends in ((one, three), (two, three), (four, one))]
    beside = flow(*other_rail, bps=FULL)

    run(traffic, watch, *flows, beside)

    assert grown(traffic, one)  # it is paused as a sender
    for clean in (four, *other_rail):
        assert grown(traffic, clean) == {}
    assert beside.average_bps() == FULL


def test_a_port_that_sends_to_two_shares_its_own_line_and_nobody_is_told(
    traffic: Traffic, watch: Watch
) -> None:
    one, two, three, _ = ports()
    flows = flow(one, two, bps=FULL), flow(one, three, bps=FULL)

    run(traffic, watch, *flows)

    assert [each.average_bps() / FULL for each in flows] == [pytest.approx(0.5, abs=0.01)] * 2
    assert [grown(traffic, each) for each in (one, two, three)] == [{}] * 3


def test_a_pair_in_both_directions_is_free_of_marks(traffic: Traffic, watch: Watch) -> None:
    one, two, *_ = ports()
    flows = flow(one, two, bps=FULL), flow(two, one, bps=FULL)

    run(traffic, watch, *flows)

    assert [grown(traffic, each) for each in (one, two)] == [{}] * 2
    assert [each.average_bps() for each in flows] == [FULL] * 2


def test_what_one_has_too_little_for_goes_to_the_others(traffic: Traffic, watch: Watch) -> None:
    """Max-min: a sender that cannot send its share leaves the rest of it."""
    target, *senders = ports()
    small = flow(senders[0], target, bps=0.1 * FULL)
    large = [flow(one, target, bps=FULL) for one in senders[1:]]

    run(traffic, watch, small, *large)

    assert small.average_bps() == pytest.approx(0.1 * FULL)
    assert large[0].average_bps() == pytest.approx(0.45 * FULL, rel=0.03)


@pytest.mark.parametrize("adapter", ["thor2", "e810"])
def test_other_drivers_count_it_too(watch: Watch, adapter: str) -> None:
    text = ROCE.replace("lab: {", f'lab: {{adapters: {{"gpu[001-004]": {adapter}}}, ')
    uptime = Watch()
    traffic = Traffic(watch, uptime)
    target, *senders = ports(text=text)
    names = {
        "thor2": ("rx_ecn_marked_pkts", "tx_cnp_pkts", "rx_cnp_pkts"),
        "e810": ("RxECNMrkd", "cnpSent", "cnpHandled"),
    }[adapter]

    incast(traffic, watch, target, *senders)

    assert min(counters(traffic, target)[name] for name in names[:2]) > 1000
    assert counters(traffic, senders[0])[names[2]] > 1000


def test_incast_by_perftest() -> None:
    """Several clients at once, each with a server of its own on one port."""
    world = Fabric(tuple(nodes().values()), 1, 0.05)
    command = "ib_write_bw -d mlx5_0 -s 1M -q 4 -D 6 --tclass=106"
    receiver = world.nodes["gpu001"].ports[0]
    clients, servers = [], Controller(world, "gpu001")
    for number in range(3):
        servers.start(f"{command} -p {18515 + number}", port=18515 + number)
    for _ in range(3):
        assert servers.next().kind == "ready"
    for number in range(3):
        clients.append(Controller(world, f"gpu00{number + 2}"))
        clients[-1].start(f"{command} -p {18515 + number} {receiver.address}")

    rates = [row(client.end())[3] * 2**20 * 8 for client in clients]

    assert 0.9 * 400e9 * 0.98 < sum(rates) < 1.15 * 400e9  # they do not end at the same moment
    assert min(rates) > 0.25 * 400e9
    tally = world.traffic.tally(receiver)
    assert tally.marked > 0
    assert tally.notices > 0
    assert tally.gaps == 0


@pytest.mark.parametrize(
    ("faults", "priority", "least", "most"),
    [
        ((), 3, 1.5e-6, 8e-6),
        (("ecn_np_off@gpu001:rail0",), 3, 8e-6, 40e-6),
        ((), 5, 0, 0),  # another class has a queue of its own
    ],
)
def test_messages_wait_behind_those_who_crowd_a_port(
    traffic: Traffic, faults: tuple[str, ...], priority: int, least: float, most: float
) -> None:
    target, *senders = ports(*faults)
    small = flow(senders[2], target, bulk=False, bps=1e6, priority=priority)
    assert traffic.queued_s(small) == 0

    for sender in senders[:2]:
        traffic.start(flow(sender, target, bps=FULL))

    assert least <= traffic.queued_s(small) <= most


def test_messages_wait_less_where_there_is_room(traffic: Traffic) -> None:
    one, two, three, _ = ports()
    traffic.start(flow(one, two, bps=FULL / 2))

    assert 0 < traffic.queued_s(flow(three, two, bulk=False, bps=1e6)) < 0.1e-6
    assert traffic.queued_s(flow(two, three, bulk=False, bps=1e6)) == 0
