"""Where cables end, against the plan: in place, in another port's place, moved, or nowhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pytest_fabric.config import Cable
from pytest_fabric.errors import FabricError, MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.topics import TopicResult, nobody
from pytest_fabric.judge.values import Value
from pytest_fabric.judge.views import everything
from pytest_fabric.metrics import NOBODY
from pytest_fabric.results import Fact, Port
from pytest_fabric.tools.names import is_switch_port

Plan = Mapping[Port, Cable]
Facts = Mapping[str, Fact]

MISPLACED = "wiring.misplaced"
SWAPPED = "wiring.swapped"


@dataclass(frozen=True)
class Finding:
    """What is found of a port's cable; `kind` is correct, taken, moved or missing.

    `other` is the port whose place in the plan it has taken. `text` says it to people.
    """

    port: Port
    kind: str
    text: str
    other: Port | None = None


def find(port: Port, plan: Plan, facts: Facts) -> Finding:
    """Return where a port's cable ends. Raises MissingValueError where nobody can tell."""
    switch, name, description = (
        _said(port, facts, f"wiring.{word}")
        for word in ("switch", "switch_port", "port_description")
    )
    cable = plan.get(port)
    if cable is None:
        file = next((one.source.rpartition(":")[0] for one in plan.values()), "the plan")
        raise MissingValueError(
            f"{port}: expected its cable in {file}, found none: add a row; it is seen at "
            f"{switch} {name}"
        )
    planned = f"planned at {cable.place} ({cable.source})"
    if switch == NOBODY:
        reason = "; ".join(facts["wiring.switch"].detail)
        return Finding(port, "missing", f"{reason}; {planned}")
    if is_at(cable, switch, name, description):
        return Finding(port, "correct", f"at {switch} {name}, as {cable.source} plans it")
    seen = f"at {switch} {name}"
    for other, its in plan.items():
        if other != port and is_at(its, switch, name, description):
            return Finding(
                port, "taken", f"{seen}, the place of {other} ({its.source}); {planned}", other
            )
    return Finding(
        port, "moved", f"moved to {switch} {name}, where the plan has no cable; {planned}"
    )


def _said(port: Port, facts: Facts, metric: str) -> str:
    fact = facts.get(metric, Fact(None, "it does not say"))
    if fact.value is None:
        raise MissingValueError(f"{port}: {metric}: {fact.problem}")
    return str(fact.value)


def is_at(cable: Cable, switch: str, name: str, description: str) -> bool:
    """Return whether a cable is planned where a port sees itself.

    A switch gives its port an ID and a description; either may be the name that people use.
    """
    is_port = is_switch_port(cable.switch_port, name, description)
    return _is_switch(cable.switch, switch) and is_port


def _is_switch(planned: str, seen: str) -> bool:
    """Return whether two names are those of one switch: one may lack the domain."""
    one, other = planned.casefold(), seen.casefold()
    if "." in one and "." in other:
        return one == other
    return one.partition(".")[0] == other.partition(".")[0]


@dataclass(frozen=True)
class CableResult(TopicResult):
    """What a port says of its cable, and whether it is where the plan says: `misplaced` is 0."""

    plan: Plan = field(default_factory=dict)
    beside: Mapping[str, Facts] = field(default_factory=dict)

    @property
    def misplaced(self) -> Value:
        """Return 0 for a cable in its place, 1 for any other; the detail says where it is.

        Raises MissingValueError for a port that is not in the plan, or cannot see its other end;
        a port alone is blind only where others of its node (`beside`) see.
        """
        self.available(MISPLACED)
        found = find(Port.parse(self.target), self.plan, self.facts)
        if found.kind == "missing" and not any(map(_hears, self.beside.values())):
            raise MissingValueError(
                f"{self.target}: no port of its node hears a neighbour: {found.text}: has lldpd "
                "been up for a minute, does the switch send LLDP, and does no firmware keep it "
                "(ice: `ethtool --set-priv-flags DEV fw-lldp-agent off`)?"
            )
        self.ledger.reads.append(MISPLACED)
        number = 0 if found.kind == "correct" else 1
        return Value(number, "", MISPLACED, "misplaced cables", self.ledger, (found.text,))


@dataclass(frozen=True)
class WiringResult:
    """What all ports say of their cables: `result.swapped` counts the swaps among them.

    `unheard` says why a node told nothing, by its name.
    """

    facts: Mapping[str, Facts]
    plan: Plan
    ledger: Ledger
    unheard: Mapping[str, FabricError] = field(default_factory=dict)
    available: Callable[[str], None] = everything
    targets: tuple[str, ...] = ()
    exempt: Callable[[str, str], str | None] = nobody

    @property
    def swapped(self) -> Value:
        """Return how many swaps there are, each named once: two ports, or more in a circle.

        Raises what keeps a port from telling where it is, where no swap is seen elsewhere: it could
        be part of one.
        """
        asked = [one for one in self.targets or self.facts if self.exempt(one, SWAPPED) is None]
        if not asked:
            self.available(SWAPPED)
        places: dict[Port, Port] = {}
        untold: FabricError | None = next(iter(self.unheard.values()), None)
        for target in asked:
            port = Port.parse(target)
            try:
                found = find(port, self.plan, self.facts.get(target, {}))
            except MissingValueError as error:
                untold = untold or error
                continue
            if found.other is not None:
                places[port] = found.other
        lines = [_line(circle, self.plan) for circle in circles(places)]
        if not lines and untold is not None:
            raise untold
        if not asked:
            raise MissingValueError(f"{SWAPPED}: no port says where its cable ends")
        self.ledger.reads.append(SWAPPED)
        return Value(len(lines), "", SWAPPED, "swaps of cables", self.ledger, tuple(lines))


def _hears(facts: Facts) -> bool:
    """Return whether a port sees what is at the other end of its cable."""
    said = facts.get("wiring.switch", Fact(None))
    return said.value is not None and said.value != NOBODY


def circles(places: Mapping[Port, Port]) -> list[list[Port]]:
    """Return the circles of ports that are each in the next one's place, each circle once."""
    found: list[list[Port]] = []
    done: set[Port] = set()
    for start in places:
        way: list[Port] = []
        port: Port | None = start
        while port is not None and port not in done and port not in way:
            way.append(port)
            port = places.get(port)
        if port is not None and port in way:
            found.append(way[way.index(port) :])
        done.update(way)
    return found


def _line(circle: list[Port], plan: Plan) -> str:
    if len(circle) == 2:
        one, other = circle
        ends = f"planned at {plan[one].place} and {plan[other].place}"
        return f"{one} and {other} are swapped: {ends} ({plan[one].source}, {plan[other].source})"
    steps = ", ".join(
        f"{port} in the place of {circle[(place + 1) % len(circle)]}"
        for place, port in enumerate(circle)
    )
    return f"{len(circle)} cables are rotated: {steps}"
