"""What several nodes say of one topic, and what one of them says of the whole fabric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from pytest_fabric.declare import FABRIC
from pytest_fabric.errors import FabricError, MissingValueError
from pytest_fabric.results import Fact, Reading

#: By target, then by metric.
Facts = dict[str, Mapping[str, Fact]]


class Readings(Protocol):
    """Where readings come from."""

    def reading(self, topic: str, node: str) -> Reading:
        """Return what a node says about a topic. Raises TransportError, MeasurementError."""


def of_all(source: Readings, topic: str, nodes: Iterable[str]) -> Facts:
    """Return what all nodes say. Raises what the first of them raises."""
    facts: Facts = {}
    for node in nodes:
        facts.update(source.reading(topic, node).facts)
    return facts


def of_some(
    source: Readings, topic: str, nodes: Iterable[str]
) -> tuple[Facts, dict[str, FabricError]]:
    """Return what those nodes say that answer, and why the others do not, by their names."""
    facts: Facts = {}
    unheard: dict[str, FabricError] = {}
    for node in nodes:
        try:
            facts.update(source.reading(topic, node).facts)
        except FabricError as error:
            unheard[node] = error
    return facts, unheard


def from_vantage(source: Readings, topic: str, nodes: Iterable[str]) -> Mapping[str, Fact]:
    """Return what the first node says of the fabric that says anything of it.

    Where none does, the problems of the first. Raises what it raised where none answers.
    """
    first: Mapping[str, Fact] = {}
    problem: FabricError | None = None
    for node in nodes:
        try:
            facts = source.reading(topic, node).facts.get(FABRIC, {})
        except FabricError as error:
            problem = problem or error
            continue
        if any(fact.value is not None for fact in facts.values()):
            return facts
        first = first or facts
    if not first:
        raise problem or MissingValueError(f"{topic}: expected a node to ask, found none")
    return first
