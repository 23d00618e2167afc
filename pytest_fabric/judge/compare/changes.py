"""What runs say about nodes and ports, and what of it is different after a change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from pytest_fabric.judge.compare.numbers import MEASURED_FACTS
from pytest_fabric.judge.compare.run import Run
from pytest_fabric.judge.compare.tallies import COUNTING_FACTS
from pytest_fabric.metrics import FACT_UNITS
from pytest_fabric.results import Fact, NodeFacts, RdmaPort
from pytest_fabric.units import render

#: What changes by itself from one hour to the next, and what the facts of a node say as well.
RESTLESS = (
    "link.raw_ber",
    "link.effective_ber",
    "link.uncorrectable",
    "link.flaps",
    "module.temperature",
    "module.temperature_margin",
    "module.rx_power_min",
    "module.tx_power_min",
    "module.lane_spread",
    "pcie.aer_correctable",
    "pcie.aer_uncorrectable",
    "firmware.running",
    "firmware.psid",
    "host.kernel",
    *MEASURED_FACTS,
    *sorted(COUNTING_FACTS),
)

#: No text of a node is shown longer.
LONGEST = 60

#: What, on which target, and what it was.
Said = tuple[str, str, str]


@dataclass(frozen=True, order=True)
class FactChange:
    """Something that was `before` in the runs before and is `after` in those after."""

    what: str
    before: str
    after: str
    targets: tuple[str, ...]


def changes(before: Sequence[Run], after: Sequence[Run]) -> list[FactChange]:
    """Return what has changed, with all targets on which it did in the same way.

    What runs of one side say differently is told with every word of it.
    """
    sides = [_side(side) for side in (before, after)]
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for what, target in sides[0]:
        if (what, target) in sides[1]:
            was, now = (" or ".join(sorted(side[what, target])) for side in sides)
            if was != now:
                groups[what, was, now].append(target)
    for what, was, now, port in _counters(before, after):
        groups[what, was, now].append(port)
    return [
        FactChange(what, was, now, tuple(sorted(targets)))
        for (what, was, now), targets in sorted(groups.items())
    ]


def _side(runs: Sequence[Run]) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for run in runs:
        for what, target, text in _said(run):
            found[what, target].add(text[:LONGEST])
    return found


def _counters(before: Sequence[Run], after: Sequence[Run]) -> Iterator[tuple[str, str, str, str]]:
    """Yield counters that are new or have vanished: what, before, after, and on which port."""
    sides = [_names(side) for side in (before, after)]
    for port in sides[0].keys() & sides[1].keys():
        was, now = (side[port] for side in sides)
        for name in was - now:
            yield f"counter {name}", "there", "absent", port
        for name in now - was:
            yield f"counter {name}", "absent", "there", port


def _names(runs: Sequence[Run]) -> dict[str, frozenset[str]]:
    """Return the counters of each port that any run of a side has seen."""
    found: dict[str, frozenset[str]] = {}
    for run in runs:
        for port, names in run.counters.items():
            found[port] = found.get(port, frozenset()) | names
    return found


def _said(run: Run) -> Iterator[Said]:
    for port, identity in run.ports.items():
        yield "inventory", port, identity
    for node, facts in run.facts.items():
        yield "kernel", node, facts.kernel
        yield "perftest", node, facts.perftest or "none"
        yield "locked memory", node, _memory(facts.memlock_bytes)
        yield "CPUs allowed", node, str(len(facts.allowed_cpus))
        yield from _ports(facts, run)
    for reading in run.readings.values():
        for target, said in reading.facts.items():
            for metric, fact in said.items():
                if metric not in RESTLESS and not metric.startswith("host.log_"):
                    yield metric, target, _text(metric, fact)


def _memory(limit: float | None) -> str:
    return "unlimited" if limit is None or limit == inf else render(limit, "B")


def _ports(facts: NodeFacts, run: Run) -> Iterator[Said]:
    for port in facts.ports:
        target = _target(facts.node, port, run)
        link = port.pcie[0] if port.pcie else None
        said = {
            "firmware": port.firmware,
            "board": port.psid,
            "driver": port.driver,
            "link layer": port.link_layer,
            "state": port.state,
            "speed": None if port.speed_bps is None else render(port.speed_bps, "b/s"),
            "width": port.width,
            "MTU": port.active_mtu,
            "netdev MTU": port.netdev_mtu,
            "traffic class override": port.traffic_class,
            "PCIe speed": None if not link or link.speed_tps is None else f"{link.speed_tps:g} T/s",
            "PCIe width": link.width if link else None,
            "NUMA node": port.numa_node,
        }
        for what, value in said.items():
            yield what, target, "none" if value is None else str(value)


def _target(node: str, port: RdmaPort, run: Run) -> str:
    """Return the id of a port that a node has shown, or its device where none is declared."""
    names = {name for name in (port.pci, port.device, port.guid, *port.netdevs) if name}
    for target, identity in run.ports.items():
        if target.partition(":")[0] == node and not names.isdisjoint(identity.split()):
            return target
    return f"{node}:{port.device}"


def _text(metric: str, fact: Fact) -> str:
    if fact.value is None:
        return "cannot be read" if fact.problem else "does not apply"
    unit = FACT_UNITS.get(metric, "")
    return fact.value if isinstance(fact.value, str) else render(fact.value, unit)
