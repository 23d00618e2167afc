"""The RDMA, PCI and network trees of sysfs, read with `grep` and turned into ports.

`grep -sH . FILES` prints `path:value` for each line of each file that can be read. Names come from
Documentation/ABI/stable/sysfs-class-infiniband and testing/sysfs-bus-pci of the Linux kernel.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from pytest_fabric.results import Gid, PciHop, RdmaPort

RDMA = "/sys/class/infiniband"
NET = "/sys/class/net"
EMPTY_GID = ":".join(["0000"] * 8)

#: How far towards the root PCIe links are read: NIC, slot, and two switches above it.
HOPS = 4

#: RDMA MTUs in bytes, and what RoCE needs of an Ethernet frame beside the payload: GRH 40, UDP 8,
#: BTH 12, XRC 4, atomic 28, ICRC 4 (`iboe_get_mtu` in include/rdma/ib_addr.h).
RDMA_MTUS = (4096, 2048, 1024, 512, 256)
ROCE_HEADERS = 96

STATES = {0: "NOP", 1: "DOWN", 2: "INIT", 3: "ARMED", 4: "ACTIVE", 5: "ACTIVE_DEFER"}
PHYSICAL_STATES = {
    1: "Sleep",
    2: "Polling",
    3: "Disabled",
    4: "PortConfigurationTraining",
    5: "LinkUp",
    6: "LinkErrorRecovery",
    7: "PhyTest",
}

Tree = Mapping[str, str]


def paths() -> dict[str, tuple[str, ...]]:
    """Return the shell patterns of the files to read, by section."""
    port = f"{RDMA}/*/ports/*"
    link = ("current_link_speed", "current_link_width", "max_link_speed", "max_link_width")
    hops = ["/".join(["device", *[".."] * above]) for above in range(HOPS)]
    return {
        "rdma": (
            *(f"{RDMA}/*/{name}" for name in ("node_guid", "fw_ver", "board_id", "parent")),
            *(f"{port}/{name}" for name in ("state", "phys_state", "rate", "link_layer", "lid")),
            f"{RDMA}/*/tc/*/traffic_class",
        ),
        "gid_attrs": (f"{port}/gid_attrs/types/*", f"{port}/gid_attrs/ndevs/*"),
        "pci": (
            f"{RDMA}/*/device/numa_node",
            f"{RDMA}/*/device/local_cpulist",
            f"{RDMA}/*/device/physfn/uevent",
            *(f"{RDMA}/*/{hop}/{name}" for hop in hops for name in ("uevent", *link)),
        ),
        "net": (
            *(f"{NET}/*/{name}" for name in ("speed", "mtu", "bonding/slaves")),
            *(f"{NET}/*/{name}" for name in ("bonding/ad_aggregator", "bonding_slave/mii_status")),
            *(f"{NET}/*/bonding_slave/{name}" for name in ("state", "ad_aggregator_id")),
            f"{RDMA}/*/device/net/*/ifindex",
        ),
        "irqs": (f"{RDMA}/*/device/msi_irqs/*",),
        "irq_cpus": ("/proc/irq/*/effective_affinity_list",),
    }


def gid_command() -> tuple[str, ...]:
    """Return the words in front of the GID files: all entries but the empty ones."""
    return ("grep", "-svxH", EMPTY_GID)


def parse(text: str) -> dict[str, str]:
    """Return path -> value of `grep -H` output; lines of one file are joined by newlines.

    The first colon ends the path: names of RDMA devices, netdevs and counters hold none.
    """
    tree: dict[str, str] = {}
    for line in text.splitlines():
        path, colon, value = line.partition(":")
        if colon and path.startswith("/"):
            tree[path] = f"{tree[path]}\n{value}" if path in tree else value.strip()
    return tree


def ports(tree: Tree) -> list[RdmaPort]:
    """Return every RDMA port that the tree shows, in the order of device names and numbers."""
    found = re.compile(rf"{RDMA}/([^/]+)/ports/(\d+)/state$")
    keys = sorted(match.groups() for path in tree if (match := found.match(path)))
    return [_port(tree, device, int(number)) for device, number in keys]


def _port(tree: Tree, device: str, number: int) -> RdmaPort:
    base = f"{RDMA}/{device}"
    port = f"{base}/ports/{number}"
    gids = _gids(tree, port)
    layer = tree.get(f"{port}/link_layer", "Unknown")
    netdevs = _netdevs(tree, base, gids)
    idle = _idle(tree, netdevs)
    hops = _hops(tree, base)
    is_ethernet = layer == "Ethernet"
    return RdmaPort(
        device=device,
        number=number,
        pci=hops[0].address if hops else None,
        driver=_uevent(tree.get(f"{base}/device/uevent", ""), "DRIVER") or _soft_driver(tree, base),
        guid=tree.get(f"{base}/node_guid", ""),
        firmware=tree.get(f"{base}/fw_ver") or None,
        psid=tree.get(f"{base}/board_id") or None,
        netdevs=netdevs,
        link_layer=layer,
        state=_word(tree.get(f"{port}/state", ""), STATES),
        physical_state=_word(tree.get(f"{port}/phys_state", ""), PHYSICAL_STATES),
        speed_bps=_netdev_speed(tree, netdevs, idle) if is_ethernet else _rate(tree, port)[0],
        width=_rate(tree, port)[1],
        active_mtu=_roce_mtu(tree, netdevs) if is_ethernet else None,
        gids=gids,
        numa_node=_number(tree.get(f"{base}/device/numa_node")),
        local_cpus=tree.get(f"{base}/device/local_cpulist") or None,
        irq_cpus=_irq_cpus(tree, base),
        traffic_class=_number(tree.get(f"{base}/tc/{number}/traffic_class")),
        pcie=hops,
        netdev_mtu=_netdev_mtu(tree, (*netdevs, *(gid.netdev for gid in gids if gid.netdev))),
        physical=_uevent(tree.get(f"{base}/device/physfn/uevent", ""), "PCI_SLOT_NAME"),
        idle_netdevs=idle,
    )


def _soft_driver(tree: Tree, base: str) -> str:
    """Name the driver of a device without hardware: only Soft-RoCE and siw have a `parent`."""
    name = base.rpartition("/")[2]
    return ("siw" if name.startswith("siw") else "rdma_rxe") if f"{base}/parent" in tree else ""


def _word(text: str, words: Mapping[int, str]) -> str:
    """Return the word of a state file, which reads `4: ACTIVE`: the number decides."""
    number = _number(text.partition(":")[0])
    return words.get(number, f"unknown ({text})") if number is not None else "unknown"


def _number(text: str | None) -> int | None:
    match = re.search(r"-?[0-9]+", text or "")
    return int(match.group()) if match and len(match.group()) <= 20 else None


def _rate(tree: Tree, port: str) -> tuple[float | None, int | None]:
    """Return bits per second and lanes of a rate file: `400 Gb/sec (4X NDR)`."""
    match = re.match(r"(\d+(?:\.\d+)?) Gb/sec \((\d+)X", tree.get(f"{port}/rate", ""))
    return (float(match.group(1)) * 1e9, int(match.group(2))) if match else (None, None)


def _netdevs(tree: Tree, base: str, gids: Iterable[Gid]) -> tuple[str, ...]:
    """Return the network devices that carry the port: the members of its bond, if it has one.

    The GID table names the port's own netdev; `device/net` also lists representors, and of a bond
    one member only. VLANs on top are in the GID table too, and count nothing of their own.
    """
    own = {path.split("/")[-2] for path in tree if path.startswith(f"{base}/device/net/")}
    named = {gid.netdev for gid in gids if gid.netdev}
    slaves = {n for bond in named for n in tree.get(f"{NET}/{bond}/bonding/slaves", "").split()}
    parent = {tree[f"{base}/parent"]} if f"{base}/parent" in tree else set()
    return tuple(sorted(slaves or (named & own) or own or parent or named))


def _idle(tree: Tree, netdevs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the members of a bond that carry nothing, in the order of their names.

    A member whose own link is up is idle where it is the backup of another one, or where LACP has
    put it into another aggregate than that of the bond. Files of Documentation/networking/bonding
    and drivers/net/bonding/bond_sysfs*.c.
    """
    active = {
        name: tree.get(f"{path.removesuffix('/slaves')}/ad_aggregator")
        for path, names in tree.items()
        if path.endswith("/bonding/slaves")
        for name in names.split()
    }

    def carries(name: str) -> bool:
        own = f"{NET}/{name}/bonding_slave"
        apart = {active.get(name), tree.get(f"{own}/ad_aggregator_id")} - {None}
        is_up = tree.get(f"{own}/mii_status", "up") == "up"
        return is_up and tree.get(f"{own}/state") != "backup" and len(apart) < 2

    return tuple(name for name in netdevs if not carries(name))


def _netdev_speed(tree: Tree, netdevs: tuple[str, ...], idle: tuple[str, ...]) -> float | None:
    """Return the sum of the netdevs' speeds (a bond has several), or None if one is unknown.

    Members that carry nothing add nothing.
    """
    speeds = [_number(tree.get(f"{NET}/{name}/speed")) for name in netdevs if name not in idle]
    known = [speed for speed in speeds if speed is not None and speed > 0]
    return sum(known) * 1e6 if known and len(known) == len(speeds) else None


def _netdev_mtu(tree: Tree, netdevs: tuple[str, ...]) -> int | None:
    """Return the largest IP packet that all netdevs send whole, or None where none says it.

    A VLAN on top of a netdev may be narrower than that.
    """
    sizes = [_number(tree.get(f"{NET}/{name}/mtu")) for name in netdevs]
    return min((size for size in sizes if size is not None), default=None)


def _roce_mtu(tree: Tree, netdevs: tuple[str, ...]) -> int | None:
    packet = _netdev_mtu(tree, netdevs)
    return None if packet is None else rdma_mtu(packet)


def rdma_mtu(packet_bytes: int) -> int | None:
    """Return the largest RDMA MTU whose full RoCE packet fits an IP packet, or None for none."""
    return next((mtu for mtu in RDMA_MTUS if mtu <= packet_bytes - ROCE_HEADERS), None)


def _gids(tree: Tree, port: str) -> tuple[Gid, ...]:
    gids = []
    for path, address in tree.items():
        index = path.rpartition("/")[2]
        is_entry = path.startswith(f"{port}/gids/") and re.fullmatch(r"[0-9]{1,5}", index)
        if is_entry and _is_gid(address):
            kind = tree.get(f"{port}/gid_attrs/types/{index}", "")
            netdev = tree.get(f"{port}/gid_attrs/ndevs/{index}")
            gids.append(Gid(int(index), address, kind, netdev))
    return tuple(sorted(gids, key=lambda gid: gid.index))


def _is_gid(text: str) -> bool:
    try:
        return int(ipaddress.IPv6Address(text)) != 0
    except ValueError:
        return False


def _hops(tree: Tree, base: str) -> tuple[PciHop, ...]:
    hops = []
    for above in range(HOPS):
        place = "/".join([base, "device", *[".."] * above])
        address = _uevent(tree.get(f"{place}/uevent", ""), "PCI_SLOT_NAME")
        if not address:
            break
        speed, width, max_speed, max_width = (
            tree.get(f"{place}/{which}_link_{what}")
            for which in ("current", "max")
            for what in ("speed", "width")
        )
        hops.append(
            PciHop(
                address, _transfers(speed), _lanes(width), _transfers(max_speed), _lanes(max_width)
            )
        )
    return tuple(hops)


def _uevent(text: str, key: str) -> str | None:
    match = re.search(rf"^{key}=(.+)$", text, re.MULTILINE)
    return match.group(1).strip() if match else None


def _transfers(text: str | None) -> float | None:
    match = re.match(r"(\d+(?:\.\d+)?) GT/s", text or "")
    return float(match.group(1)) * 1e9 if match else None


def _lanes(text: str | None) -> int | None:
    """Return a width; 0 and 255 are what the kernel says for a link it does not know."""
    number = _number(text)
    return number if number not in (0, 255) else None


def _irq_cpus(tree: Tree, base: str) -> tuple[int, ...]:
    cpus: set[int] = set()
    for path in tree:
        if path.startswith(f"{base}/device/msi_irqs/"):
            irq = path.rpartition("/")[2]
            cpus.update(cpu_list(tree.get(f"/proc/irq/{irq}/effective_affinity_list", "")))
    return tuple(sorted(cpus))


@lru_cache(maxsize=256)  # the NICs of a node, and of its neighbours, say the same
def cpu_list(text: str) -> tuple[int, ...]:
    """Return the CPUs of a kernel list such as `0-3,8`; nothing for a text that is none."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text.strip()):
        return ()
    ends = [part.partition("-") for part in text.strip().split(",")]
    if any(len(low) > 5 or len(high) > 5 for low, _, high in ends):
        return ()  # no kernel has 100,000 CPUs; such a text would only eat memory
    return tuple(cpu for low, _, high in ends for cpu in range(int(low), int(high or low) + 1))
