"""The switch end of a cable, against the host's end: one FEC, and the planned neighbour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_fabric.config import Cable
from pytest_fabric.errors import MissingValueError
from pytest_fabric.judge.topics import TopicResult
from pytest_fabric.judge.values import Value
from pytest_fabric.judge.wiring import is_at
from pytest_fabric.metrics import NOBODY
from pytest_fabric.results import Fact

FEC_DIFFERS = "switch.fec_differs"
MISPLACED = "switch.misplaced"

#: What ethtool calls no FEC: it depends on the driver.
NO_FEC = frozenset({"Off", "None"})


@dataclass(frozen=True)
class Host:
    """The host's end of a cable: the names of its node, its network devices, and its facts.

    `netdevs` and `facts`, of a topic, ask the node. Raise TransportError, MeasurementError.
    """

    names: frozenset[str]
    netdevs: Callable[[], frozenset[str]]
    facts: Callable[[str], Mapping[str, Fact]]


NOBODYS = Host(frozenset(), frozenset, lambda topic: {})


@dataclass(frozen=True)
class SwitchResult(TopicResult):
    """What a switch says of its end of a port's cable, beside the metrics of its topic.

    `fec_differs` is 0 where both ends have one FEC, `misplaced` 0 where the switch hears the
    planned port, and the port the planned switch.
    """

    cable: Cable | None = None
    host: Host = NOBODYS

    @property
    def fec_differs(self) -> Value:
        """Return 0 where both ends have the same FEC, else 1. Raises MissingValueError."""
        self.available(FEC_DIFFERS)
        self.available("link.fec")
        far = self.fec
        near = self.host.facts("link").get("link.fec", Fact(None, "it does not say"))
        if near.value is None:
            raise MissingValueError(f"{self.target}: link.fec: {near.problem}")
        same = near.value == far.number or {near.value, far.number} <= NO_FEC
        return self._value(FEC_DIFFERS, not same, f"the host has {near.value}, the switch {far}")

    @property
    def misplaced(self) -> Value:
        """Return 0 where both ends hear each other as planned, else 1; the detail says what.

        A port that hears nothing does not count here: its own checks tell. Raises
        MissingValueError where the switch does not say what it hears.
        """
        self.available(MISPLACED)
        system, port, description = (
            str(value.number)
            for value in (self.neighbour, self.neighbour_port, self.neighbour_description)
        )
        told = "; ".join(self.facts["switch.neighbour"].detail)
        wanted = f"planned {self.target}"
        if self.cable is not None:
            wanted = f"{wanted} at {self.cable.place} ({self.cable.source})"
        is_node = _first(system) in set(map(_first, self.host.names))
        is_mine = is_node and not self.host.netdevs().isdisjoint({port, description})
        other = self._seen_elsewhere()
        return self._value(MISPLACED, not is_mine or bool(other), f"{told}; {wanted}{other}")

    def _seen_elsewhere(self) -> str:
        """Return what the host hears where that is not this switch port, else nothing."""
        said = self.host.facts("wiring")
        values = [
            said.get(f"wiring.{word}", Fact(None)).value
            for word in ("switch", "switch_port", "port_description")
        ]
        if self.cable is None or any(value in (None, NOBODY) for value in values):
            return ""
        switch, port, description = map(str, values)
        if is_at(self.cable, switch, port, description):
            return ""
        return f"; the host hears {switch} {port}"

    def _value(self, metric: str, is_bad: bool, detail: str) -> Value:
        self.ledger.reads.append(metric)
        return Value(int(is_bad), "", metric, metric, self.ledger, (detail,))


def _first(name: str) -> str:
    """Return a system's name without its domain."""
    return name.casefold().partition(".")[0]
