"""Clauses bound to a target: numbers that are known now, or that other measurements set."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fabric.config.limits import Baseline, Peers
from pytest_fabric.errors import MissingValueError, UnitError
from pytest_fabric.judge.values import Value
from pytest_fabric.units import Quantity


@dataclass(frozen=True)
class BoundClause:
    """One clause with its numbers worked out: `text` shows them, `source` is `file:line`.

    `beside` are labels and texts about what the numbers come from.
    """

    text: str
    source: str
    profile: str
    comparisons: tuple[tuple[str, Quantity | str], ...]
    beside: tuple[tuple[str, str], ...] = ()

    def holds(self, value: Value) -> bool:
        """Return whether the value satisfies the clause. Raises UnitError."""
        return all(_compare(value, sign, bound) for sign, bound in self.comparisons)

    def of(self, value: Value) -> BoundClause:
        """Return the clause that judges a value: itself."""
        return self


def _compare(value: Value, sign: str, bound: Quantity | str) -> bool:
    if isinstance(bound, Quantity):
        if bound.unit != value.unit:
            raise UnitError(f"{value.metric} {value} cannot be held against {bound}")
        return value.holds(sign, bound.number)
    return value.holds(sign, bound)


@dataclass(frozen=True)
class ComparedClause:
    """A clause whose bound other measurements set: those of peers, or of earlier runs."""

    clause: Peers | Baseline
    source: str
    profile: str

    def holds(self, value: Value) -> bool:
        """Return whether the value satisfies the clause. Raises MissingValueError."""
        return self.of(value).holds(value)

    def of(self, value: Value) -> BoundClause:
        """Return the clause with the bound that judges a value. Raises MissingValueError."""
        asked = value.peers if isinstance(self.clause, Peers) else value.baseline
        if asked is None:
            raise MissingValueError(
                f"{value.metric}: expected other measurements for `{self.clause}` ({self.source}), "
                "found none: only what a tool measures on a pair can be compared"
            )
        middle, told = asked()
        if isinstance(self.clause, Peers):
            # What is better than its peers is no worse than they are.
            slower = value.unit == "s"
            share = 1 + self.clause.fraction if slower else 1 - self.clause.fraction
            return self._bound("<=" if slower else ">=", share * middle, value.unit, told)
        return self._bound(self.clause.op, self.clause.factor * middle, value.unit, told)

    def _bound(self, op: str, number: float, unit: str, told: str) -> BoundClause:
        bound = Quantity(number, unit)
        label = "peers" if isinstance(self.clause, Peers) else "baseline"
        text = f"{op} {bound} ({self.clause})"
        return BoundClause(text, self.source, self.profile, ((op, bound),), ((label, told),))
