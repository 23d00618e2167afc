"""From the inventory to the lab's nodes: every declared rail gets a device that its selector finds.

What is declared is what is there, until a fault says otherwise; what is not declared is chosen.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TypedDict

from pytest_fabric import config, results
from pytest_fabric.errors import ConfigError
from pytest_fabric.lab import adapters, gids, machine, virtual
from pytest_fabric.lab.cabling import cabled
from pytest_fabric.lab.leaf import ALONE, Leaf
from pytest_fabric.lab.model import ETHERNET, INFINIBAND, UNKNOWN, Adapter, Node, Port
from pytest_fabric.lab.topology import wired

#: Perftest of Debian 13; `lab.perftest` in cluster.yaml chooses another one per node.
PERFTEST = "6.24"

#: What a rail without a declared speed gets.
SPEED_BPS = 100e9

#: PCIe transfers per second and lanes that a card of a speed is usually plugged into.
SLOTS = ((800e9, 64e9, 16), (400e9, 32e9, 16), (200e9, 16e9, 16), (0.0, 8e9, 16))

#: Where rails without a declared network live: shared address space, RFC 6598.
UNDECLARED = ipaddress.IPv4Network("100.64.0.0/10")


class Class(TypedDict, total=False):
    """The fields of a port that say how it treats RDMA."""

    trust: str
    is_tagged: bool
    ecn: frozenset[str]
    cnp: tuple[int, int]


@dataclass(frozen=True)
class Place:
    """Where a rail stands in the fabric: numbers that make its addresses unique."""

    node: int
    rail: int
    lid: int
    network: config.Network
    host: int


def nodes(cluster: config.Cluster) -> tuple[Node, ...]:
    """Return the lab's nodes for an inventory, healthy, in the inventory's order.

    Raises ConfigError on a perftest version that is none, and on a network that is too small.
    """
    places = _places(cluster)
    made = tuple(_node(node, cluster, places) for node in cluster.nodes.values())
    return wired(cabled(made, cluster), cluster)


def switches(cluster: config.Cluster) -> tuple[Node, ...]:
    """Return the lab's switches for an inventory: those that are logged in to."""
    return tuple(
        Node(
            name=name,
            address=switch.address,
            ports=(),
            perftest=PERFTEST,
            os=switch.os,
            sockets=tuple(cable.switch_port for cable in cluster.cabled(name)),
        )
        for name, switch in cluster.switches.items()
        if switch.files is None
    )


def _places(cluster: config.Cluster) -> Iterator[Place]:
    hosts: Counter[config.Network] = Counter()
    fallback = list(UNDECLARED.subnets(new_prefix=16))
    rails: dict[str, int] = {}
    lid = 1  # the subnet manager's own
    for index, node in enumerate(cluster.nodes.values()):
        for rail in node.rails.values():
            number = rails.setdefault(rail.name, len(rails))
            network = rail.network or fallback[number % len(fallback)]
            hosts[network] += 1
            lid += 1
            yield Place(index, number, lid, network, hosts[network])


def _node(node: config.Node, cluster: config.Cluster, places: Iterator[Place]) -> Node:
    slots = _slots(node)
    cards = {rail.name: _adapter(node.name, rail.profile, cluster) for rail in node.rails.values()}
    ports = [
        _port(node, rail, next(places), slots[rail.name], cards[rail.name])
        for rail in node.rails.values()
    ]
    ports.sort(key=lambda port: port.pci)
    ports = [
        replace(port, numa=0 if index < (len(ports) + 1) // 2 else 1)
        for index, port in enumerate(ports)
    ]
    count = cluster.lab.vfs.get(node.name, 0)
    extra = [one for port in ports for one in virtual.functions(port, count)]
    # The kernel counts devices as it finds them: virtual functions shift those behind them.
    devices = _devices(sorted((*ports, *extra), key=lambda port: port.pci))
    return Node(
        name=node.name,
        address=node.address,
        ports=tuple(replace(port, device=devices[port.id.rail]) for port in ports),
        virtual=tuple(replace(port, device=devices[port.id.rail]) for port in extra),
        perftest=_perftest(node.name, cluster),
        sudo=tuple(node.profile.sudo),
        iperf3=_iperf3(node.name, cluster),
        path=cluster.lab.path.get(node.name, machine.PATH),
        guards_arp=len({port.network for port in ports}) < len(ports),
    )


def _devices(ports: Sequence[Port]) -> dict[str, str]:
    """Return the RDMA device of each rail: the declared one, else the first name that is free."""
    names = {port.id.rail: port.device for port in ports if port.device}
    for port in ports:
        free = (
            n
            for n in adapters.devices(port.adapter, port.pci, port.is_bond)
            if n not in names.values()
        )
        names.setdefault(port.id.rail, next(free))
    return names


def _perftest(node: str, cluster: config.Cluster) -> str:
    return _version(cluster, "perftest", cluster.lab.perftest.get(node, PERFTEST), "6.06")


def _iperf3(node: str, cluster: config.Cluster) -> str:
    return _version(cluster, "iperf3", cluster.lab.iperf3.get(node, machine.IPERF3), "3.12")


def _version(cluster: config.Cluster, tool: str, version: str, example: str) -> str:
    if re.fullmatch(r"\d+(\.\d+)+", version) is None:
        raise ConfigError(
            f"{cluster.source}: lab.{tool}: expected a version such as {example}, got {version!r}"
        )
    return version


def _slots(node: config.Node) -> dict[str, str]:
    """Return the PCI address of each rail: the declared one, else a bus that nothing else has."""
    declared = {
        rail.name: _pci(rail.selector.value)
        for rail in node.rails.values()
        if rail.selector.kind == "pci"
    }
    buses = (f"{domain:04x}:{bus:02x}:00.0" for domain in count() for bus in range(0x1A, 0xFF, 32))
    free = (address for address in buses if address not in declared.values())
    return {name: declared.get(name) or next(free) for name in node.rails}


def _port(node: config.Node, rail: config.Rail, place: Place, pci: str, adapter: Adapter) -> Port:
    selector, link, roce = rail.selector, rail.profile.link, rail.profile.roce
    speed = _speed(rail.profile)
    transfers, lanes = _pcie(rail.profile, speed)
    layer = UNKNOWN if adapter.is_srd else INFINIBAND if link.layer == INFINIBAND else ETHERNET
    netdevs = () if adapter.is_srd else tuple(rail.netdevs) or (_netdev(selector, pci, layer),)
    guid = (
        int(selector.value.lower().removeprefix("0x").replace(":", "").replace("-", ""), 16)
        if selector.kind == "guid"
        else adapters.guid(adapter, place.node, place.rail)
    )
    address = _address(place)
    return Port(
        id=results.Port(node.name, rail.name),
        device=selector.value if selector.kind == "device" else "",
        netdevs=netdevs,
        pci=pci,
        guid=guid,
        adapter=adapter,
        layer=layer,
        speed_bps=speed,
        width=link.width or 4,
        mtu=link.mtu or 4096,
        pcie_tps=transfers,
        pcie_width=lanes,
        pcie_max_width=lanes,
        numa=0,
        leaf=rail.leaf or f"leaf of {rail.name}",
        lid=place.lid if layer == INFINIBAND else 0,
        address=address,
        gids=gids.table(layer, guid, address, next(iter(netdevs), None), adapter.gid_kinds),
        lossless=tuple(roce.lossless) if roce else (),
        priorities=_priorities(roce),
        pkeys=_pkeys(rail.profile),
        network=place.network,
        **_class(roce),
        gpu=_pci(rail.gpu) if rail.gpu and ":" in rail.gpu else "",
        edge=_edge(roce),
        gpu_api=(rail.profile.gpu_memory or "cuda").partition("_")[0],
    )


def _address(place: Place) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return place.network[place.host]
    except IndexError:
        raise ConfigError(
            f"rails: network {place.network}: expected room for {place.host} ports"
        ) from None


def _priorities(roce: config.Roce | None) -> dict[int, int]:
    if roce is None or roce.dscp is None or roce.class_priority is None:
        return {}
    return {roce.dscp: roce.class_priority}


def _pkeys(profile: config.Profile) -> tuple[int, ...]:
    """Return the partitions of a port: everybody's, and the declared one."""
    declared = profile.infiniband and profile.infiniband.partition
    return tuple(dict.fromkeys((0xFFFF, int(declared, 16)))) if declared else (0xFFFF,)


def _class(roce: config.Roce | None) -> Class:
    """Return how a port is set up where that is declared; what is not keeps the usual values."""
    found: Class = {}
    if roce is None:
        return found
    if roce.trust is not None:
        found["trust"] = roce.trust
        found["is_tagged"] = roce.trust == "pcp"
    if roce.ecn is False:
        found["ecn"] = frozenset()
    if roce.cnp is not None:
        priority = roce.cnp.priority
        found["cnp"] = (roce.cnp.dscp, roce.cnp.dscp >> 3 if priority is None else priority)
    return found


def _edge(roce: config.Roce | None) -> Leaf:
    """Return how the leaf treats the class: as declared; it marks what is lossless, or RDMA."""
    if roce is None:
        return ALONE
    lossless = tuple(roce.lossless)
    own = () if roce.class_priority is None else (roce.class_priority,)
    return Leaf(lossless=lossless, marks=() if roce.ecn is False else lossless or own)


def _speed(profile: config.Profile) -> float:
    return profile.link.speed.number if profile.link.speed else SPEED_BPS


def _adapter(node: str, profile: config.Profile, cluster: config.Cluster) -> Adapter:
    name = cluster.lab.adapters.get(node)
    adapter = adapters.chosen(name, _speed(profile), str(cluster.source))
    if name is not None and profile.link.layer == INFINIBAND:
        raise ConfigError(f"{cluster.source}: lab.adapters: {name} is no card of {INFINIBAND}")
    for psid, firmware in profile.firmware.items():
        return replace(adapter, psid=psid, firmware=firmware)
    return adapter


def _pcie(profile: config.Profile, speed: float) -> tuple[float, int]:
    _, transfers, lanes = next(slot for slot in SLOTS if speed >= slot[0])
    pcie = profile.pcie
    if pcie is None:
        return transfers, lanes
    return pcie.speed.number if pcie.speed else transfers, pcie.width or lanes


def _pci(value: str) -> str:
    """Return a PCI address with its domain, as the kernel writes it."""
    return value.lower() if value.count(":") == 2 else f"0000:{value.lower()}"


def _netdev(selector: config.Selector, pci: str, layer: str) -> str:
    """Name a network device as systemd names it after its slot: `enp26s0np0`, `ibp26s0`."""
    if selector.kind == "netdev":
        return selector.value
    domain, bus, rest = pci.split(":")
    slot, function = rest.split(".")
    domains = f"P{int(domain, 16)}" if int(domain, 16) else ""
    functions = f"f{function}" if function != "0" else ""
    kind, ending = ("en", "np0") if layer == ETHERNET else ("ib", "")
    return f"{kind}{domains}p{int(bus, 16)}s{int(slot, 16)}{functions}{ending}"
