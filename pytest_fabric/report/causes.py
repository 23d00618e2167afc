"""Failures of one place under the lowest of its layers: what follows from what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_fabric.declare import LAYERS
from pytest_fabric.judge.localise.signs import can_cause
from pytest_fabric.report.blame import due_to_ports, shown
from pytest_fabric.report.places import is_pair, nodes_of
from pytest_fabric.report.suspects import SHOWN, Suspect
from pytest_fabric.report.text import listed
from pytest_fabric.results import Verdict


@dataclass(frozen=True)
class Cause:
    """A failed check of a port or node, and the failures of pairs or nodes that follow from it."""

    fact: Verdict
    followers: tuple[Verdict, ...]

    @property
    def line(self) -> str:
        """Return it for people."""
        names = list(dict.fromkeys(verdict.check for verdict in self.followers))
        count = len(self.followers)
        follow = f"{count:,} failure{' follows' if count == 1 else 's follow'} from it"
        waived = ", waived" if self.fact.outcome == "waived" else ""
        return f"{self.fact.target}  {shown(self.fact)}{waived}: {follow}: {listed(names, SHOWN)}"


def causes(verdicts: Sequence[Verdict], suspected: Iterable[Suspect]) -> list[Cause]:
    """Return the facts from which failures of pairs follow, those with most of them first.

    A failure follows from a fact of the place that explains it, when such a fact can be the cause
    of such a failure; of several facts, from the one of the lowest layer.
    """
    failed = {(v.check, v.target): v for v in verdicts if v.outcome == "failed"}
    facts = [v for v in verdicts if v.outcome in ("failed", "waived") and not is_pair(v.target)]
    facts.sort(key=_depth)
    found: dict[str, list[Verdict]] = defaultdict(list)
    taken: set[tuple[str, str]] = set()
    for suspect in suspected:
        own = [fact for fact in facts if suspect.place in (fact.target, *nodes_of(fact.target))]
        for key in suspect.explained:
            follower = failed.get(key)
            if follower is None or key in taken:
                continue
            fact = next((f for f in own if can_cause(f.metric, follower.metric)), None)
            if fact is not None:
                taken.add(key)
                found[fact.nodeid].append(follower)
    by_id = {verdict.nodeid: verdict for verdict in verdicts}
    for nodeid, fact in due_to_ports(verdicts).items():
        found[fact.nodeid].append(by_id[nodeid])
    made = [Cause(by_id[nodeid], tuple(followers)) for nodeid, followers in found.items()]
    return sorted(made, key=lambda cause: -len(cause.followers))


def _depth(verdict: Verdict) -> int:
    """Return the layer of a check, counted from the bottom; unknown ones are on top."""
    layers = list(LAYERS)
    return layers.index(verdict.layer) if verdict.layer in layers else len(layers)
