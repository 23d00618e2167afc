"""Where a tool runs: GID, core and control address of each end, chosen from facts."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

from pytest_fabric.config import Rail
from pytest_fabric.errors import MeasurementError
from pytest_fabric.results import Gid, NodeFacts, RdmaPort
from pytest_fabric.tools.sysfs import cpu_list


def choose_gid(target: str, rail: Rail, port: RdmaPort) -> Gid | None:
    """Return the GID for RoCE: right version, in the rail's network; None on InfiniBand.

    A port of neither layer (EFA) has one that is link-local, and is measured with it.

    Raises MeasurementError (`gid`) when there is none, or when several fit and the rail declares no
    network that would tell them apart.
    """
    if port.link_layer not in ("Ethernet", "InfiniBand") and port.gids:
        return port.gids[0]
    if port.link_layer != "Ethernet":
        return None  # -x would turn on global routing there
    version = rail.profile.roce.version if rail.profile.roce else 2
    kind = "RoCE v2" if version == 2 else "IB/RoCE v1"
    typed = [gid for gid in port.gids if gid.type == kind]
    routable = [gid for gid in typed if not _ipv6(gid.address).is_link_local]
    fitting = [gid for gid in routable if rail.network is None or _address(gid) in rail.network]
    where = f"in {rail.network}" if rail.network else "that is not link-local"
    if not fitting:
        raise MeasurementError(
            target,
            "gid",
            f"expected a {kind} GID {where} on {port.device}, found {_shown(port.gids)}: check the "
            f"address of {' '.join(port.netdevs) or 'its netdev'}",
        )
    if len({gid.address for gid in fitting}) > 1:
        raise MeasurementError(
            target,
            "gid",
            f"expected one {kind} GID {where} on {port.device}, found {_shown(fitting)}: declare "
            "the rail's network",
        )
    if rail.network is None and _address(fitting[0]).version == 6:
        raise MeasurementError(
            target,
            "gid",
            f"expected the network of a rail of IPv6 to be declared, found {_shown(fitting)}: its "
            "headers are larger, and shares of the payload rate refer to what is declared",
        )
    return fitting[0]


@lru_cache(maxsize=4096)
def _ipv6(text: str) -> ipaddress.IPv6Address:
    return ipaddress.IPv6Address(text)


def _address(gid: Gid) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    address = _ipv6(gid.address)
    return address.ipv4_mapped or address


def _shown(gids: Iterable[Gid]) -> str:
    return ", ".join(f"{gid.index}: {_address(gid)} {gid.type}" for gid in gids) or "none"


def gid_address(gid: Gid) -> str:
    """Return the IP address that a GID stands for."""
    return str(_address(gid))


def control_address(target: str, oob: str, management: str, gid: Gid | None) -> str:
    """Return where perftest's TCP handshake goes: `mgmt`, `rail`, or `auto`.

    `auto` takes the management address, unless that is a loopback address (a port forward, or the
    lab), which no other node can reach. Raises MeasurementError for a rail without an address.
    """
    if gid is not None and _ipv6(gid.address).is_link_local:
        gid = None
    if gid is None and oob == "rail":
        raise MeasurementError(
            target,
            "address",
            "expected oob: mgmt, found rail: a port of InfiniBand or EFA has no address",
        )
    if gid is None or oob == "mgmt":
        return management
    if oob == "rail" or _is_loopback(management):
        return gid_address(gid)
    return management


@lru_cache(maxsize=4096)  # asked for at each measurement of a node
def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def choose_cores(facts: NodeFacts, port: RdmaPort, turn: int, count: int) -> tuple[int, ...]:
    """Return up to `count` cores for the threads of a tool, chosen as `choose_core` does; those of
    another `turn` are others as long as there are enough.
    """
    found = (choose_core(facts, port, turn * count + place) for place in range(count))
    return tuple(sorted({core for core in found if core is not None}))


def choose_core(facts: NodeFacts, port: RdmaPort, turn: int) -> int | None:
    """Return the core for a tool: local to the NIC, not core 0 nor its sibling, not one that serves
    the NIC's interrupts, another one for each `turn`; None when the node has a single core.

    Wishes that cannot be met are given up from the last to the first.
    """
    allowed = set(facts.allowed_cpus)
    if len(allowed) < 2:
        return None
    local = set(cpu_list(port.local_cpus or "")) & allowed or allowed
    quiet = local - {0, *facts.siblings.get(0, ())}
    best = quiet - set(port.irq_cpus)
    cores = sorted(best or quiet or local)
    first_threads = [core for core in cores if min(facts.siblings.get(core, (core,))) == core]
    chosen = first_threads or cores
    return chosen[turn % len(chosen)]
