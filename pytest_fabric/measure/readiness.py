"""Whether a node is ready to be measured: what is missing, and what would mend it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pytest_fabric.config import Node, Profile
from pytest_fabric.counters import saturated
from pytest_fabric.errors import CounterError, FabricError, MeasurementError
from pytest_fabric.measure import facts, sudo, window
from pytest_fabric.measure.end import End
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.results import NodeFacts, Port
from pytest_fabric.transport import Job
from pytest_fabric.units import render

#: Memory that perftest registers beside its buffers: queues, and a page for each of them.
MEMLOCK_SPARE = 2 * 2**20


def problems(fabric: Fabric, node: Node) -> list[str]:
    """Return what keeps a node from being measured, one line each; nothing when it is ready."""
    try:
        found = fabric.facts(node.name)
        session = fabric.session(node.name)
        user = session.run(Job(("id", "-un"), deadline_s=10.0)).stdout.strip()
        return [
            *_missing_tools(node, found, fabric.cluster.tools.prefix),
            *_permissions(node, found, user),
            *_sudo(fabric, node),
            *_memlock(node, found, user),
            *_ports(fabric, node),
        ]
    except FabricError as error:
        return [str(error)]


def _missing_tools(node: Node, found: NodeFacts, prefix: tuple[str, ...]) -> Iterator[str]:
    packages: dict[str, list[str]] = defaultdict(list)
    for program, package in facts.PROGRAMS.items():
        is_needed = any(p.why_not_available(program) is None for p in _profiles(node))
        if is_needed and program not in found.tools and not (prefix and package == "perftest"):
            packages[package].append(program)
    if packages:
        missing = "; ".join(
            f"{', '.join(names)} (package {package})" for package, names in packages.items()
        )
        yield f"{node.name}: expected tools, missing {missing}: install them, or set tools.path"
    if prefix and found.perftest is None:
        yield f"{node.name}: expected perftest behind {' '.join(prefix)!r}, found none"


def _permissions(node: Node, found: NodeFacts, user: str) -> Iterator[str]:
    closed = [path for path, mode in found.uverbs.items() if mode != "rw"]
    if not found.uverbs or (closed and all("*" in path for path in closed)):
        yield (
            f"{node.name}: expected /dev/infiniband/uverbs*, found none: load the RDMA driver and "
            "ib_uverbs"
        )
    elif closed:
        yield (
            f"{node.name}: expected {user} to open {', '.join(closed)}, found no permission: add "
            "the user to the group that owns it (often rdma)"
        )


def _sudo(fabric: Fabric, node: Node) -> Iterator[str]:
    missing = [rule.command for rule in sudo.rules(fabric, node) if rule.is_missing]
    shown = ", ".join(missing[:4]) + (f" and {len(missing) - 4} more" if missing[4:] else "")
    if missing:
        yield (
            f"{node.name}: expected sudo without a password for {shown}, found none: "
            "add the lines that `pytest-fabric sudoers` prints, with visudo"
        )


def _profiles(node: Node) -> list[Profile]:
    return [node.profile, *(rail.profile for rail in node.rails.values())]


def _memlock(node: Node, found: NodeFacts, user: str) -> Iterator[str]:
    needed = MEMLOCK_SPARE + max(
        2 * int(profile.traffic.size.number) * profile.traffic.qps for profile in _profiles(node)
    )
    limit = found.memlock_bytes
    if limit is not None and limit < needed and user != "root":
        yield (
            f"{node.name}: expected {user} to lock {needed / 2**20:.0f} MiB of memory, found a "
            f"limit of {render(limit, 'B')}: raise memlock in /etc/security/limits.d, log in again"
        )


def _ports(fabric: Fabric, node: Node) -> Iterator[str]:
    for rail in node.rails:
        port = Port(node.name, rail)
        try:
            yield from _counters(fabric, fabric.end(port))
        except MeasurementError as error:
            yield str(error)
        except CounterError as error:
            yield f"{port}: {error}"


def _counters(fabric: Fabric, end: End) -> Iterator[str]:
    session = fabric.session(end.port.node)
    shot, _ = window.read(session, end.port, end.rdma, end.rail.profile.sudo)
    full = saturated(shot)
    if full:
        yield (
            f"{end.port}: expected counters that can grow, found {', '.join(full)} at their "
            f"maximum: clear them on the node, as with `perfquery -x` (not done from here)"
        )


def summary(fabric: Fabric, node: Node) -> str:
    """Return what a ready node is, in a line. Raises TransportError, MeasurementError."""
    found = fabric.facts(node.name)
    ports: Mapping[str, str] = {
        rail: fabric.end(Port(node.name, rail)).rdma.device for rail in node.rails
    }
    shown = ", ".join(f"{rail} {device}" for rail, device in ports.items())
    return f"{node.name}: ready; perftest {found.perftest}, kernel {found.kernel}; {shown}"
