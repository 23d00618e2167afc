"""sysfs trees: ports as the kernel shows them, and nothing made up where it says nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.results import PciHop, RdmaPort
from pytest_fabric.tools import sysfs

MLX5 = """\
/sys/class/infiniband/mlx5_0/node_guid:0c42:a103:0001:0203
/sys/class/infiniband/mlx5_0/fw_ver:28.39.1002
/sys/class/infiniband/mlx5_0/board_id:MT_0000000838
/sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE
/sys/class/infiniband/mlx5_0/ports/1/phys_state:5: LinkUp
/sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)
/sys/class/infiniband/mlx5_0/ports/1/link_layer:Ethernet
/sys/class/infiniband/mlx5_0/device/numa_node:1
/sys/class/infiniband/mlx5_0/device/local_cpulist:32-63
/sys/class/infiniband/mlx5_0/device/uevent:DRIVER=mlx5_core
/sys/class/infiniband/mlx5_0/device/uevent:PCI_SLOT_NAME=0000:1a:00.0
/sys/class/infiniband/mlx5_0/device/current_link_speed:32.0 GT/s PCIe
/sys/class/infiniband/mlx5_0/device/current_link_width:8
/sys/class/infiniband/mlx5_0/device/max_link_speed:32.0 GT/s PCIe
/sys/class/infiniband/mlx5_0/device/max_link_width:16
/sys/class/infiniband/mlx5_0/device/../uevent:PCI_SLOT_NAME=0000:19:01.0
/sys/class/infiniband/mlx5_0/device/../current_link_speed:Unknown speed
/sys/class/infiniband/mlx5_0/device/../current_link_width:0
/sys/class/infiniband/mlx5_0/device/msi_irqs/77:msix
/proc/irq/77/effective_affinity_list:34
/sys/class/infiniband/mlx5_0/device/net/ens1f0np0/ifindex:5
/sys/class/net/ens1f0np0/speed:400000
/sys/class/net/ens1f0np0/mtu:4200
/sys/class/infiniband/mlx5_0/tc/1/traffic_class:Global tclass=106
/sys/class/infiniband/mlx5_0/ports/1/gids/3:0000:0000:0000:0000:0000:ffff:0a01:0001
/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3:RoCE v2
/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3:ens1f0np0
"""

RXE = """\
/sys/class/infiniband/rxe0/node_guid:5054:00ff:fe12:3401
/sys/class/infiniband/rxe0/parent:eth1
/sys/class/infiniband/rxe0/ports/1/state:4: ACTIVE
/sys/class/infiniband/rxe0/ports/1/phys_state:5: LinkUp
/sys/class/infiniband/rxe0/ports/1/rate:2.5 Gb/sec (1X SDR)
/sys/class/infiniband/rxe0/ports/1/link_layer:Ethernet
/sys/class/net/eth1/speed:-1
/sys/class/net/eth1/mtu:1500
"""


def only(text: str) -> RdmaPort:
    (port,) = sysfs.ports(sysfs.parse(text))
    return port


def test_a_port_of_a_connectx() -> None:
    """Every fact stands where the kernel puts it."""
    port = only(MLX5)

    assert (port.device, port.number, port.pci) == ("mlx5_0", 1, "0000:1a:00.0")
    assert (port.state, port.physical_state, port.link_layer) == ("ACTIVE", "LinkUp", "Ethernet")
    assert (port.speed_bps, port.width, port.active_mtu) == (400e9, 4, 4096)
    assert (port.firmware, port.psid, port.driver) == ("28.39.1002", "MT_0000000838", "mlx5_core")
    assert (port.netdevs, port.numa_node, port.local_cpus) == (("ens1f0np0",), 1, "32-63")
    assert (port.irq_cpus, port.traffic_class) == ((34,), 106)
    assert [(gid.index, gid.type, gid.netdev) for gid in port.gids] == [(3, "RoCE v2", "ens1f0np0")]


def test_pcie_hops_go_from_the_nic_to_the_root_and_unknown_is_none() -> None:
    """A width of 0 and `Unknown speed` are what the kernel says when it does not know."""
    assert only(MLX5).pcie == (
        PciHop("0000:1a:00.0", 32e9, 8, 32e9, 16),
        PciHop("0000:19:01.0", None, None, None, None),
    )


def test_soft_roce_has_no_speed_no_pci_and_the_mtu_of_its_netdev() -> None:
    """The SDR rate that rxe shows is no speed of an Ethernet port."""
    port = only(RXE)

    assert (port.speed_bps, port.pci, port.pcie) == (None, None, ())
    assert (port.driver, port.netdevs, port.active_mtu) == ("rdma_rxe", ("eth1",), 1024)


def test_infiniband_takes_its_speed_from_the_rate_and_has_no_mtu_here() -> None:
    """On InfiniBand the rate is the truth, and only ibv_devinfo knows the MTU."""
    port = only(MLX5.replace("link_layer:Ethernet", "link_layer:InfiniBand"))

    assert (port.speed_bps, port.width, port.active_mtu) == (400e9, 4, None)


def test_a_state_is_judged_by_its_number() -> None:
    """Words differ between kernels; an unknown number is shown, never taken for ACTIVE."""
    assert only(MLX5.replace("4: ACTIVE", "1: DOWN")).state == "DOWN"
    assert only(MLX5.replace("4: ACTIVE", "9: ACTIVE")).state == "unknown (9: ACTIVE)"


def test_cpu_lists_of_impossible_size_are_refused() -> None:
    """Text from nodes is hostile: a list must not eat the controller's memory."""
    assert sysfs.cpu_list("0-3,8") == (0, 1, 2, 3, 8)
    assert sysfs.cpu_list("0-99999999999") == ()
    assert sysfs.cpu_list("all of them") == ()


@given(cut=st.integers(0, len(MLX5)), noise=st.text(max_size=40))
def test_a_torn_tree_gives_fewer_facts_and_never_other_ones(cut: int, noise: str) -> None:
    """Whatever is left of a torn text, a fact is the right one or missing."""
    whole = only(MLX5)
    for port in sysfs.ports(sysfs.parse(MLX5[:cut].rpartition("\n")[0] + "\n" + noise)):
        if port.device != whole.device:
            continue
        for name in ("speed_bps", "width", "firmware", "psid", "local_cpus"):
            assert getattr(port, name) in (getattr(whole, name), None)


def test_numbers_that_no_kernel_prints_are_none() -> None:
    """Nor are they a traceback: an index is a file name, and may be any."""
    device = "/sys/class/infiniband/mlx5_0"
    text = MLX5.replace("numa_node:1", f"numa_node:{'9' * 5000}").replace("/3:", "/3-9:")

    port = only(text)

    assert (port.numa_node, port.gids, port.device) == (None, (), device.rpartition("/")[2])


@pytest.mark.parametrize(
    ("files", "idle"),
    [
        ({}, ()),  # a kernel that says nothing of them
        ({"mii_status": "up", "state": "active"}, ()),
        ({"mii_status": "up", "state": "active", "ad_aggregator_id": "1"}, ()),
        ({"mii_status": "up", "state": "active", "ad_aggregator_id": "2"}, ("ens1f1np1",)),
        ({"mii_status": "going down", "state": "active"}, ("ens1f1np1",)),
        ({"mii_status": "down", "state": "backup"}, ("ens1f1np1",)),
        ({"mii_status": "up", "state": "backup"}, ("ens1f1np1",)),  # active-backup
    ],
)
def test_a_member_that_carries_nothing_adds_no_speed(
    files: dict[str, str], idle: tuple[str, ...]
) -> None:
    gid = "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3:"
    text = MLX5.replace(f"{gid}ens1f0np0", f"{gid}bond0") + (
        "/sys/class/net/bond0/bonding/slaves:ens1f0np0 ens1f1np1\n"
        "/sys/class/net/bond0/bonding/ad_aggregator:1\n"
        "/sys/class/net/ens1f1np1/speed:400000\n"
    )
    text += "".join(
        f"/sys/class/net/ens1f1np1/bonding_slave/{name}:{said}\n" for name, said in files.items()
    )

    assert only(text).idle_netdevs == idle
    assert only(text).speed_bps == (400e9 if idle else 800e9)


def test_a_bond_is_its_members_and_a_representor_is_nobody() -> None:
    """`device/net` of a bond has one member, and in switchdev mode every representor."""
    gid = "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3:"
    bond = MLX5.replace(f"{gid}ens1f0np0", f"{gid}bond0") + (
        "/sys/class/net/bond0/bonding/slaves:ens1f0np0 ens1f1np1\n"
        "/sys/class/net/ens1f1np1/speed:400000\n"
        "/sys/class/net/ens1f1np1/mtu:4200\n"
    )
    switchdev = MLX5 + (
        "/sys/class/infiniband/mlx5_0/device/net/pf0vf0/ifindex:9\n/sys/class/net/pf0vf0/speed:1000\n"
    )

    assert (only(bond).netdevs, only(bond).speed_bps) == (("ens1f0np0", "ens1f1np1"), 800e9)
    assert (only(switchdev).netdevs, only(switchdev).speed_bps) == (("ens1f0np0",), 400e9)


TWO_PORTS = """\
/sys/class/infiniband/mlx4_2/node_guid:0002:c903:0000:00a0
/sys/class/infiniband/mlx4_2/fw_ver:2.42.5000
/sys/class/infiniband/mlx4_2/ports/1/state:4: ACTIVE
/sys/class/infiniband/mlx4_2/ports/1/phys_state:5: LinkUp
/sys/class/infiniband/mlx4_2/ports/1/rate:40 Gb/sec (4X QDR)
/sys/class/infiniband/mlx4_2/ports/1/link_layer:InfiniBand
/sys/class/infiniband/mlx4_2/ports/2/state:1: DOWN
/sys/class/infiniband/mlx4_2/ports/2/phys_state:2: Polling
/sys/class/infiniband/mlx4_2/ports/2/rate:10 Gb/sec (4X SDR)
/sys/class/infiniband/mlx4_2/ports/2/link_layer:InfiniBand  \n
"""


def test_a_device_of_two_ports_has_two_ports() -> None:
    """Blanks and blank lines behind a value belong to nothing."""
    ports = sysfs.ports(sysfs.parse(TWO_PORTS))

    assert [(port.number, port.state, port.link_layer) for port in ports] == [
        (1, "ACTIVE", "InfiniBand"),
        (2, "DOWN", "InfiniBand"),
    ]


def test_a_bond_is_a_device_with_a_name_of_its_own() -> None:
    """The rate counts the lanes of one port: 2X NDR are 200 Gb/s."""
    text = MLX5.replace("mlx5_0", "mlx5_bond_3").replace(
        "400 Gb/sec (4X NDR)", "200 Gb/sec (2X NDR)"
    )
    text = text.replace("ens1f0np0/speed:400000", "ens1f0np0/speed:200000")
    port = only(text)

    assert (port.device, port.speed_bps, port.width) == ("mlx5_bond_3", 200e9, 2)
    assert port.link_layer == "Ethernet"
