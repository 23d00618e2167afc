"""The GID of a port, an override of its class, the MTU and the subnet of its network devices."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_fabric.errors import MeasurementError, NotRecognisedError
from pytest_fabric.measure import placement
from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics import heard
from pytest_fabric.measure.topics.heard import Outcomes
from pytest_fabric.results import Fact, Gid, RdmaPort
from pytest_fabric.tools import sysfs
from pytest_fabric.tools.printable import printable

ROUTES = "/proc/net/route"
ARP = "/proc/sys/net/ipv4/conf"
GUARDS = ("arp_ignore", "arp_announce")
TITLE = ("Iface", "Destination", "Gateway", "Flags", "RefCnt", "Use", "Metric", "Mask")

#: Addresses that hosts give themselves, in both orders of bytes: some systems route them on every
#: interface, which says nothing about the fabric.
SELF_GIVEN = (0x0000FEA9, 0xA9FE0000)

VERSIONS = {"RoCE v2": 2, "IB/RoCE v1": 1}


def interfaces(rdma: RdmaPort) -> tuple[str, ...]:
    """Return the network devices of a port, and those on top of them that its GIDs are on."""
    return tuple(dict.fromkeys((*rdma.netdevs, *(gid.netdev for gid in rdma.gids if gid.netdev))))


def tos_file(rdma: RdmaPort) -> str:
    """Return where the default type of service of connections stands, once somebody asked."""
    return f"/sys/kernel/config/rdma_cm/{rdma.device}/ports/{rdma.number}/default_roce_tos"


def facts(end: End, names: Sequence[str], tree: Mapping[str, str]) -> dict[str, Fact]:
    """Return what a port says; `names` are its interfaces."""
    gid, version = _gid(end)
    return {
        "roce.gid_version": version,
        "roce.gid_index": _index(gid, version),
        "roce.gid_netdev": _gid_netdev(gid, version),
        "roce.traffic_class_override": _override(end),
        "roce.cma_tos": _tos(end.rdma, tree),
        "roce.netdev_mtu": _mtu(names, tree),
    }


def _gid(end: End) -> tuple[Gid | None, Fact]:
    """Return the GID that measurements use, and its version; else what is there in its place."""
    try:
        gid = end.gid
    except MeasurementError as error:
        other = [gid for gid in end.rdma.gids if _is_there(end, gid)]
        versions = {VERSIONS.get(gid.type) for gid in other}
        wanted = end.rail.profile.roce.version if end.rail.profile.roce else 2
        known = versions - {None, wanted}
        if len(versions) == len(known) == 1:
            detail = tuple(f"GID {g.index}: {placement.gid_address(g)} {g.type}" for g in other)
            return None, Fact(known.pop(), detail=detail)
        return None, Fact(None, printable(error.told))
    if gid is None:
        return None, Fact(None, "InfiniBand has no RoCE version: see not_available")
    detail = (f"GID {gid.index}: {placement.gid_address(gid)} {gid.type} on {gid.netdev}",)
    return gid, Fact(VERSIONS[gid.type], detail=detail)


def _index(gid: Gid | None, version: Fact) -> Fact:
    """Return where in its table the GID stands; what it is instead is told by its version."""
    if gid is None:
        return Fact(None, inapplicable="no GID of the declared version: see roce.gid_version")
    return Fact(gid.index, detail=version.detail)


def _is_there(end: End, gid: Gid) -> bool:
    """Return whether a GID of any version is an address of the rail."""
    address = ipaddress.ip_address(placement.gid_address(gid))
    network = end.rail.network
    return address in network if network is not None else not address.is_link_local


def _gid_netdev(gid: Gid | None, version: Fact) -> Fact:
    if gid is None:
        return Fact(None, version.problem or "the port has no GID of the declared version")
    if not gid.netdev:
        return Fact(None, f"the kernel does not say on which network device GID {gid.index} is")
    return Fact(printable(gid.netdev), detail=version.detail)


def _override(end: End) -> Fact:
    """Return how many overrides send RDMA in another DSCP than the declared one.

    Kernels without such a file have no override.
    """
    roce, forced = end.rail.profile.roce, end.rdma.traffic_class
    if forced is None or forced < 0:
        return Fact(0, detail=(f"{end.rdma.device}: no global traffic class is set",))
    detail = (f"{end.rdma.device}: global traffic class {forced}, DSCP {forced >> 2}",)
    if roce is None or roce.dscp is None:
        return Fact(None, f"{detail[0]}; the profile declares no DSCP: add roce.dscp")
    return Fact(int(forced >> 2 != roce.dscp), detail=detail)


def _tos(rdma: RdmaPort, tree: Mapping[str, str]) -> Fact:
    text = tree.get(tos_file(rdma), "")
    if not re.fullmatch(r"[0-9]{1,3}", text, re.A):
        return Fact(None, f"{rdma.device} has no {tos_file(rdma)}: nobody has set one up there")
    return Fact(int(text))


def _mtu(names: Sequence[str], tree: Mapping[str, str]) -> Fact:
    """Return the least MTU of a port's interfaces, in bytes."""
    texts = {name: tree.get(f"{sysfs.NET}/{name}/mtu", "") for name in names}
    hidden = [name for name, text in texts.items() if not re.fullmatch(r"[0-9]{2,6}", text, re.A)]
    if hidden or not texts:
        shown = " ".join(hidden) or "the port, which has no network device"
        return Fact(None, f"the node says no MTU of {shown}: check that it is there")
    detail = tuple(f"{name}: MTU {text}" for name, text in texts.items())
    return Fact(min(int(text) for text in texts.values()), detail=detail)


@dataclass(frozen=True)
class Subnet:
    """A network that an interface is in: address and mask in the kernel's order of bytes."""

    interface: str
    address: int
    mask: int

    def overlaps(self, other: Subnet) -> bool:
        """Return whether both hold an address."""
        return (self.address ^ other.address) & self.mask & other.mask == 0

    def __str__(self) -> str:
        address, mask = (
            ipaddress.IPv4Address(number.to_bytes(4, "little"))
            for number in (self.address, self.mask)
        )
        return f"{address}/{bin(int(mask)).count('1')}"


def subnets(ends: Sequence[End], outcomes: Outcomes) -> dict[str, Fact]:
    """Return for each port with how many others of its node it shares a subnet unguarded.

    An interface answers for its own address only where arp_ignore and arp_announce are set, of it
    or of all: else replies come from the other NIC, and traffic with them.
    """
    known = heard.heard(outcomes, "route", ROUTES, lambda text: list(_subnets(text)))
    if known.value is None:
        return {str(end.port): known.nothing for end in ends}
    guards = heard.tree(outcomes, "arp")
    return {str(end.port): _sharing(end, ends, known.value, guards) for end in ends}


def _subnets(text: str) -> Iterator[Subnet]:
    """Yield the networks of the routing table. Raises NotRecognisedError for any other text."""
    lines = [line.split() for line in text.splitlines()]
    if not lines or tuple(lines[0][: len(TITLE)]) != TITLE or not text.endswith("\n"):
        raise NotRecognisedError("expected the kernel's routing table, found none")
    for words in filter(None, lines[1:]):
        if len(words) < len(TITLE) or not all(
            re.fullmatch(r"[0-9A-F]{8}", words[place]) for place in (1, 2, 7)
        ):
            raise NotRecognisedError("expected a route in each line, found something else")
        address, gateway, mask = (int(words[place], 16) for place in (1, 2, 7))
        if gateway == 0 and mask not in (0, 0xFFFFFFFF) and address not in SELF_GIVEN:
            yield Subnet(words[0], address, mask)


def _sharing(
    end: End, ends: Sequence[End], known: Sequence[Subnet], guards: Mapping[str, str]
) -> Fact:
    mine = _of(end, known)
    detail: list[str] = []
    for other in ends:
        met = [(a, b) for a in mine for b in _of(other, known) if a.overlaps(b)]
        if other is end or not met:
            continue
        here, there = met[0]
        both = [_guarded(one.interface, guards) for one in met[0]]
        if None in both:
            shown = f"{here.interface} and {there.interface} share {here}"
            return Fact(None, f"{shown}, and {ARP} says no {' or '.join(GUARDS)}: check /proc")
        if not all(both):
            detail.append(
                f"{here.interface} and {there.interface} of {other.port.rail} share {here}: set "
                "arp_ignore=1 and arp_announce=2, or give each rail its own subnet"
            )
    return Fact(len(detail), detail=tuple(detail))


def _of(end: End, known: Sequence[Subnet]) -> list[Subnet]:
    names = set(interfaces(end.rdma))
    return [subnet for subnet in known if subnet.interface in names]


def _guarded(interface: str, guards: Mapping[str, str]) -> bool | None:
    """Return whether an interface answers ARP for its own address only; the larger value counts."""
    for name in GUARDS:
        texts = [guards.get(f"{ARP}/{one}/{name}", "") for one in ("all", interface)]
        if not all(re.fullmatch(r"[0-9]", text, re.A) for text in texts):
            return None
        if max(map(int, texts)) == 0:
            return False
    return True


def networks(rdma: RdmaPort, text: str) -> list[ipaddress.IPv4Network]:
    """Return the networks that the kernel's routing table has for a port's interfaces.

    Raises NotRecognisedError for a text that is no routing table.
    """
    names = set(interfaces(rdma))
    return [ipaddress.ip_network(str(one)) for one in _subnets(text) if one.interface in names]  # type: ignore[misc]
