"""One wave of a proof: its nodes and leaves, the faults that it has, and its pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

RAILS = ("rail0", "rail1")


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
    """One run: `nodes` are in order with the cell of each, `checks` are ids of functions.

    `targets` are the only ones that checks are run for, all where there are none. `routing` is that
    of the fabric where it is not the user's. With `bonds` each port has two network devices.
    """

    name: str
    layer: str
    group: str
    nodes: tuple[tuple[str, int], ...]
    injections: tuple[Injection, ...]
    checks: tuple[str, ...]
    rails: tuple[str, ...] = RAILS
    targets: tuple[str, ...] = ()
    routing: str | None = None
    bonds: bool = False

    def leaf(self, node: str, cell: int, rail: str) -> str:
        """Return the name of the leaf that a port is on."""
        return leaf(node if self.targets else cell, rail)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs to measure: a ring on each rail of each cell."""
        cells: dict[int, list[str]] = {}
        for node, cell in self.nodes:
            cells.setdefault(cell, []).append(node)
        if self.group == "across":
            return tuple(self._across([*cells.values()]))
        return tuple(
            (f"{one}:{rail}", f"{other}:{rail}")
            for nodes in cells.values()
            if len(nodes) > 1
            for rail in self.rails
            for one, other in zip(nodes, [*nodes[1:], nodes[0]], strict=True)
        )

    def _across(self, cells: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
        """Yield a pair on each leaf, and one between any two leaves, on each rail.

        The nodes of a leaf take turns.
        """
        for rail in self.rails:
            for number, nodes in enumerate(cells):
                yield f"{nodes[0]}:{rail}", f"{nodes[1]}:{rail}"
                for place, others in enumerate(cells[number + 1 :]):
                    one, other = nodes[place % 2], others[number % 2]
                    yield f"{one}:{rail}", f"{other}:{rail}"


def leaf(owner: int | str, rail: str) -> str:
    """Return the name of the leaf that a rail of a cell, or of a node, is on."""
    return f"leaf-{owner}-{rail}"
