"""What can be broken: each candidate with the pairs that it would spoil.

The numbers are engineering judgement; only their order of magnitude matters, and only where the
pairs leave a choice: one cable or port is likelier than a whole node, that likelier than a rail.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_fabric.judge.localise.seen import Seen

#: The chance that one candidate of a kind is broken, before anything is measured.
PRIORS = {
    "port": 0.01,
    "tx": 0.003,
    "rx": 0.003,
    "node": 0.003,
    "leaf": 0.0012,
    "rail": 0.001,
    "path": 0.001,
    "pair": 0.002,
    "fabric": 0.0002,
}

#: The chance that what is broken spoils a measurement that uses it. Flows between two leaves are
#: spread over their links by a hash: a broken one is hit by some of them.
SHOWS = {"rail": 0.95, "leaf": 0.95, "path": 0.6, "fabric": 0.95}
USUALLY = 0.98


@dataclass(frozen=True, order=True)
class Candidate:
    """A place that may be broken: `kind` is a key of PRIORS, `place` what people call it."""

    kind: str
    place: str

    @property
    def prior(self) -> float:
        """Return the chance that it is broken, before anything is measured."""
        return PRIORS[self.kind]

    @property
    def shows(self) -> float:
        """Return the chance that a measurement that uses it is spoilt when it is broken."""
        return SHOWS.get(self.kind, USUALLY)


def candidates_of(seen: Seen, leaves: Mapping[str, str]) -> set[Candidate]:
    """Return every candidate that a check of a pair uses."""
    ends = (seen.client, seen.server)
    found = {Candidate("port", port) for port in ends}
    found |= {Candidate("tx", port) for port in seen.senders}
    found |= {Candidate("rx", port) for port in seen.receivers}
    found |= {Candidate("node", node_of(port)) for port in ends}
    found |= {Candidate("rail", rail_of(port)) for port in ends if rail_of(port)}
    known = sorted({leaves[port] for port in ends if port in leaves})
    found |= {Candidate("leaf", leaf) for leaf in known}
    if len(known) == 2:
        found.add(Candidate("path", " - ".join(known)))
    return {*found, Candidate("pair", seen.target), Candidate("fabric", "fabric")}


def covers(seen: Iterable[Seen], leaves: Mapping[str, str]) -> dict[Candidate, list[int]]:
    """Return the candidates that a failed check uses, with the numbers of all checks using them."""
    uses: dict[Candidate, list[int]] = defaultdict(list)
    suspected: set[Candidate] = set()
    for number, one in enumerate(seen):
        found = candidates_of(one, leaves)
        for candidate in found:
            uses[candidate].append(number)
        if one.failed:
            suspected |= found
    return {candidate: uses[candidate] for candidate in sorted(suspected)}


def node_of(port: str) -> str:
    """Return the node of a port's id."""
    return port.partition(":")[0]


def rail_of(port: str) -> str:
    """Return the rail of a port's id."""
    return port.partition(":")[2]
