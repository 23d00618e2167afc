"""Cards of other makers: their names, what their counters say, and how old it is."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_fabric.counters import growth, meanings, missing, refresh_s, require, snapshot
from pytest_fabric.counters.drivers import DRIVERS
from pytest_fabric.errors import ConfigError
from pytest_fabric.lab import build, drivers, gids, sysfs
from pytest_fabric.lab.filesystem import Directory, View
from pytest_fabric.lab.history import PACKETS_PER_FLAP
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.perftest import text
from pytest_fabric.lab.perftest.options import parse
from pytest_fabric.lab.traffic import Tally, Traffic
from pytest_fabric.measure import window
from pytest_fabric.metrics import MEANINGS
from pytest_fabric.results import Growth, Snapshot
from pytest_fabric.tools import allowed
from tests.ports import PORT

from . import test_traffic
from .clusters import INFINIBAND, ROCE, cluster, nodes, port, run
from .test_traffic import Watch

DATA = Path(__file__).parents[1] / "data" / "counters"

VENDORS = ROCE.replace("lab: {", 'lab: {adapters: {gpu001: thor2, "gpu[002-003]": e810}, ')
THOR2, E810, CX7 = "gpu001", "gpu002", "gpu004"
DRIVER = {THOR2: "bnxt_en", E810: "ice", CX7: "mlx5_core"}


def card(node: str, *fault: str) -> Port:
    return port(VENDORS, f"{node}:rail0", *fault)


def shot(one: Port, tally: Tally) -> Snapshot:
    """Return what the parser makes of the port's counters."""
    shape = drivers.of(one)
    base = f"/sys/class/infiniband/{one.device}/ports/1"
    files = "".join(
        f"{base}/{place}/{name}:{value}\n"
        for place, values in (
            ("counters", shape.pma(one, tally)),
            ("hw_counters", shape.hardware(one, tally)),
        )
        for name, value in values.items()
    )
    lines = "".join(f"     {k}: {v}\n" for k, v in shape.ethernet(one, tally).items())
    text = f"NIC statistics:\n{lines}"
    return snapshot(str(one.id), one.adapter.driver, files, text, "Ethernet")


def grown(one: Port, tally: Tally) -> list[Growth]:
    found, problems = growth(shot(one, Tally()), shot(one, tally))
    assert problems == {}
    return [each for each in found if each.delta]


@pytest.mark.parametrize(
    ("node", "device", "uevent", "words", "mac"),
    [
        (THOR2, "bnxt_re0", ("bnxt_en", "14E4:1760"), "Broadcom NetXtreme-C/E RoCE", "5c:6f:69"),
        (E810, "rocep26s0", ("ice", "8086:1592"), "IRDMA", "b4:96:91"),
        (CX7, "mlx5_0", ("mlx5_core", "15B3:1021"), "MT4129", "0c:42:a1"),
    ],
)
def test_a_card_is_called_as_its_drivers_call_it(
    node: str, device: str, uevent: tuple[str, str], words: str, mac: str
) -> None:
    one = card(node)
    card_path = f"/sys/class/infiniband/{device}"
    text = run(f"cat {card_path}/device/uevent", VENDORS, node).stdout

    assert one.device == device
    assert [f"DRIVER={uevent[0]}" in text, f"PCI_ID={uevent[1]}" in text] == [True, True]
    assert words in run(f"cat {card_path}/hca_type", VENDORS, node).stdout
    assert gids.mac(one.guid).startswith(mac)


def test_the_guid_of_a_mac_address_flips_one_bit_of_it() -> None:
    """EUI-64, as in the kernel's `addrconf_addr_eui48`."""
    one = card(THOR2)

    assert gids.guid_text(one.guid) == "5e6f:69ff:fe00:0000"
    assert str(one.gids[0].address) == "fe80::5e6f:69ff:fe00:0"


def test_irdma_speaks_version_2_only() -> None:
    """So that the index of an address is not 3 everywhere."""
    assert [(gid.index, gid.kind) for gid in card(E810).gids] == [(0, "RoCE v2"), (1, "RoCE v2")]
    assert [gid.index for gid in card(THOR2).gids if gid.kind == "RoCE v2"] == [1, 3]


@pytest.mark.parametrize("node", [THOR2, E810])
def test_drivers_without_a_performance_agent_have_no_such_files(node: str) -> None:
    one = card(node)
    base = f"/sys/class/infiniband/{one.device}"

    assert run(f"cat {base}/ports/1/counters/port_xmit_data", VENDORS, node).status == 1
    assert run(f"cat {base}/ports/1/hw_counters/lifespan", VENDORS, node).stdout == "10\n"
    assert run(f"cat {base}/board_id", VENDORS, node).status == 1


def test_devices_of_one_node_get_different_names() -> None:
    """By number for one driver, by slot for the other, and by number where a name is taken."""
    text = VENDORS.replace('pci: "0000:1a:00.0"', "device: rocep58s0")

    assert [one.device for one in nodes(VENDORS)[THOR2].ports] == ["bnxt_re0", "bnxt_re1"]
    assert [one.device for one in nodes(VENDORS)[E810].ports] == ["rocep26s0", "rocep58s0"]
    assert [one.device for one in nodes(text)[E810].ports] == ["rocep58s0", "irdma0"]


@pytest.mark.parametrize(("node", "inline"), [(THOR2, 96), (E810, 101), (CX7, 220)])
def test_perftest_knows_the_cards_apart(node: str, inline: int) -> None:
    """By what a card takes inline, and by whether its library has the newer way to post."""
    one = card(node)
    options = parse(("ib_write_lat", "-d", one.device, "-n", "1000"), (6, 24))

    told = text.header(options, one, (6, 24), 4096, one.gids[-1])

    assert f"Device         : {one.device}\n" in told
    assert f"Max inline data : {inline}[B]" in told
    assert (" ibv_wr* API     : ON" in told) is (node == CX7)
    assert f"GID index       : {one.gids[-1].index}" in told


def test_lspci_names_the_card_and_its_driver() -> None:
    told = run("lspci -vvv -D -s 0000:1a:00.0", VENDORS, THOR2).stdout

    assert "BCM57608" in told
    assert "Kernel driver in use: bnxt_en" in told
    assert "Mellanox" not in told


def test_tools_name_the_card_and_its_maker() -> None:
    told = run("ibv_devinfo -d rocep26s0", VENDORS, E810).stdout
    pairs = run("rdma resource show qp", VENDORS, E810).stdout

    assert re.search(r"vendor_id:\s+0x8086\n\s+vendor_part_id:\s+5522\n", told)
    assert "board_id" not in told
    assert "mlx5" not in pairs
    assert "GSI" in pairs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            VENDORS.replace("thor2", "thor9"),
            "lab.adapters: expected one of thor2, e810, efa, bluefield3",
        ),
        (INFINIBAND.replace("lab: {", "lab: {adapters: {ib1: thor2}, "), "no card of InfiniBand"),
    ],
)
def test_a_card_that_cannot_be_is_said(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build.nodes(cluster(text))


@pytest.mark.parametrize("node", DRIVER)
def test_every_judged_meaning_of_the_driver_is_there(node: str) -> None:
    one = card(node)
    told = set(MEANINGS) - set(missing(DRIVER[node], MEANINGS, "Ethernet"))

    assert told
    for meaning in told:
        assert require(shot(one, Tally()), meaning)


@pytest.mark.parametrize(("node", "file"), [(THOR2, "bnxt_en.txt"), (E810, "ice.txt")])
def test_statistics_have_the_names_of_the_driver_in_its_order(node: str, file: str) -> None:
    listed = (DATA / file).read_text().partition("NIC statistics:\n")[2]
    real = [line.strip().rpartition(": ")[0] for line in listed.splitlines()]
    ours = list(drivers.of(card(node)).ethernet(card(node), Tally()))

    known = set(ours)
    assert [name for name in real if name not in known] == []
    shared = set(real)
    assert [name for name in ours if name in shared] == real


def moved() -> Tally:
    tally = Tally(write_requests=7, read_requests=5)
    tally.sent_bytes[3], tally.sent_packets[3] = 4000, 10
    tally.received_bytes[3], tally.received_packets[3] = 8000, 20
    return tally


@pytest.mark.parametrize(
    ("node", "priorities"), [(THOR2, {None, 3}), (E810, {None}), (CX7, {None, 3})]
)
def test_traffic_moves_bytes_and_packets_and_nothing_else(
    node: str, priorities: set[int | None]
) -> None:
    found = grown(card(node), moved())

    assert {each.meaning for each in found} == {"bytes", "packets"}
    assert {each.priority for each in found} == priorities
    assert {e.delta for e in found if e.meaning == "bytes" and e.direction == "tx"} == {4000}
    assert {e.delta for e in found if e.meaning == "packets" and e.direction == "rx"} == {20}


@pytest.mark.parametrize("node", DRIVER)
def test_pause_grows_on_its_priority(node: str) -> None:
    tally = Tally()
    tally.pauses[3] = 1000

    found = {each for each in grown(card(node), tally) if each.meaning == "pause"}

    assert {(each.delta, each.priority, each.direction) for each in found} == {(1000, 3, "rx")}


@pytest.mark.parametrize(
    ("node", "receiver", "sender"),
    [
        (CX7, {"discards", "out_of_sequence"}, {"out_of_sequence", "retransmissions"}),
        (THOR2, {"discards", "out_of_sequence"}, {"out_of_sequence", "retransmissions"}),
        (E810, {"discards"}, {"retransmissions"}),
    ],
)
def test_loss_shows_at_both_ends_as_far_as_the_driver_can_tell(
    node: str, receiver: set[str], sender: set[str]
) -> None:
    one = card(node)

    assert {e.meaning for e in grown(one, Tally(discards=40, gaps=40))} == receiver
    assert {e.meaning for e in grown(one, Tally(resent=40, timeouts=2))} == sender


@pytest.mark.parametrize("node", DRIVER)
def test_a_storm_makes_the_port_send_pause(node: str) -> None:
    tally = Tally()
    tally.received_bytes[3] = 10**10

    found = grown(card(node, f"pause_storm@{node}:rail0"), tally)

    assert [e for e in found if (e.meaning, e.direction, e.priority) == ("pause", "tx", 3)]


@pytest.mark.parametrize(("node", "meaning"), [(THOR2, "link_downed"), (E810, "link_faults")])
def test_a_link_that_flaps_goes_down_under_load(node: str, meaning: str) -> None:
    """ice counts the fault only."""
    tally = Tally()
    tally.received_packets[3] = 10 * PACKETS_PER_FLAP

    found = grown(card(node, f"link_flap@{node}:rail0"), tally)

    assert [e.delta for e in found if e.meaning == meaning] == [10]


@pytest.mark.parametrize("node", [THOR2, E810])
def test_the_counters_of_pause_can_be_missing_and_nothing_else(node: str) -> None:
    whole = shot(card(node), Tally())
    torn = shot(card(node, f"counter_missing@{node}:rail0"), Tally())
    told = meanings(DRIVER[node], "Ethernet") & set(MEANINGS)

    assert whole.names - torn.names
    for meaning in told - {"pause"}:
        assert require(torn, meaning)
    with pytest.raises(Exception, match="says pause"):
        require(torn, "pause")


def test_registers_of_48_bits_start_again_at_zero() -> None:
    one = card(THOR2)
    before = shot(one, Tally())
    tally = Tally()
    tally.sent_bytes[3] = 2**48 - before.values["tx_bytes"] + 5

    assert shot(one, tally).values["tx_bytes"] == 5
    assert tally.sent_bytes[3] not in {each.delta for each in grown(one, Tally())}


@pytest.mark.parametrize(("node", "every_s"), [(THOR2, 1.0), (E810, 2.0), (CX7, 0.0)])
def test_what_is_read_is_as_old_as_the_last_refresh(node: str, every_s: float) -> None:
    """Many times between two refreshes show one value, and that of the refresh itself."""
    watch = Watch()
    traffic = Traffic(watch, watch)
    one, other = card(node), port(ROCE, "gpu004:rail1")
    traffic.start(test_traffic.flow(one, other, real_s=10.0))
    seen = []
    for _ in range(80):
        watch.now += 0.1
        seen.append(traffic.written(one).sent_bytes[3])

    steps = [after - before for before, after in pairwise(seen) if after > before]
    assert len(steps) in ({79} if not every_s else {int(7.9 / every_s), int(7.9 / every_s) + 1})
    # 1 GB/s and its headers; the first step may be of a flow that began in the middle of it.
    assert steps[1:] == [pytest.approx((every_s or 0.1) * 1.015e9, rel=0.02)] * (len(steps) - 1)


@pytest.mark.parametrize("node", [THOR2, E810])
def test_a_reading_within_the_refresh_shows_the_old_value_and_one_after_it_all(node: str) -> None:
    """Whatever its phase, the time that the catalogue asks for suffices, and less does not."""
    early = 0
    for seed in range(40):
        watch = Watch()
        traffic = Traffic(watch, watch, seed=seed)
        one, other = card(node), port(ROCE, "gpu004:rail1")
        before = traffic.written(one).sent_bytes[3]
        test_traffic.run(traffic, watch, test_traffic.flow(one, other, real_s=1.0))
        whole = traffic.tally(one).sent_bytes[3]
        watch.now += 0.3
        early += before <= traffic.written(one).sent_bytes[3] < whole
        watch.now += refresh_s(DRIVER[node]) - 0.3

        assert traffic.written(one).sent_bytes[3] == whole
    assert 20 <= early < 40  # 0.3 of 1 or 2 seconds are sometimes enough


def test_ports_refresh_at_different_times_and_in_each_lab_at_the_same() -> None:
    def steps(seed: int) -> list[float]:
        watch = Watch()
        traffic = Traffic(watch, watch, seed=seed)
        ends = [card(THOR2), port(VENDORS, f"{THOR2}:rail1")]
        found = []
        for one in ends:
            traffic.start(test_traffic.flow(one, port(ROCE, "gpu004:rail1"), real_s=100.0))
        watch.now = 1.5
        last = [traffic.written(one).sent_bytes[3] for one in ends]
        for _ in range(100):
            watch.now += 0.01
            now = [traffic.written(one).sent_bytes[3] for one in ends]
            found += [round(watch.now, 2) for a, b in zip(last, now, strict=True) if a != b]
            last = now
        return found

    assert steps(1) == steps(1)
    assert len(set(steps(1))) == 2
    assert steps(1) != steps(2)


def test_foreign_traffic_shows_with_the_refresh_too() -> None:
    watch = Watch()
    traffic = Traffic(watch, watch)
    one = card(THOR2, f"foreign_traffic@{THOR2}:rail0")
    seen = []
    for _ in range(30):
        watch.now += 0.1
        seen.append(sum(traffic.written(one).received_bytes))

    assert len(set(seen)) in (3, 4)
    assert seen == sorted(seen)


def test_the_kernel_keeps_what_it_has_read_of_hw_counters_for_its_lifespan() -> None:
    watch, tally = Watch(), Tally()
    node = nodes()[CX7]
    files = sysfs.root(node, lambda port: tally, watch)
    path = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/rx_write_requests"
    seen = []
    for _ in range(4):
        seen.append(int(sysfs_read(files, path)))
        tally.write_requests += 1
        watch.now += 0.005

    assert [value - seen[0] for value in seen] == [0, 0, 0, 3]


def sysfs_read(files: Directory, path: str) -> str:
    return View(files).read(path)


@pytest.mark.parametrize("driver", [name for driver in DRIVERS for name in driver.names])
def test_the_end_of_every_drivers_window_may_be_waited_for(driver: str) -> None:
    one = replace(PORT, device="a0", pci=None, driver=driver, netdevs=("a",))
    for words in window.after(one).values():
        allowed.require([str(word) for word in words])
