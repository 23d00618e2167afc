"""`--fabric-localise`: after the planned measurements, the pairs that tell suspects apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_fabric.config import Cluster
from pytest_fabric.declare import Declaration
from pytest_fabric.errors import FabricError
from pytest_fabric.judge.bound import BoundClause
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.limits import Limits
from pytest_fabric.judge.localise import Evidence, Finding, Seen, localise, next_pairs
from pytest_fabric.judge.localise.followup import SURE
from pytest_fabric.judge.values import Value
from pytest_fabric.judge.views import PairResult
from pytest_fabric.measure.plan import Want
from pytest_fabric.metrics import BANDWIDTH_TOOLS
from pytest_fabric.profiles import profiles_of
from pytest_fabric.report import advice, pattern
from pytest_fabric.report.pattern import Known
from pytest_fabric.results import Measurement, Pair, Verdict

#: So many pairs are measured beyond the plan at most.
MOST = 12

#: What is told of a run that was stopped: no pair was looked for.
NOT_DONE = "--fabric-localise: nothing was measured, since the run was stopped"

#: Measures what is wanted now; raises FabricError.
Measure = Callable[[Want], Measurement]


@dataclass(frozen=True)
class Asked:
    """One pair that was measured beyond the plan, why, and its verdict."""

    why: str
    verdict: Verdict


class FollowUp:
    """Chooses pairs one after another, each by what all before it have told."""

    def __init__(self, cluster: Cluster, wants: Iterable[Want], measure: Measure) -> None:
        self._cluster = cluster
        self._measure = measure
        self._wants = [want for want in wants if isinstance(want.target, Pair)]
        self._tried: set[tuple[str, str]] = set()

    def run(self, verdicts: Sequence[Verdict], known: Known) -> list[Asked]:
        """Return what was measured until every place is told, or nothing tells more."""
        asked: list[Asked] = []
        while len(asked) < MOST:
            seen = pattern.evidence([*verdicts, *(one.verdict for one in asked)], known)
            chosen = next(filter(None, (self._next(f, seen) for f in localise(seen))), None)
            if chosen is None:
                break
            finding, pair = chosen
            self._tried.add((pair.check, pair.target))
            model = next(
                v
                for v in verdicts
                if f"{v.layer} {v.check}" == pair.check and v.target in finding.pairs
            )
            verdict = self._verdict(model, Pair.parse(pair.target))
            asked.append(Asked(" or ".join(finding.places), verdict))
        return asked

    def _next(self, finding: Finding, seen: Evidence) -> tuple[Finding, Seen] | None:
        """Return the pair that tells most about a finding that is not sure yet."""
        if len(finding.places) == 1 and finding.confidence >= SURE:
            return None
        possible = [
            one
            for one in advice.possible(finding, seen)
            if (one.check, one.target) not in self._tried
        ]
        return next(
            ((finding, one) for one in next_pairs(finding.chances, possible, seen.leaves, 1)), None
        )

    def _verdict(self, model: Verdict, pair: Pair) -> Verdict:
        """Return the verdict of a pair by the limit that another pair has missed."""
        base = replace(
            model,
            nodeid=f"{model.nodeid.partition('[')[0]}[{pair}]",
            target=str(pair),
            outcome="error",
            value=None,
            message=None,
            contention=None,
        )
        try:
            record = self._measure(Want(self._declaration(model), pair))
            value, has_passed = self._judged(record, pair, str(model.metric))
        except (FabricError, LookupError) as error:
            return replace(base, message=f"{pair}: {error}")
        return replace(
            base,
            outcome="passed" if has_passed else "failed",
            value=value.number,
            message=None if has_passed else f"{pair}  {value.label} {value}, limit {model.limit}",
            started=record.started,
            duration=record.duration,
        )

    def _declaration(self, model: Verdict) -> Declaration:
        """Return what was measured where the limit was missed. Raises LookupError."""
        tool, _, rest = str(model.metric).partition(".")
        size, _, statistic = rest.rpartition(".")
        both = statistic == "bidirectional"
        mine = [w.declaration for w in self._wants if str(w.target) == model.target]
        same = [d for d in mine if d.tool == tool and bool(d.bidirectional) is both]
        exact = [d for d in same if d.size is not None and str(d.size) == size]
        usual = [d for d in same if d.size is None]
        plain = [d for d in mine if d.tool in BANDWIDTH_TOOLS and d == Declaration(d.tool, d.over)]
        for found in (exact, usual, same, [] if same else plain):
            if found:
                return found[0]
        raise LookupError(f"nothing that was planned measures {model.metric}")

    def _judged(self, record: Measurement, pair: Pair, metric: str) -> tuple[Value, bool]:
        """Return the value of a metric, and whether it is inside its limit. Raises FabricError."""
        profiles, routing = profiles_of(self._cluster, pair), self._cluster.fabric.routing
        limits = Limits(str(pair), profiles, _not_available, routing)
        tool, _, rest = metric.partition(".")
        size, _, statistic = rest.rpartition(".")
        result = PairResult(record, Ledger(), routing=routing)
        value = result.growth(tool) if statistic == "growth" else getattr(result, statistic)
        known = {name for profile in profiles for name in profile.limits}
        name = metric if metric in known or not size else f"{tool}.{statistic}"
        clauses = [one for one in limits[name].clauses if isinstance(one, BoundClause)]
        if not clauses:
            raise LookupError(f"{name}: no clause of its limit can judge one pair by itself")
        return value, all(clause.holds(value) for clause in clauses)


def _not_available(reason: str) -> None:
    raise LookupError(reason)


def line(asked: Sequence[Asked]) -> str:
    """Return what the pairs that were measured beyond the plan have told, in one line."""
    if not asked:
        return "--fabric-localise: no pair would tell more, none was measured"
    words = {"passed": "passes", "failed": "fails"}
    told = [
        f"{one.verdict.target} {words.get(one.verdict.outcome, 'is an error')}" for one in asked
    ]
    count = f"{len(asked)} more pair{'' if len(asked) == 1 else 's'}"
    return f"measured to tell suspects apart: {count}: {', '.join(told)}"
