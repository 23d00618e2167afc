"""`ip [-br] addr|link|route [show] [dev DEVNAME]`, as iproute2 6.15 prints them for people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Node
from pytest_fabric.lab.netdevs import bond
from pytest_fabric.lab.process import Result

KNOWN = "ip [-br] addr|link|route [show] [dev DEVNAME]"

#: The management interface of every node, and where it is.
MANAGEMENT = "eno1"


@dataclass(frozen=True)
class Interface:
    """A network device with what its files say, and its addresses with their masks."""

    index: int
    name: str
    mtu: str
    is_up: bool
    mac: str
    addresses: tuple[str, ...]
    master: str = ""


def run(call: Call) -> Result:
    """Print interfaces, their addresses, or routes."""
    words = [word for word in call.argv[1:] if word not in ("-br", "-brief", "-c", "-d", "show")]
    match = re.fullmatch(
        r"(a(?:ddr(?:ess)?)?|l(?:ink)?|r(?:oute)?)(?: (?:dev )?(\S+))?", " ".join(words)
    )
    if match is None:
        return Result(255, stderr=f"ip: the lab answers only: {KNOWN}\n")
    kind, wanted = match[1][0], match[2]
    found = [one for one in _interfaces(call) if wanted in (None, one.name)]
    if not found:
        return Result(1, stderr=f'Device "{wanted}" does not exist.\n')
    if kind == "r":
        return Result(0, "".join(_routes(call.node, {one.name for one in found})))
    is_brief = "-br" in call.argv or "-brief" in call.argv
    return Result(0, "".join((_brief if is_brief else _long)(one, kind == "a") for one in found))


def _interfaces(call: Call) -> Iterator[Interface]:
    """Yield loopback, management, and the network devices of ports."""
    addresses = {name: (where,) for name, where in _addresses(call.node)}
    masters = {name: bond(p) for p in call.node.functions if p.is_bond for name in p.netdevs}
    known = [name for name in call.view.names("/sys/class/net") if name not in ("lo", MANAGEMENT)]
    yield Interface(1, "lo", "65536", True, "00:00:00:00:00:00", ("127.0.0.1/8",))
    for index, name in enumerate((MANAGEMENT, *known), start=2):
        base = f"/sys/class/net/{name}"
        mtu, state, mac = (
            _text(call, f"{base}/{file}") for file in ("mtu", "operstate", "address")
        )
        where = addresses.get(name, ())
        yield Interface(index, name, mtu, state == "up", mac, where, masters.get(name, ""))


def _text(call: Call, path: str) -> str:
    try:
        return call.view.read(path)
    except OSError:
        return ""


def _addresses(node: Node) -> Iterator[tuple[str, str]]:
    for port in node.ports:
        if port.netdevs and port.network is not None:
            name = bond(port) if port.is_bond else port.netdevs[0]
            yield name, f"{port.address}/{port.network.prefixlen}"


def _brief(one: Interface, with_addresses: bool) -> str:
    state = "UNKNOWN" if one.name == "lo" else "UP" if one.is_up else "DOWN"
    rest = " ".join(one.addresses) if with_addresses else one.mac
    return f"{one.name:<16} {state:<14} {rest} \n"


def _long(one: Interface, with_addresses: bool) -> str:
    is_lo = one.name == "lo"
    flags = "LOOPBACK,UP,LOWER_UP" if is_lo else "BROADCAST,MULTICAST,UP"
    flags += ",LOWER_UP" if one.is_up and not is_lo else ""
    flags = f"NO-CARRIER,{flags}" if not one.is_up else flags
    state = "UNKNOWN" if is_lo else "UP" if one.is_up else "DOWN"
    master = f" master {one.master}" if one.master else ""
    kind, broadcast = ("loopback", one.mac) if is_lo else ("ether", "ff:ff:ff:ff:ff:ff")
    lines = [
        f"{one.index}: {one.name}: <{flags}> mtu {one.mtu} qdisc mq{master} state {state} "
        "group default qlen 1000",
        f"    link/{kind} {one.mac} brd {broadcast}",
    ]
    for address in one.addresses if with_addresses else ():
        family = "inet6" if ":" in address else "inet"
        lines.append(f"    {family} {address} scope {'host' if is_lo else 'global'} {one.name}")
        lines.append("       valid_lft forever preferred_lft forever")
    return "".join(f"{line}\n" for line in lines)


def _routes(node: Node, names: set[str]) -> Iterator[str]:
    for port in node.ports:
        if port.netdevs and port.network is not None:
            name = bond(port) if port.is_bond else port.netdevs[0]
            if name in names:
                yield f"{port.network} dev {name} proto kernel scope link src {port.address} \n"
