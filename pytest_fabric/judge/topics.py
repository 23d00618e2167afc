"""What a test reads of a topic: facts as values, an error where there is none, and the odd ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pytest_fabric.errors import MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.values import Value
from pytest_fabric.judge.views import everything
from pytest_fabric.metrics import TOPICS, unit_of
from pytest_fabric.results import Fact


def refuse(reason: str) -> None:
    """Raise MissingValueError: outside of a test, nothing can be skipped."""
    raise MissingValueError(reason)


@dataclass(frozen=True)
class TopicResult:
    """What a target says about a topic: `result.governor` is its metric `host.governor`.

    Raises MissingValueError for what it does not say, with what would make it say so. `skip` is
    called with the reason for what the target cannot have.
    """

    target: str
    topic: str
    facts: Mapping[str, Fact]
    ledger: Ledger
    available: Callable[[str], None] = everything
    skip: Callable[[str], None] = refuse

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        metric = metric_of(self.topic, name)
        self.available(metric)
        fact = self.facts.get(metric, Fact(None, "it does not say"))
        if fact.value is None and fact.inapplicable:
            self.skip(f"{self.target}: {metric}: {fact.inapplicable}")
        if fact.value is None:
            raise MissingValueError(f"{self.target}: {metric}: {fact.problem}")
        self.ledger.reads.append(metric)
        unit = unit_of(metric) or ""
        value = Value(fact.value, unit, metric, metric, self.ledger, fact.detail)
        return replace(value, exposure=fact.exposure)


def nobody(target: str, metric: str) -> str | None:
    """Let every target be asked."""
    return None


@dataclass(frozen=True)
class Kind:
    """Targets that are alike without saying so, and why they need not."""

    reason: str


#: What tells targets of a fleet apart without a metric: what they are declared as, and their rail.
PROFILE, RAIL = "profile", "rail"


@dataclass(frozen=True)
class FleetResult:
    """What all nodes, or all ports, say about a topic: `result.odd("firmware.version")`.

    `targets` are those that must say it, `exempt` tells why one of them need not, `profile`
    of which profile one is.
    """

    topic: str
    facts: Mapping[str, Mapping[str, Fact]]
    ledger: Ledger
    available: Callable[[str], None] = everything
    targets: tuple[str, ...] = ()
    exempt: Callable[[str, str], str | None] = nobody
    profile: Callable[[str], str] = str

    def odd(self, name: str, among: str | None = None) -> Value:
        """Return how many targets say something else than most of those that are alike.

        `among` is a metric: only targets that say the same of it are alike (one firmware version
        per board); or the word `profile`, or `rail`: only those of one profile, or ports of one
        rail, are. Of two that differ, one is odd. Targets whose profile says that they cannot show
        it are left out; all of them, and the test is skipped. Raises MissingValueError where one
        does not say, also for a port that is not there.
        """
        metric = metric_of(self.topic, name)
        alike = metric_of(self.topic, among) if among not in (None, PROFILE, RAIL) else ""
        asked = [one for one in self.targets or self.facts if self.exempt(one, metric) is None]
        if not asked:
            self.available(metric)
        groups: dict[object, dict[str, object]] = {}
        for target in asked:
            facts = self.facts.get(target, {})
            if facts.get(metric, Fact(None)).inapplicable:
                continue
            kind = self._kind(target, facts, alike)
            if among in (PROFILE, RAIL):
                kind = self.profile(target) if among == PROFILE else target.partition(":")[2]
            groups.setdefault(kind, {})[target] = self._said(target, facts, metric)
        if not groups:
            raise MissingValueError(f"{metric}: no target says it")
        detail = [line for kind, said in groups.items() for line in _odd(kind, said)]
        self.ledger.reads.append(metric)
        return Value(
            len(detail), "", metric, f"targets with odd {metric}", self.ledger, tuple(detail)
        )

    def _kind(self, target: str, facts: Mapping[str, Fact], metric: str) -> object:
        """Return of which kind a target is; those that need not say it are alike by the reason."""
        reason = self.exempt(target, metric) if metric else ""
        return Kind(reason) if reason is not None else self._said(target, facts, metric)

    def _said(self, target: str, facts: Mapping[str, Fact], metric: str) -> object:
        fact = facts.get(metric, Fact(None, "it does not say"))
        if fact.value is None:
            raise MissingValueError(f"{target}: {metric}: {fact.problem}")
        return fact.value


def _odd(kind: object, said: Mapping[str, object]) -> list[str]:
    """Return a line for each target that says something else than most."""
    counts = Counter(said.values())
    usual, most = min(counts.items(), key=lambda item: (-item[1], str(item[0])))
    beside = "" if isinstance(kind, Kind) else f" of {kind}"
    return [
        f"{target} {value}, {most} of {len(said)}{beside} have {usual}"
        for target, value in said.items()
        if value != usual
    ]


def metric_of(topic: str, name: str) -> str:
    """Return the metric of a topic by its last word. Raises MissingValueError."""
    names = {metric.rpartition(".")[2]: metric for metric in TOPICS[topic]}
    if name not in names:
        raise MissingValueError(f"{topic} has no {name!r}: it has {', '.join(sorted(names))}")
    return names[name]
