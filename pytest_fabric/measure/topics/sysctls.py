"""Settings of the kernel that RDMA nodes need: buffers, NUMA balancing, answers to ARP."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_fabric.measure.topics.said import problem
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.results import Fact
from pytest_fabric.tools import sysfs
from pytest_fabric.transport import Glob
from pytest_fabric.transport.jobs import Word

SYS = "/proc/sys"
CONF = f"{SYS}/net/ipv4/conf"
ROUTES = "/proc/net/route"

#: Metric -> file. Of three numbers (least, usual, most) the last one counts.
NUMBERS = {
    "host.rmem_max": f"{SYS}/net/core/rmem_max",
    "host.wmem_max": f"{SYS}/net/core/wmem_max",
    "host.tcp_rmem_max": f"{SYS}/net/ipv4/tcp_rmem",
    "host.tcp_wmem_max": f"{SYS}/net/ipv4/tcp_wmem",
    "host.netdev_max_backlog": f"{SYS}/net/core/netdev_max_backlog",
    "host.numa_balancing": f"{SYS}/kernel/numa_balancing",
}

#: What the kernel obeys is the greater of a device's own setting and that of `all`
#: (Documentation/networking/ip-sysctl.rst).
PER_DEVICE = ("arp_ignore", "arp_announce", "rp_filter")
RP_FILTER = {0: "off", 1: "strict", 2: "loose"}

NUMBER = re.compile(r"[0-9]{1,19}")
ROUTE = re.compile(r"(\S+)\t([0-9A-F]{8})\t([0-9A-F]{8})\t(?:\S+\t){4}([0-9A-F]{8})\t.*")
ROUTE_TITLE = re.compile(r"Iface\tDestination\tGateway\s.*")

Device = Mapping[str, int]


def command() -> tuple[Word, ...]:
    """Return the command line that reads the settings."""
    per_device = (Glob(f"{CONF}/*/{name}") for name in PER_DEVICE)
    return ("grep", "-sH", ".", *NUMBERS.values(), *per_device)


def routes_command() -> tuple[Word, ...]:
    """Return the command line that shows which network each device is connected to."""
    return ("cat", ROUTES)


def numbers(tree: Mapping[str, str]) -> dict[str, Fact]:
    """Return the settings that the whole node has."""
    return {metric: _number(path, tree.get(path)) for metric, path in NUMBERS.items()}


def _number(path: str, text: str | None) -> Fact:
    words = (text or "").split()
    if text is None:
        return problem(f"{path} cannot be read (a kernel without it?)", "see not_available")
    if len(words) not in (1, 3) or not all(NUMBER.fullmatch(word) for word in words):
        return problem(f"expected a number in {path}, got {text[:40]!r}")
    return Fact(int(words[-1]), detail=(f"{path}: {' '.join(words)}",))


def devices(subject: Subject) -> tuple[str, ...]:
    """Return the network devices that carry the RDMA addresses of a node's declared ports."""
    found = {
        name
        for end in subject.ends
        for name in (*end.rdma.netdevs, *(gid.netdev for gid in end.rdma.gids))
        if name
    }
    return tuple(sorted(found))


def answers(subject: Subject, tree: Mapping[str, str], routes: str) -> dict[str, Fact]:
    """Return how the RDMA devices answer and announce, and how many do it for another one."""
    metrics = (*(f"host.{name}" for name in PER_DEVICE), "host.arp_flux")
    names = devices(subject)
    known = {name: device for name in names if (device := _effective(tree, name))}
    if subject.ends and not names:
        none = problem("no port has a network device", "see not_available")
        return {**dict.fromkeys(metrics, none), "host.arp_flux": Fact(0)}
    if not known:
        none = problem("no RDMA network device shows its settings of IPv4", "see not_available")
        return dict.fromkeys(metrics, none)
    words = sorted({RP_FILTER.get(device["rp_filter"], "unknown") for device in known.values()})
    return {
        "host.arp_ignore": _least(known, "arp_ignore"),
        "host.arp_announce": _least(known, "arp_announce"),
        "host.rp_filter": Fact("+".join(words), detail=_details(known, "rp_filter")),
        "host.arp_flux": _flux(known, routes),
    }


def _effective(tree: Mapping[str, str], name: str) -> Device:
    """Return the settings that a device obeys; nothing where one of them is not shown."""
    both = {
        setting: [tree.get(f"{CONF}/{place}/{setting}", "") for place in ("all", name)]
        for setting in PER_DEVICE
    }
    if not all(NUMBER.fullmatch(text) for texts in both.values() for text in texts):
        return {}
    return {setting: max(map(int, texts)) for setting, texts in both.items()}


def _least(known: Mapping[str, Device], setting: str) -> Fact:
    number = min(device[setting] for device in known.values())
    return Fact(number, detail=_details(known, setting))


def _details(known: Mapping[str, Device], setting: str) -> tuple[str, ...]:
    return tuple(f"{name}: {setting} {device[setting]}" for name, device in known.items())


def _flux(known: Mapping[str, Device], routes: str) -> Fact:
    """Return how many devices that share a network answer or announce for one another.

    With `arp_ignore` 0 each answers for all addresses of the node, with `arp_announce` below 2 it
    may name another's, and a strict `rp_filter` drops what comes in on the other one.
    """
    networks = _networks(routes)
    if networks is None:
        return problem(f"expected the routes of {ROUTES}, got {routes[:40]!r}")
    detail = []
    for name, device in known.items():
        beside = [
            other
            for other in known
            if other != name and networks.get(name, set()) & networks.get(other, set())
        ]
        wrong = [
            f"{setting}={device[setting]}"
            for setting, is_wrong in (
                ("arp_ignore", device["arp_ignore"] < 1),
                ("arp_announce", device["arp_announce"] < 2),
                ("rp_filter", device["rp_filter"] == 1),
            )
            if is_wrong
        ]
        if beside and wrong:
            detail.append(f"{name} shares its network with {', '.join(beside)}: {', '.join(wrong)}")
    return Fact(len(detail), detail=tuple(detail))


def _networks(text: str) -> dict[str, set[tuple[str, str]]] | None:
    """Return the networks that each device is connected to; None for a text that is no routes."""
    lines = text.splitlines()
    if not lines or not ROUTE_TITLE.fullmatch(lines[0].rstrip()):
        return None
    networks: dict[str, set[tuple[str, str]]] = {}
    for line in lines[1:]:
        match = ROUTE.fullmatch(line)
        if match is None:
            return None
        name, destination, gateway, mask = match.groups()
        if gateway == "00000000" and mask != "00000000":
            networks.setdefault(name, set()).add((destination, mask))
    return networks


def read(subject: Subject, settings: str, routes: str) -> dict[str, Fact]:
    """Return all settings that were asked for."""
    tree = sysfs.parse(settings)
    return {**numbers(tree), **answers(subject, tree, routes)}
