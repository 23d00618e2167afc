"""Limits bound to a target: percentages become numbers, and every clause keeps its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fabric.config import Profile
from pytest_fabric.config.limits import (
    Absolute,
    Baseline,
    Clause,
    Limit,
    Peers,
    Range,
    Relative,
    Word,
)
from pytest_fabric.counters import OVERTAKING
from pytest_fabric.errors import MissingValueError, UnitError
from pytest_fabric.judge.bound import BoundClause, ComparedClause
from pytest_fabric.judge.values import Value
from pytest_fabric.metrics import OPTIONAL
from pytest_fabric.units import Quantity


@dataclass(frozen=True)
class BoundLimit:
    """All clauses of one metric for one target; `value in limit` judges and notes each clause."""

    metric: str
    clauses: tuple[BoundClause | ComparedClause, ...]

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Value):
            raise UnitError(f"limits[{self.metric!r}] can only judge values of a result")
        if not _is_about(self.metric, value.metric):
            raise UnitError(f"limits[{self.metric!r}] was asked about {value.metric}")
        verdicts = [(clause, value.settle(clause.holds)) for clause in self.clauses]
        # Misses last: a test that passes although its last check missed is found out by that.
        for clause, settled in sorted(verdicts, key=lambda verdict: not verdict[1].passed):
            bound = clause.of(settled.value)
            settled.note(bound.text, bound.source, bound.profile, bound.beside)
        return all(settled.passed for _, settled in verdicts)


def _is_about(limit: str, value: str) -> bool:
    """Return whether a limit may judge a value: the same tool and statistic, or counter, or fact.

    A limit that names a message size judges values of that size only.
    """
    first, _, rest = limit.partition(".")
    size, _, last = rest.rpartition(".")
    tool, _, measured = value.partition(".")
    measured_size, _, statistic = measured.rpartition(".")
    return (tool, statistic) == (first, last) and size in ("", measured_size)


#: Metrics of an incast that only a fabric with ECN has.
NOTIFICATIONS = frozenset({"incast.cnp_sent", "incast.cnp_handled", "incast.paused"})


@dataclass(frozen=True)
class Limits:
    """The limits of a target by metric; a pair has those of both its ends.

    Shares of `payload rate` and `line rate` refer to the `budget` where it is given, in bits per
    second, and else to the slowest end.

    `skip` is called with the reason when a profile says that the metric does not apply. Clauses of
    the kinds in `without` are left out. Raises MissingValueError for a metric without a limit:
    nothing passes without one. Of an optional layer (`metrics.OPTIONAL`) what has no limit is
    skipped: it is tested where somebody asks for it.
    """

    target: str
    profiles: tuple[Profile, ...]
    skip: Callable[[str], None]
    routing: str = "ecmp"
    without: tuple[type[Clause], ...] = ()
    budget: Mapping[str, float] = field(default_factory=dict)

    def require(self, metric: str) -> None:
        """Skip a metric that the hardware cannot show by its profile, or that routing lets grow."""
        if metric == "out_of_sequence.growth" and self.routing in OVERTAKING:
            self.skip(
                f"{metric}: packets may overtake each other with fabric.routing {self.routing}"
            )
        if metric == "bisection.slowest" and self.routing not in OVERTAKING:
            self.skip(
                f"{metric}: with fabric.routing {self.routing} flows meet by chance on uplinks, so "
                "that the mean is judged"
            )
        if metric == "contention.share" and self.routing not in OVERTAKING:
            self.skip(
                f"{metric}: with fabric.routing {self.routing} flows meet by chance on uplinks, so "
                "that the places at which they do are judged"
            )
        for profile in self.profiles:
            reason = profile.why_not_available(metric) or _other_layer(profile, metric)
            if reason is not None:
                self.skip(f"{metric}: not available by profile {profile.name}: {reason}")

    def __getitem__(self, metric: str) -> BoundLimit:
        self.require(metric)
        for profile in self.profiles:
            if metric.partition(".")[0] in OPTIONAL and metric not in profile.limits:
                self.skip(f"no limit {metric} is declared in profile {profile.name}")
        clauses = [clause for profile in self.profiles for clause in self._bound(profile, metric)]
        return BoundLimit(metric, tuple(clauses))

    def firmware(self, psid: Value) -> BoundLimit:
        """Return the firmware that a profile declares for a board, by the board's PSID.

        Skips where no profile of the target declares any. Raises MissingValueError for a board that
        the declaration does not name.
        """
        declaring = [profile for profile in self.profiles if profile.firmware]
        if not declaring:
            self.skip(f"profile {self.profiles[0].name} declares no firmware")
        clauses = [clause for profile in declaring for clause in self._declared(profile, str(psid))]
        return BoundLimit("firmware.running", tuple(clauses))

    def _declared(self, profile: Profile, psid: str) -> list[BoundClause | ComparedClause]:
        limit = profile.limits.get(f"firmware.{psid}") if psid in profile.firmware else None
        if limit is None:
            raise MissingValueError(
                f"{self.target}: expected a board of {', '.join(sorted(profile.firmware))}, found "
                f"PSID {psid}: add `{psid}: VERSION` to firmware of profile {profile.name}, or "
                "replace the card"
            )
        return [bind(clause, limit, self.profiles) for clause, _ in limit.placed()]

    def _bound(self, profile: Profile, metric: str) -> list[BoundClause | ComparedClause]:
        limit = profile.limits.get(metric)
        if limit is None:
            raise MissingValueError(
                f"{self.target}: expected a limit for {metric}, found none in profile "
                f"{profile.name}: add `{metric}: ...` to its limits, or to its not_available"
            )
        placed = [it for it in limit.placed() if not isinstance(it[0], self.without)]
        if all(isinstance(clause, Peers) for clause, _ in placed):
            # Without the clause that was left out it would pass whatever was measured.
            left_out = next((c for c in limit.clauses if isinstance(c, self.without)), "none")
            self.skip(f"{metric}: --fabric-no-baseline leaves out `{left_out}`, its only bound")
        return [bind(clause, limit, self.profiles, place, self.budget) for clause, place in placed]


def _other_layer(profile: Profile, metric: str) -> str | None:
    """Return why a metric does not apply to the profile's link layer, or None when it does."""
    subject = metric.partition(".")[0]
    has_none = subject in ("pause", "class", "roce") or metric in NOTIFICATIONS
    if profile.link.layer == "InfiniBand" and has_none:
        return "InfiniBand has credits and service levels instead"
    if profile.link.layer == "Ethernet" and subject == "infiniband":
        return "Ethernet has no subnet manager"
    if metric in NOTIFICATIONS and not (profile.roce and profile.roce.ecn):
        return "roce.ecn is not declared: nobody is notified, and pauses are all there is"
    return None


def bind(
    clause: Clause,
    limit: Limit,
    profiles: Sequence[Profile],
    source: str = "",
    budget: Mapping[str, float] | None = None,
) -> BoundClause | ComparedClause:
    """Return a clause whose percentages refer to a budget, or to the slowest declared end."""
    place = (source or limit.source, limit.profile)
    if isinstance(clause, Peers | Baseline):
        return ComparedClause(clause, *place)
    if isinstance(clause, Absolute):
        text = f"{clause.op} {clause.quantity}"
        return BoundClause(text, *place, ((clause.op, clause.quantity),))
    if isinstance(clause, Range):
        both = ((">=", clause.low), ("<=", clause.high))
        return BoundClause(f"{clause.low} .. {clause.high}", *place, both)
    if isinstance(clause, Word):
        return BoundClause(f"== {clause.value}", *place, (("==", clause.value),))
    whole = (budget or {}).get(clause.of) or min(_rate(clause, profile) for profile in profiles)
    bound = Quantity(clause.fraction * whole, "b/s")
    text = (
        f"{clause.op} {bound} ({100 * clause.fraction:g}% of {clause.of} {Quantity(whole, 'b/s')})"
    )
    return BoundClause(text, *place, ((clause.op, bound),))


def _rate(clause: Relative, profile: Profile) -> float:
    is_line = clause.of == "line rate"
    rate = profile.line_rate_bps if is_line else profile.payload_rate_bps
    if rate is None:
        raise MissingValueError(f"profile {profile.name}: {clause} needs link.speed and link.mtu")
    return rate
