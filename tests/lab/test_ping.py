"""ping of the lab prints what iputils prints: our parser reads what the model says."""

from __future__ import annotations

import pytest

from pytest_fabric.lab import netdevs
from pytest_fabric.lab.commands import have
from pytest_fabric.tools import ping

from .clusters import ROCE, fabric
from .controller import Controller, Frame
from .perftest_pairs import Pair

RAIL = "-I enp26s0np0 -I 10.1.0.1"


def told(frame: Frame) -> ping.Ping:
    return ping.parse(frame.stdout + frame.stderr)


def sent(command: str, *faults: str, deadline: int = 60) -> Frame:
    return Controller(fabric(ROCE, *faults), "gpu001").run(command, deadline=deadline)


def test_ping_can_be_found() -> None:
    assert have.PATHS["ping"] == "/usr/bin/ping"


def test_a_sound_path_loses_nothing() -> None:
    """The first round trip holds the look-up of the neighbour."""
    frame = sent(f"ping -n -c 200 -i 0.002 -s 56 -W 2 {RAIL} 10.1.0.2")

    assert frame.status == "0"
    assert frame.stdout.startswith(
        "PING 10.1.0.2 (10.1.0.2) from 10.1.0.1 enp26s0np0: 56(84) bytes of data.\n"
        "64 bytes from 10.1.0.2: icmp_seq=1 ttl=64 time=0.2"
    )
    found = told(frame)
    assert (found.transmitted, found.received, found.errors, found.lost_seqs) == (200, 200, 0, ())
    assert found.reply_ms[0] == found.rtt_max_ms
    assert all(ms is not None and 0.02 < ms < 0.2 for ms in found.reply_ms[1:])


@pytest.mark.parametrize("place", ["gpu001:rail0", "gpu002:rail0"])
def test_a_share_is_lost(place: str) -> None:
    found = told(sent(f"ping -n -c 3000 -i 0.002 {RAIL} 10.1.0.2", f"ping_loss@{place}"))

    assert found.loss_percent is not None
    assert 0.5 < found.loss_percent < 1.6
    assert found.lost_seqs is not None
    assert len(found.lost_seqs) == 3000 - found.received


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("-s 56", "ping_blocked@gpu002:rail0"),
        ("-s 56", "ping_blocked@gpu001:rail0"),
        ("-s 8972 -M do", "path_mtu@gpu002:rail0"),
        ("-s 8972 -M do", "mtu_low@gpu002:rail0"),
        ("-s 1473 -M do", "path_mtu@gpu001:rail0"),
    ],
)
def test_nothing_comes_back(command: str, fault: str) -> None:
    frame = sent(f"ping -n -c 3 -i 0.002 {command} -W 2 {RAIL} 10.1.0.2", fault)

    found = told(frame)
    assert (frame.status, found.transmitted, found.received, found.errors) == ("1", 3, 0, 0)


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("-s 1472 -M do", "path_mtu@gpu002:rail0"),
        ("-s 8972", "path_mtu@gpu002:rail0"),
        ("-s 8972 -M do", "rdma_blocked@gpu002:rail0"),
        ("-s 8972 -M do", "ping_blocked@gpu002:rail1"),
    ],
)
def test_what_fits_or_may_be_split_passes(command: str, fault: str) -> None:
    assert told(sent(f"ping -n -c 3 -i 0.002 {command} {RAIL} 10.1.0.2", fault)).received == 3


def test_a_late_answer_is_late() -> None:
    found = told(sent(f"ping -n -c 9 -i 0.002 {RAIL} 10.1.0.2", "slow_reply@gpu002:rail0"))

    assert found.rtt_min_ms is not None
    assert 5 < found.rtt_min_ms < 6


def test_a_packet_above_the_own_mtu_is_not_sent() -> None:
    frame = sent(f"ping -n -c 2 -i 0.002 -s 8972 -M do {RAIL} 10.1.0.2", "mtu_low@gpu001:rail0")

    assert frame.stderr == "ping: local error: message too long, mtu=1500\n" * 2
    found = told(frame)
    assert (frame.status, found.errors, found.too_long, found.mtu_bytes) == ("1", 2, True, 1500)


def test_an_address_that_nobody_has_is_unreachable() -> None:
    found = told(sent(f"ping -n -c 2 -i 0.002 {RAIL} 10.1.0.99"))

    assert (found.received, found.errors) == (0, 2)
    assert found.reasons == ("Destination Host Unreachable",)


@pytest.mark.parametrize(
    ("command", "stderr"),
    [
        ("ping -n -c 2 -I ens9 10.1.0.2", "ping: unknown iface: ens9\n"),
        ("ping -n -c 2 -I 10.9.0.1 10.1.0.2", "ping: bind: Cannot assign requested address\n"),
        ("ping -n -c 2 nobody", "ping: nobody: Name or service not known\n"),
        ("ping -n -c x 10.1.0.2", "ping: invalid argument\n"),
        ("ping -f 10.1.0.2", "ping: invalid option -- 'f'\n"),
        ("ping -n", "ping: usage error: Destination address required\n"),
    ],
)
def test_a_refusal(command: str, stderr: str) -> None:
    frame = sent(command)

    assert (frame.status, frame.stderr) == ("2", stderr)


def test_users_may_not_flood() -> None:
    frame = sent(f"ping -n -c 2 -i 0.001 {RAIL} 10.1.0.2")

    assert frame.status == "2"
    assert "must be >= 2 ms" in frame.stderr


def test_rdma_is_lost_on_its_own() -> None:
    """Small messages pass a small MTU, and nothing passes an access list."""

    def client(size: int, fault: str) -> Frame:
        pair = Pair(fabric(ROCE, fault))
        pair.serve(f"ib_write_lat -s {size} -n 100")
        pair.ready()
        return pair.client.run(f"ib_write_lat -s {size} -n 100 {pair.address}")

    small, large = (client(size, "path_mtu@gpu002:rail0") for size in (2, 4096))
    blocked = client(2, "rdma_blocked@gpu001:rail0")

    assert [end.status for end in (small, large, blocked)] == ["0", "1", "1"]
    assert all("Failed status 12" in end.stderr + end.stdout for end in (large, blocked))


def test_a_bond_is_pinged_by_its_own_name() -> None:
    """The GID table of a bond names the bond, and each of its members is a netdev too."""
    world = fabric(ROCE.replace('pci: "0000:1a:00.0"', "netdevs: [ens1f0, ens1f1]"))
    port = world.nodes["gpu001"].ports[0]
    assert port.netdevs == ("ens1f0", "ens1f1")
    command = f"ping -n -c 2 -i 0.002 -I {netdevs.bond(port)} -I {port.address} 10.1.0.2"

    assert told(Controller(world, "gpu001").run(command)).received == 2
