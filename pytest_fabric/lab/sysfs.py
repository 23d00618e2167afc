"""The /sys, /proc, /dev and /etc of a lab node, from its model and its counters."""

from __future__ import annotations

import errno
import posixpath
from collections.abc import Callable

from pytest_fabric.lab import gids, kfd, machine, netdevs, procfs, qos, slots, virtual
from pytest_fabric.lab.drivers import files
from pytest_fabric.lab.filesystem import Directory, Entry, Live, Symlink, Unreadable
from pytest_fabric.lab.model import Node, Port, Slot
from pytest_fabric.lab.tally import Tally

#: InfiniBand name of a lane's rate in Gb/s, as the kernel prints it in `rate`.
LANES = {2.5: "SDR", 5: "DDR", 10: "QDR", 14: "FDR", 25: "EDR", 50: "HDR", 100: "NDR", 200: "XDR"}

#: Entries of the lab's table of partition keys.
PKEYS = 8

STATES = {
    "DOWN": ("1: DOWN", "3: Disabled"),
    "POLLING": ("1: DOWN", "2: Polling"),
    "ACTIVE": ("4: ACTIVE", "5: LinkUp"),
}

#: PCI classes: network controller (Ethernet, InfiniBand), bridge, and 3D controller.
PCI_ETHERNET, PCI_INFINIBAND, PCI_BRIDGE, PCI_GPU = "20000", "20700", "60400", "30200"


def root(
    node: Node,
    tally: Callable[[Port], Tally],
    uptime: Callable[[], float],
    written: Callable[[Port], Tally] | None = None,
) -> Directory:
    """Return the file system of a node; counters and uptime are read when they are looked at.

    `tally` is what a port has moved, `written` what its card last wrote of that to memory.
    """
    tree: dict[str, Entry] = {}
    for place, port in enumerate(node.functions):
        _put(tree, slots.path(port.pci), _card(port, place))
        _put(tree, slots.path(port.pci), virtual.links(port, node.virtual))
        if node.iommu != "off":
            kind = "identity" if node.iommu == "pt" else "DMA-FQ"
            _put(tree, f"{slots.path(port.pci)}/iommu_group/type", kind)
        _bridges(tree, port)
        _put(tree, f"/sys/bus/pci/devices/{port.pci}", Symlink(slots.path(port.pci)))
        if port.gpu:
            _gpu(tree, port)
        _put(tree, f"/sys/class/infiniband/{port.device}", _rdma(port))
        counters = files.counters(port, tally, written or tally, uptime)
        _put(tree, f"/sys/class/infiniband/{port.device}/ports/1", counters)
        for netdev, entry in netdevs.entries(port, tally, uptime).items():
            _put(tree, f"/sys/class/net/{netdev}", entry)
        _put(tree, f"/dev/infiniband/uverbs{place}", Unreadable(errno.EINVAL))
        for irq, cpu in machine.irqs(place, port.numa, port.irqs).items():
            _put(tree, f"/proc/irq/{irq}/effective_affinity_list", str(cpu))
    _put(tree, "/sys/class", kfd.topology(node))
    if node.iommu != "off":
        _put(tree, "/sys/class/iommu/ivhd0", {"amd-iommu": {"cap": "190b640f"}})
    _put(tree, "/sys/class/net/lo", netdevs.loopback())
    _put(tree, "/sys/class/net/eno1", netdevs.management())
    _put(tree, "/sys/devices/system/cpu", _cpus())
    _put(tree, "/proc/uptime", Live(lambda: _uptime(uptime())))
    _put(tree, "/proc/self", _self())
    for path, entry in qos.entries(node).items():
        _put(tree, path, entry)
    _put(tree, "/etc/os-release", machine.OS_RELEASE)
    _put(tree, "/etc/hostname", node.name)
    for path, text in {**procfs.files(node), **node.files}.items():
        _put(tree, path, text)
    return tree


def _put(tree: dict[str, Entry], path: str, entry: Entry) -> None:
    """Place an entry at a path, making and sharing the directories above it."""
    above, name = posixpath.split(path)
    directory = tree
    for part in above.strip("/").split("/"):
        inner = directory.setdefault(part, {})
        assert isinstance(inner, dict)
        directory = inner
    if isinstance(entry, dict) and isinstance(known := directory.get(name), dict):
        known.update(entry)
    else:
        directory[name] = entry


def _gpu(tree: dict[str, Entry], port: Port) -> None:
    path = slots.gpu_path(port)
    above = posixpath.dirname(path)
    address = posixpath.basename(above)
    driver, card = ("nvidia", "10DE:2330") if port.gpu_api == "cuda" else ("amdgpu", "1002:74A1")
    _put(tree, path, {"uevent": _uevent(driver, PCI_GPU, card, port.gpu)})
    _put(tree, above, {"uevent": _uevent("pcieport", PCI_BRIDGE, "1000:C010", address)})
    _put(tree, f"/sys/bus/pci/devices/{port.gpu}", Symlink(path))


def _bridges(tree: dict[str, Entry], port: Port) -> None:
    path = posixpath.dirname(slots.path(port.pci))
    most = port.slot.max_tps or port.pcie_tps
    slot = _own_link(port)
    lanes = port.quirks.above or port.pcie_max_width
    above = _link(most, most, lanes, port.pcie_max_width)
    while ":" in (address := posixpath.basename(path)) and not address.startswith("pci"):
        uevent = _uevent("pcieport", PCI_BRIDGE, "1000:C010", address)
        _put(tree, path, {"uevent": uevent, **_aer(Slot(correctable=0)), **slot})
        path, slot = posixpath.dirname(path), above


def _own_link(port: Port) -> dict[str, Entry]:
    most = port.slot.max_tps or port.pcie_tps
    return _link(port.pcie_tps, most, port.pcie_width, port.pcie_max_width)


def _link(transfers: float, most: float, width: int, widest: int) -> dict[str, Entry]:
    return {
        "current_link_speed": f"{transfers / 1e9:.1f} GT/s PCIe",
        "current_link_width": str(width),
        "max_link_speed": f"{most / 1e9:.1f} GT/s PCIe",
        "max_link_width": str(widest),
    }


def _aer(slot: Slot) -> dict[str, Entry]:
    """Return the counters of reported errors: a line per kind, of which the lab has a few."""
    return {
        "aer_dev_correctable": f"RxErr 0\nBadTLP {slot.correctable}\nBadDLLP 0\nRollover 0\n"
        f"Timeout 0\nNonFatalErr 0\nTOTAL_ERR_COR {slot.correctable}",
        "aer_dev_nonfatal": f"Undefined 0\nDLP 0\nTLP 0\nCmpltTO {slot.nonfatal}\nUnsupReq 0\n"
        f"TOTAL_ERR_NONFATAL {slot.nonfatal}",
        "aer_dev_fatal": "Undefined 0\nDLP 0\nTLP 0\nCmpltTO 0\nUnsupReq 0\nTOTAL_ERR_FATAL 0",
    }


def _uevent(driver: str, kind: str, ident: str, address: str) -> str:
    return f"DRIVER={driver}\nPCI_CLASS={kind}\nPCI_ID={ident}\nPCI_SLOT_NAME={address}"


def _card(port: Port, place: int) -> dict[str, Entry]:
    kind = PCI_INFINIBAND if port.is_infiniband else PCI_ETHERNET
    # Of a bond only the netdev of the first function is there.
    first = {name: Symlink(f"/sys/class/net/{name}") for name in port.netdevs[:1]}
    return {
        "uevent": _uevent(port.adapter.driver, kind, port.adapter.pci_id, port.pci),
        "numa_node": str(port.numa),
        "local_cpulist": machine.local_cpus(port.numa),
        "msi_irqs": {str(irq): "msix" for irq in machine.irqs(place, port.numa)},
        "infiniband": {port.device: Symlink(f"/sys/class/infiniband/{port.device}")},
        "net": first,
        **_aer(port.slot),
        **_own_link(port),
    }


def _rdma(port: Port) -> dict[str, Entry]:
    about = {"board_id": port.adapter.psid, "hca_type": port.adapter.hca_type}
    return {
        "node_type": "1: CA",
        "node_guid": gids.guid_text(port.guid),
        "sys_image_guid": gids.guid_text(port.guid),
        "fw_ver": port.adapter.firmware,
        **{name: word for name, word in about.items() if word},
        "device": Symlink(slots.path(port.pci)),
        "ports": {"1": _port(port)},
    }


def _port(port: Port) -> dict[str, Entry]:
    state, physical = STATES[port.state]
    return {
        "state": state,
        "phys_state": physical,
        "rate": rate(port),
        "link_layer": port.layer,
        "lid": f"{port.lid:#x}",
        "sm_lid": f"{port.sm_lid if port.lid else 0:#x}",
        "pkeys": _pkeys(port),
        "gids": _gids(port),
        "gid_attrs": {"types": _gid_types(port), "ndevs": _gid_netdevs(port)},
    }


def _pkeys(port: Port) -> dict[str, Entry]:
    """Return the table of partition keys: most of it is empty."""
    table = [*port.pkeys, *[0] * (PKEYS - len(port.pkeys))]
    return {str(index): f"{key:#06x}" for index, key in enumerate(table)}


def rate(port: Port) -> str:
    """Return a port's `rate` file: `400 Gb/sec (4X NDR)`."""
    speed = port.speed_bps / 1e9
    lane = LANES.get(speed / port.width, "")
    return f"{speed:g} Gb/sec ({f'{port.width}X {lane}'.strip()})"


def _gids(port: Port) -> dict[str, Entry]:
    table = {str(index): ":".join(["0000"] * 8) for index in range(gids.TABLE)}
    return {**table, **{str(gid.index): gids.gid_text(gid.address) for gid in port.gids}}


def _gid_types(port: Port) -> dict[str, Entry]:
    """Return the kinds; reading that of an empty entry fails, as in the kernel."""
    empty = {str(index): Unreadable(errno.EINVAL) for index in range(gids.TABLE)}
    return {**empty, **{str(gid.index): gid.kind for gid in port.gids}}


def _gid_netdevs(port: Port) -> dict[str, Entry]:
    empty = {str(index): Unreadable(errno.EINVAL) for index in range(gids.TABLE)}
    above = netdevs.bond(port) if port.is_bond else None
    return {**empty, **{str(gid.index): above or gid.netdev for gid in port.gids if gid.netdev}}


def _cpus() -> dict[str, Entry]:
    cpus: dict[str, Entry] = {
        f"cpu{cpu}": {
            "topology": {"thread_siblings_list": machine.siblings(cpu)},
            "cpufreq": {
                "scaling_governor": "performance",
                "cpuinfo_max_freq": str(machine.KHZ),
                "scaling_max_freq": str(machine.KHZ),
            },
        }
        for cpu in range(machine.CPUS)
    }
    return {"online": f"0-{machine.CPUS - 1}", **cpus}


def _self() -> dict[str, Entry]:
    return {
        "limits": (
            f"{'Limit':<26}{'Soft Limit':<21}{'Hard Limit':<21}Units\n"
            f"{'Max open files':<26}{'1048576':<21}{'1048576':<21}files\n"
            f"{'Max locked memory':<26}{'unlimited':<21}{'unlimited':<21}bytes"
        ),
        "status": f"Name:\tgrep\nCpus_allowed_list:\t0-{machine.CPUS - 1}\nMems_allowed_list:\t0-1",
    }


def _uptime(seconds: float) -> str:
    return f"{seconds:.2f} {seconds * machine.CPUS * 0.99:.2f}"
