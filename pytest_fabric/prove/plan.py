"""Which faults go where, and which tests run there: pure planning of the waves of a proof.

A wave is one run of some tests against one lab with many faults. A cell is a few nodes of it with
leaves of their own, so that what is wrong in one cell touches no other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pytest_fabric.prove.catalogue import Fault

#: Kinds of tests by what they measure. Those first that wait long: for tools that hang.
GROUPS = ("reach", "bandwidth", "latency", "together", "facts")

RAILS = ("rail0", "rail1")

#: Nodes of a cell: a ring of three tells which end of a pair is at fault, in both directions.
RING = 3

#: Nodes without a fault beside those of the cells, where no pair has two healthy ends.
HEALTHY = 2


@dataclass(frozen=True)
class Check:
    """A test function to be proven: its id without targets, and the faults that it must catch."""

    id: str
    faults: tuple[str, ...]
    group: str

    @property
    def name(self) -> str:
        """Return the name of the function."""
        return self.id.rpartition("::")[2]


@dataclass(frozen=True)
class Injection:
    """A fault at a place; its effect may show at `ports` and `nodes`, and name these or `names`."""

    fault: str
    place: str
    ports: frozenset[str]
    nodes: frozenset[str]
    names: frozenset[str]
    is_everywhere: bool = False


@dataclass(frozen=True)
class Wave:
    """One run: `nodes` are in order with the cell of each, `checks` are ids of functions."""

    name: str
    layer: str
    group: str
    nodes: tuple[tuple[str, int], ...]
    injections: tuple[Injection, ...]
    checks: tuple[str, ...]
    rails: tuple[str, ...] = RAILS

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs to measure: a ring on each rail of each cell."""
        cells: dict[int, list[str]] = {}
        for node, cell in self.nodes:
            cells.setdefault(cell, []).append(node)
        return tuple(
            (f"{one}:{rail}", f"{other}:{rail}")
            for nodes in cells.values()
            if len(nodes) > 1
            for rail in self.rails
            for one, other in zip(nodes, [*nodes[1:], nodes[0]], strict=True)
        )


def leaf(cell: int, rail: str) -> str:
    """Return the name of the leaf that a rail of a cell is on."""
    return f"leaf-{cell}-{rail}"


@dataclass
class _Ground:
    """The nodes of a wave while they are given away."""

    size: int
    is_together: bool = False
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

    Faults of which a cell cannot hold the effect, and those named in `alone`, have a wave each.
    """
    by_name = {fault.name: fault for fault in faults}
    single = set(alone)
    for group in GROUPS:
        members = [check for check in checks if check.group == group]
        declared = dict.fromkeys(name for check in members for name in check.faults)
        wanted = [by_name[name] for name in declared if name in by_name]
        for kind in dict.fromkeys((layer, *(_layer(fault, layer) for fault in wanted))):
            here = [fault for fault in wanted if _layer(fault, layer) == kind]
            apart = [fault for fault in here if fault.spread == "fabric" or fault.name in single]
            shared = [fault for fault in here if fault not in apart]
            if shared:
                yield _wave(group, kind, shared, members)
            for fault in apart:
                yield _wave(f"{group}, {fault.name}", kind, [fault], _catchers(members, fault))


def _layer(fault: Fault, usual: str) -> str:
    return usual if usual in fault.layers else fault.layers[0]


def _catchers(checks: Sequence[Check], fault: Fault) -> list[Check]:
    return [check for check in checks if fault.name in check.faults]


def _wave(name: str, layer: str, faults: Sequence[Fault], checks: Sequence[Check]) -> Wave:
    group = name.partition(",")[0]
    ground = _Ground(1 if group == "facts" else RING, is_together=group == "together")
    injections = tuple(_inject(fault, ground) for fault in faults)
    if group == "facts":
        ground.cell(HEALTHY)
    ids = tuple(check.id for check in checks)
    return Wave(name, layer, group, tuple(ground.nodes), injections, ids)


def _inject(fault: Fault, ground: _Ground) -> Injection:
    """Give a fault a place: a rail of a cell that it shares, or a cell of its own."""
    is_port = "port" in fault.places
    if is_port and fault.spread == "place" and not ground.is_together:
        nodes, cell, rail = _rail(ground)
    else:
        size = max(ground.size, 2) if fault.spread in ("next", "leaf", "fabric") else ground.size
        nodes, cell = ground.cell(size)
        rail = RAILS[0]
    # On the second rail it is another node, so that no node of a ring has two faults.
    node = nodes[RAILS.index(rail) % len(nodes)]
    port = f"{node}:{rail}"
    place = port if is_port else _place(fault, node, rail, leaf(cell, rail))
    ports, seen = _effect(fault, node, port, nodes, is_port)
    if ground.is_together:
        seen.add(node)  # what all ports of a node carry is told of the node
    names = {place, *ports, *seen}
    if fault.spread == "leaf":
        names.add(leaf(cell, rail))
    return Injection(
        fault.name,
        place,
        frozenset(ports),
        frozenset(seen),
        frozenset(names),
        is_everywhere=fault.spread == "fabric",
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
