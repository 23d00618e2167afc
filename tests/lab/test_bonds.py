"""A bond of two network devices: one RDMA device, counters on its members, and one that is lost."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab import faults
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.results import RdmaPort
from pytest_fabric.tools import ethtool_statistics, sysfs

from .clusters import ROCE, fabric, nodes, port, run
from .controller import Controller
from .perftest_pairs import Pair, row

BONDS = ROCE.replace('pci: "0000:1a:00.0"', "netdevs: [ens1f0np0, ens1f1np1]")
MEMBERS = ("ens1f0np0", "ens1f1np1")


def seen(*fault: str) -> RdmaPort:
    """Return what the parser makes of the node's files."""
    paths = sysfs.paths()
    text = "".join(
        run(f"grep -sH . {' '.join(paths[name])}", BONDS, "gpu001", *fault).stdout for name in paths
    )
    gids = f"{' '.join(sysfs.gid_command())} {sysfs.RDMA}/*/ports/*/gids/*"
    text += run(gids, BONDS, "gpu001", *fault).stdout
    return next(one for one in sysfs.ports(sysfs.parse(text)) if one.device == "mlx5_bond_0")


def test_a_bond_is_one_device_with_two_network_devices_and_the_speed_of_both() -> None:
    one = seen()

    assert [each.device for each in nodes(BONDS)["gpu001"].ports] == ["mlx5_bond_0", "mlx5_0"]
    assert (one.netdevs, one.speed_bps, one.idle_netdevs) == (MEMBERS, 400e9, ())


@pytest.mark.parametrize("how", ["down", "apart"])
def test_a_bond_that_lost_a_member_is_active_and_half_as_fast(how: str) -> None:
    """Up is not enough: LACP must have it in the aggregate of the bond."""
    one = seen(f"bond_member_{how}@gpu001:rail0")

    assert (one.state, one.speed_bps, one.idle_netdevs) == ("ACTIVE", 200e9, MEMBERS[1:])


def test_a_bond_that_lost_all_members_has_no_speed() -> None:
    lost = ("bond_member_down@gpu001:rail0", "bond_member_apart@gpu001:rail0")

    assert seen(*lost).speed_bps is None
    assert seen(*lost).idle_netdevs == MEMBERS


def counted(*fault: str) -> Mapping[str, int]:
    """Return the bytes that each member has counted of what the bond has sent."""
    world = fabric(BONDS, *fault)
    pair = Pair(world)
    before = read(world)
    client, _ = pair.run("ib_write_bw -D 2 -q 4 -s 1M --tclass=106 -d mlx5_bond_0")
    assert client.status == "0"
    moved = {name: value - before[name] for name, value in read(world).items()}
    return {
        **moved,
        "both": world.traffic.tally(world.nodes["gpu001"].ports[0]).sent_bytes[3],
    }


def read(world: Fabric) -> Mapping[str, int]:
    texts = {name: Controller(world, "gpu001").run(f"ethtool -S {name}").stdout for name in MEMBERS}
    return {name: ethtool_statistics.parse(text)["tx_prio3_bytes"] for name, text in texts.items()}


def test_what_a_bond_sends_is_counted_by_its_members_once() -> None:
    found = counted()

    first, second = (found[name] for name in MEMBERS)
    assert first + second == found["both"]
    assert first == pytest.approx(second, rel=0.01)


def test_a_member_that_is_lost_counts_nothing() -> None:
    found = counted("bond_member_down@gpu001:rail0")

    assert (found[MEMBERS[0]], found[MEMBERS[1]]) == (found["both"], 0)


@pytest.mark.parametrize(
    ("qps", "fault", "bps"),
    [
        (1, (), 200e9),
        (2, (), 400e9),
        (4, (), 400e9),
        (4, ("bond_member_down@gpu002:rail0",), 200e9),
    ],
)
def test_a_queue_pair_stays_on_one_member(qps: int, fault: tuple[str, ...], bps: float) -> None:
    command = f"ib_write_bw -D 4 -q {qps} -s 1M --report_gbits -d mlx5_bond_0"

    client, _ = Pair(fabric(BONDS, *fault)).run(command)

    assert row(client)[3] * 1e9 == pytest.approx(0.975 * bps, rel=0.02)


def test_a_port_with_one_network_device_has_no_member_to_lose() -> None:
    with pytest.raises(ConfigError, match="expected a port of several `netdevs`, gpu001:rail1 has"):
        faults.inject(tuple(nodes(BONDS).values()), ["bond_member_down@gpu001:rail1"])
    assert port(BONDS).is_bond
