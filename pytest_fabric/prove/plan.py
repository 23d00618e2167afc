"""Which faults go where, and which tests run there: pure planning of the waves of a proof.

A wave is one run of some tests against one lab with many faults. A cell is a few nodes of it with
leaves of their own, so that what is wrong in one cell touches no other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from pytest_fabric.prove.catalogue import Fault
from pytest_fabric.prove.wave import RAILS as RAILS
from pytest_fabric.prove.wave import Injection as Injection
from pytest_fabric.prove.wave import Wave as Wave
from pytest_fabric.prove.wave import leaf as leaf

#: Kinds of tests by what they measure. Those first that wait long: for tools that hang.
GROUPS = (
    *("reach", "bandwidth", "latency"),
    *("node", "incast", "wide incast", "bisection", "across", "soak", "collective", "facts"),
)

#: Those whose pairs run at the same moment.
TOGETHER = ("node", "incast", "wide incast", "bisection")

#: Those with a receiver: where its leaf is its own, its senders are the nodes behind it.
INCASTS = ("incast", "wide incast")

#: Nodes of a cell: a ring of three tells which end of a pair is at fault, in both directions.
RING = 3

#: Nodes of each side of a bisection, and sides beside the one with a fault: one gets its traffic,
#: and the other two show what is usual.
SIDE, OTHERS = 2, 3

#: Leaves of what is seen of all pairs at once: 15 pairs of leaves, of which 10 are without one.
LEAVES = 6

#: Nodes without a fault beside those of the cells, where no pair has two healthy ends.
HEALTHY = 2


@dataclass(frozen=True)
class Check:
    """A test function to be proven: its id without targets, and the faults that it must catch.

    `nodes` are those that a measurement of it takes.
    """

    id: str
    faults: tuple[str, ...]
    group: str
    nodes: int = 1

    @property
    def name(self) -> str:
        """Return the name of the function."""
        return self.id.rpartition("::")[2]


@dataclass
class _Ground:
    """The nodes of a wave while they are given away."""

    group: str
    size: int
    nodes: list[tuple[str, int]] = field(default_factory=list)
    cells: int = 0
    half: tuple[list[str], int] | None = None

    def cell(self, size: int) -> tuple[list[str], int]:
        """Return the nodes and the number of a new cell."""
        self.cells += 1
        first = len(self.nodes) + 1
        names = [f"gpu{number:03}" for number in range(first, first + size)]
        self.nodes.extend((name, self.cells) for name in names)
        return names, self.cells


def waves(
    faults: Sequence[Fault], checks: Sequence[Check], layer: str, alone: Iterable[str] = ()
) -> Iterator[Wave]:
    """Yield the waves that prove checks: `layer` is the usual one, for faults of both layers.

    Faults of which a cell cannot hold the effect, and those named in `alone`, have a wave each. A
    check that would only be seen where everything may be red has a wave without a fault besides:
    one that always fails is told apart there.
    """
    found = list(_faulty(faults, checks, layer, alone))
    yield from found
    bounded = {
        check
        for wave in found
        if not all(injection.is_everywhere for injection in wave.injections)
        for check in wave.checks
    }
    for wave in found:
        left = tuple(check for check in wave.checks if check not in bounded)
        if left:
            bounded |= {*left}
            yield replace(wave, name=f"{wave.group}, no fault", injections=(), checks=left)


def _faulty(
    faults: Sequence[Fault], checks: Sequence[Check], layer: str, alone: Iterable[str]
) -> Iterator[Wave]:
    """Yield the waves that have faults."""
    by_name = {fault.name: fault for fault in faults}
    single = set(alone)
    for group in GROUPS:
        members = [check for check in checks if check.group == group]
        declared = dict.fromkeys(name for check in members for name in check.faults)
        wanted = [by_name[name] for name in declared if name in by_name]
        of_bonds = [fault for fault in wanted if fault.of_bonds]
        if of_bonds:
            name, kind = f"{group}, bonds", of_bonds[0].layers[0]
            yield replace(_wave(name, kind, of_bonds, members), bonds=True)
            wanted = [fault for fault in wanted if not fault.of_bonds]
        for kind in dict.fromkeys((layer, *(_layer(fault, layer) for fault in wanted))):
            here = [fault for fault in wanted if _layer(fault, layer) == kind]
            apart = [fault for fault in here if _is_apart(fault, group) or fault.name in single]
            leaves = [fault for fault in here if group in INCASTS and "leaf" in fault.places]
            shared = [fault for fault in here if fault not in (*apart, *leaves)]
            if leaves:
                yield _leaves(f"{group}, leaves", kind, leaves, members)
            if shared:
                yield _wave(group, kind, shared, _asked(members, shared, kind, layer))
            for fault in apart:
                yield _wave(f"{group}, {fault.name}", kind, [fault], _catchers(members, fault))


def _asked(
    members: Sequence[Check], faults: Sequence[Fault], kind: str, usual: str
) -> Sequence[Check]:
    """Return the checks of a wave: all, or where traffic of another layer costs time, catchers."""
    if kind == usual or members[0].group == "facts":
        return members
    names = {fault.name for fault in faults}
    return [check for check in members if names & set(check.faults)]


def _is_apart(fault: Fault, group: str) -> bool:
    """Return whether a fault has a wave for itself: it shows everywhere, or in a single value."""
    return fault.spread == "fabric" or group in ("bisection", "across", "collective")


def _layer(fault: Fault, usual: str) -> str:
    return usual if usual in fault.layers else fault.layers[0]


def _catchers(checks: Sequence[Check], fault: Fault) -> list[Check]:
    return [check for check in checks if fault.name in check.faults]


def _wave(name: str, layer: str, faults: Sequence[Fault], checks: Sequence[Check]) -> Wave:
    group = name.partition(",")[0]
    needed = max((check.nodes for check in checks), default=1)
    usual = {"facts": 1, "bisection": SIDE, "across": SIDE, "soak": SIDE}.get(group, RING)
    ground = _Ground(group, max(usual, needed))
    injections = tuple(_inject(fault, ground) for fault in faults)
    if group == "facts":
        ground.cell(HEALTHY)
    if group == "bisection":
        for _ in range(OTHERS):
            ground.cell(SIDE)
    if group == "across":
        for _ in range(LEAVES - len(faults)):
            ground.cell(SIDE)
    targets = _receivers(ground) if group in INCASTS else ()
    is_single = group in (*INCASTS, "bisection")
    return Wave(
        name,
        layer,
        group,
        tuple(ground.nodes),
        injections,
        tuple(check.id for check in checks),
        rails=RAILS[:1] if is_single else RAILS,
        targets=targets,
        routing=_routing(faults, group),
    )


def _leaves(name: str, layer: str, faults: Sequence[Fault], checks: Sequence[Check]) -> Wave:
    """Return the wave of what leaves do to incasts: each is the only one of a rail, one is sound.

    A receiver and its senders are then on the same leaf, and nobody else has congestion.
    """
    ground = _Ground(name.partition(",")[0], 1)
    nodes, cell = ground.cell(max(RING, *(check.nodes for check in checks)))
    rails = tuple(f"rail{number}" for number in range(len(faults) + 1))
    injections = []
    for fault, rail in zip(faults, rails, strict=False):
        place, ports = leaf(cell, rail), {f"{node}:{rail}" for node in nodes}
        names = frozenset({place, *ports})
        injections.append(Injection(fault.name, place, frozenset(ports), frozenset(), names))
    ids = tuple(check.id for check in checks)
    return Wave(name, layer, ground.group, tuple(ground.nodes), tuple(injections), ids, rails)


def _receivers(ground: _Ground) -> tuple[str, ...]:
    """Return the ports with faults, those that they send to, and one that meets no fault."""
    ground.cell(ground.size)
    cells: dict[int, list[str]] = {}
    for node, cell in ground.nodes:
        cells.setdefault(cell, []).append(f"{node}:{RAILS[0]}")
    *faulty, healthy = cells.values()
    return (*chain.from_iterable(ports[:2] for ports in faulty), healthy[0])


def _routing(faults: Sequence[Fault], group: str) -> str | None:
    """Return the routing that shows faults: one uplink of many is found where all carry alike.

    So is contention, which static hashing makes by chance too.
    """
    is_uplink = group == "bisection" and any("uplink" in fault.places for fault in faults)
    return "adaptive" if is_uplink or group == "across" else None


def _inject(fault: Fault, ground: _Ground) -> Injection:
    """Give a fault a place: a rail of a cell that it shares, or a cell of its own."""
    is_port = "port" in fault.places
    is_together = ground.group in TOGETHER
    if is_port and fault.spread == "place" and not is_together:
        nodes, cell, rail = _rail(ground)
    else:
        size = max(ground.size, 2) if fault.spread in ("next", "leaf", "fabric") else ground.size
        nodes, cell = ground.cell(size)
        rail = RAILS[0]
    # On the second rail it is another node, so that no node of a ring has two faults. The second
    # node of an incast's cell is a receiver, and the first sender of the one before it.
    number = 1 if ground.group in INCASTS else RAILS.index(rail)
    node = nodes[number % len(nodes)]
    port = f"{node}:{rail}"
    switch = leaf(node if ground.group in INCASTS else cell, rail)
    place = port if is_port else _place(fault, node, rail, switch)
    ports, seen = _effect(fault, node, port, nodes, is_port)
    if is_together:
        seen.add(node)  # what all ports of a node carry is told of the node
    names = {place, *ports, *seen}
    if fault.spread == "leaf":
        names.add(switch)
    return Injection(
        fault.name,
        place,
        frozenset(ports),
        frozenset(seen),
        frozenset(names),
        is_everywhere=fault.spread == "fabric" or ground.group == "collective",
    )


def _place(fault: Fault, node: str, rail: str, switch: str) -> str:
    """Return the place of a fault that is not one of a port."""
    known = {"leaf": switch, "uplink": f"{switch}/uplink0", "rail": rail}
    return next((known[kind] for kind in fault.places if kind in known), node)


def _rail(ground: _Ground) -> tuple[list[str], int, str]:
    """Return a rail that has no fault yet, on a cell where the other one may have one."""
    if ground.half is not None:
        nodes, cell = ground.half
        ground.half = None
        return nodes, cell, RAILS[1]
    ground.half = nodes, cell = ground.cell(ground.size)
    return nodes, cell, RAILS[0]


def _effect(
    fault: Fault, node: str, port: str, nodes: Sequence[str], is_port: bool
) -> tuple[set[str], set[str]]:
    """Return the ports and the nodes at which a fault may show."""
    rail = port.partition(":")[2]
    if fault.spread in ("next", "leaf"):
        return {f"{name}:{rail}" for name in nodes}, set()
    if fault.spread == "node" or not is_port:
        return {f"{node}:{name}" for name in RAILS}, {node}
    return {port}, set()
