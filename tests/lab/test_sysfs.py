"""The files of a node say what its model says."""

from __future__ import annotations

import pytest

from pytest_fabric.lab import sysfs
from pytest_fabric.lab.filesystem import View
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.traffic import Tally

from .clusters import INFINIBAND, ROCE, nodes

CARD = "/sys/class/infiniband/mlx5_0"
PORT = f"{CARD}/ports/1"


def view(text: str = ROCE, node: str = "gpu001", *fault: str) -> View:
    def tally(port: Port) -> Tally:
        return Tally()

    return View(sysfs.root(nodes(text, *fault)[node], tally, lambda: 12.5))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (f"{CARD}/node_guid", "0c42:a103:0000:0000"),
        (f"{CARD}/fw_ver", "28.39.1002"),
        (f"{CARD}/board_id", "MT_0000000838"),
        (f"{CARD}/hca_type", "MT4129"),
        (f"{PORT}/state", "4: ACTIVE"),
        (f"{PORT}/phys_state", "5: LinkUp"),
        (f"{PORT}/rate", "400 Gb/sec (4X NDR)"),
        (f"{PORT}/link_layer", "Ethernet"),
        (f"{PORT}/lid", "0x0"),
        (f"{PORT}/gids/3", "0000:0000:0000:0000:0000:ffff:0a01:0001"),
        (f"{PORT}/gids/4", "0000:0000:0000:0000:0000:0000:0000:0000"),
        (f"{PORT}/gid_attrs/types/3", "RoCE v2"),
        (f"{PORT}/gid_attrs/ndevs/3", "enp26s0np0"),
        (f"{CARD}/device/numa_node", "0"),
        (f"{CARD}/device/local_cpulist", "0-31,64-95"),
        (f"{CARD}/device/current_link_speed", "32.0 GT/s PCIe"),
        (f"{CARD}/device/current_link_width", "16"),
        (f"{CARD}/device/net/enp26s0np0/mtu", "9000"),
        ("/sys/class/net/enp26s0np0/speed", "400000"),
        ("/sys/class/net/enp26s0np0/operstate", "up"),
        ("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3,67"),
        ("/sys/devices/system/cpu/online", "0-127"),
        ("/proc/uptime", "12.50 1584.00"),
    ],
)
def test_a_healthy_node(path: str, text: str) -> None:
    assert view().read(path) == text


@pytest.mark.parametrize(
    ("fault", "path", "text"),
    [
        ("link_speed", f"{PORT}/rate", "200 Gb/sec (4X HDR)"),
        ("link_speed", "/sys/class/net/enp26s0np0/speed", "200000"),
        ("pcie_width", f"{CARD}/device/current_link_width", "8"),
        ("pcie_width", f"{CARD}/device/max_link_width", "16"),
        ("pcie_width", f"{CARD}/device/../current_link_width", "8"),
        ("pcie_width", f"{CARD}/device/../../current_link_width", "16"),
        ("port_down", f"{PORT}/state", "1: DOWN"),
        ("port_down", "/sys/class/net/enp26s0np0/operstate", "down"),
        ("mtu_low", "/sys/class/net/enp26s0np0/mtu", "1500"),
        ("gid_missing", f"{PORT}/gids/3", "0000:0000:0000:0000:0000:0000:0000:0000"),
    ],
)
def test_a_fault_is_seen_in_its_file_and_not_on_the_other_port(
    fault: str, path: str, text: str
) -> None:
    faulty = view(ROCE, "gpu001", f"{fault}@gpu001:rail0")
    neighbour = path.replace("mlx5_0", "mlx5_1").replace("enp26s0", "enp58s0")

    assert faulty.read(path) == text
    assert faulty.read(neighbour) == view().read(neighbour)


def test_a_port_that_is_down_has_no_speed() -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        view(ROCE, "gpu001", "port_down@gpu001:rail0").read("/sys/class/net/enp26s0np0/speed")


def test_the_kind_of_an_empty_gid_cannot_be_read() -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        view().read(f"{PORT}/gid_attrs/types/4")


def test_every_hop_towards_the_root_is_a_pci_bridge_with_a_link() -> None:
    for above in range(1, 4):
        hop = "/".join([CARD, "device", *[".."] * above])

        assert "DRIVER=pcieport" in view().read(f"{hop}/uevent")
        assert view().read(f"{hop}/max_link_width") == "16"


def test_a_card_on_a_low_bus_has_its_root_port_above_it() -> None:
    files = view(ROCE.replace("1a:00.0", "01:00.0"))

    assert "PCI_SLOT_NAME=0000:01:00.0" in files.read(f"{CARD}/device/uevent")
    assert "DRIVER=pcieport" in files.read(f"{CARD}/device/../uevent")


def test_the_functions_of_one_card_share_its_slot() -> None:
    files = view(ROCE.replace("3a:00.0", "1a:00.1"))

    slots = [files.read(f"/sys/class/infiniband/mlx5_{n}/device/../uevent") for n in (0, 1)]

    assert slots[0] == slots[1]


def test_interrupts_are_on_cores_of_the_card_and_leave_most_of_them_free() -> None:
    irqs = [path.rpartition("/")[2] for path in view().glob(f"{CARD}/device/msi_irqs/*")]
    cpus = {view().read(f"/proc/irq/{irq}/effective_affinity_list") for irq in irqs}

    assert cpus == {str(cpu) for cpu in range(8)}


def test_infiniband_shows_its_own_words() -> None:
    port = "/sys/class/infiniband/mlx5_3/ports/1"
    files = view(INFINIBAND, "ib1")

    assert files.read(f"{port}/link_layer") == "InfiniBand"
    assert files.read(f"{port}/rate") == "400 Gb/sec (4X NDR)"
    assert (files.read(f"{port}/lid"), files.read(f"{port}/sm_lid")) == ("0x2", "0x1")
    assert files.read(f"{port}/gids/0").startswith("fe80:")
    assert files.glob("/sys/class/net/ib*") == ["/sys/class/net/ibp26s0"]


def test_the_members_of_a_bond_share_its_speed() -> None:
    text = ROCE.replace('pci: "0000:1a:00.0"', "netdevs: [ens1f0, ens1f1]")

    speeds = [view(text).read(f"/sys/class/net/{name}/speed") for name in ("ens1f0", "ens1f1")]

    assert speeds == ["200000", "200000"]
