"""Whether the places of faults are found: `python -m bench.localise [--runs 200] [--seed 1]`.

The suite of pairs is played on 16 nodes with 4 rails (strategy `cover`, two leaves to each rail)
with the lab's own ports, faults and physics, in this process and without SSH; then the limits of
the profile judge, and `report.suspects` says where it points to. Facts of ports are left out: they
would name most faults by themselves. Prints JSON: how often the true place is ranked first with one
fault, and how often both places are the first two with two faults.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from bench.played import Fabric, fabric, measured, verdicts
from pytest_fabric.lab.faults import CATALOGUE
from pytest_fabric.lab.model import Port
from pytest_fabric.report.pattern import Known
from pytest_fabric.report.suspects import suspects
from pytest_fabric.results import Growth, Pair, Verdict
from pytest_fabric.results import Port as PortId

#: Faults that pairs show.
FAULTS = (
    "latency_tail",
    "pcie_width",
    "pcie_speed",
    "link_speed",
    "fewer_lanes",
    "pause_rx",
    "packet_loss",
    "mtu_low",
    "default_class",
)

#: How often the fault is at a port, at every port of a node, of a leaf, of a rail, or on the links
#: between two leaves, where a flow meets it by the hash of its addresses.
KINDS = {"port": 70, "node": 10, "leaf": 8, "rail": 6, "path": 6}

#: Half of the flows between two leaves meet a bad link.
MEETS = 0.5


@dataclass(frozen=True)
class Place:
    """Where a fault is: what it is called, and the ports or the two leaves that have it."""

    kind: str
    name: str
    ports: frozenset[PortId]
    leaves: frozenset[str] = frozenset()


def place(known: Fabric, kind: str, chance: Random) -> Place:
    """Return a place of a kind, drawn."""
    ports = list(known.ports.values())
    port = chance.choice(ports)
    if kind == "path":
        across = [p for p in ports if p.leaf != port.leaf and p.id.rail == port.id.rail]
        leaves = sorted({port.leaf, chance.choice(across).leaf})
        return Place(kind, " - ".join(leaves), frozenset(), frozenset(leaves))
    same: dict[str, Callable[[Port], str]] = {
        "port": lambda one: str(one.id),
        "node": lambda one: one.id.node,
        "leaf": lambda one: one.leaf,
        "rail": lambda one: one.id.rail,
    }
    name = same[kind](port)
    return Place(kind, name, frozenset(one.id for one in ports if same[kind](one) == name))


def _apart(places: Sequence[Place], known: Fabric) -> bool:
    """Return whether places have nothing in common: what is inside another cannot be told."""
    found = [
        one.ports or {p.id for p in known.ports.values() if p.leaf in one.leaves} for one in places
    ]
    return sum(map(len, found)) == len(set().union(*found))


def play(
    known: Fabric,
    sound: Mapping[Pair, list[Verdict]],
    faults: Sequence[tuple[str, Place]],
    chance: Random,
) -> list[str]:
    """Return the suspected places of a run with faults, in their order."""
    ports = dict(known.ports)
    for name, where in faults:
        change = CATALOGUE[name].on_port
        assert change is not None
        ports.update({one: change(ports[one]) for one in where.ports})
    bad = [set(where.leaves) for _, where in faults if where.leaves]
    found: list[Verdict] = []
    growth: list[Growth] = []
    for pair in known.pairs:
        client, server = ports[pair.client], ports[pair.server]
        is_hit = {client.leaf, server.leaf} in bad and chance.random() < MEETS
        ends = (pair.client, pair.server)
        if not is_hit and all(ports[end] is known.ports[end] for end in ends):
            found += sound[pair]
            continue
        values, grown = measured(client, server, chance, is_hit)
        growth += grown
        found += verdicts(known, pair, values, grown)
    leaves = {str(port.id): port.leaf for port in ports.values()}
    return [one.place for one in suspects(found, Known(tuple(growth), leaves))]


def runs(known: Fabric, count: int, at_once: int, seed: int) -> dict[str, object]:
    """Return how often every true place was among the first `at_once` suspects."""
    chance = Random(seed)
    sound = {
        pair: verdicts(
            known,
            pair,
            *measured(known.ports[pair.client], known.ports[pair.server], chance, False),
        )
        for pair in known.pairs
    }
    right: Counter[str] = Counter()
    all_kinds: Counter[str] = Counter()
    missed: list[str] = []
    begun = time.monotonic()
    for _ in range(count):
        faults = _faults(known, at_once, chance)
        first = play(known, sound, faults, chance)[:at_once]
        kinds = "+".join(sorted(where.kind for _, where in faults))
        all_kinds[kinds] += 1
        if {where.name for _, where in faults} == set(first):
            right[kinds] += 1
        else:
            told = " ".join(f"{name}@{where.name}" for name, where in faults)
            missed.append(f"{told}: {', '.join(first) or 'nobody'}")
    return {
        "runs": count,
        "right": sum(right.values()),
        "share": round(sum(right.values()) / count, 4),
        "by_kind": {kind: f"{right[kind]}/{whole}" for kind, whole in sorted(all_kinds.items())},
        "missed": missed[:10],
        "seconds": round(time.monotonic() - begun, 1),
    }


def _faults(known: Fabric, count: int, chance: Random) -> list[tuple[str, Place]]:
    while True:
        kinds = chance.choices(list(KINDS), list(KINDS.values()), k=count)
        places = [place(known, kind, chance) for kind in kinds]
        if _apart(places, known):
            return [(chance.choice(FAULTS), where) for where in places]


def main(arguments: Iterable[str] | None = None) -> None:
    """Print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(None if arguments is None else list(arguments))
    begun, known = time.monotonic(), fabric()
    result = {
        "ports": len(known.ports),
        "pairs": len(known.pairs),
        "one_fault": runs(known, given.runs, 1, given.seed),
        "two_faults": runs(known, given.runs, 2, given.seed + 1),
    }
    result["seconds"] = round(time.monotonic() - begun, 1)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
