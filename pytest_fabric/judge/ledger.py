"""What a test did with the values it was given: the evidence that it judged something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Check:
    """One comparison of a value with a limit; `source` is where the limit stands, if known.

    `company` tells the values under load and alone, where the one under load missed and the others
    decided; `repetition` is the place of the one that did, or None where it was under load.
    `beside` are labels and texts about the other measurements that set the limit.
    """

    metric: str
    label: str
    value: float | str
    unit: str
    shown: str
    limit: str
    source: str | None
    profile: str | None
    passed: bool
    detail: tuple[str, ...] = ()
    company: str | None = None
    repetition: int | None = None
    beside: tuple[tuple[str, str], ...] = ()


@dataclass
class Ledger:
    """The checks that one test made, in order, and the metrics it read."""

    checks: list[Check] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)

    def deciding(self, failed: bool) -> Check | None:
        """Return the check that explains a test's outcome, or None when none does.

        Of the value that failed last it is the first clause missed; of a pass, the last check that
        held, with all clauses that its value was held against. A check that says the opposite of
        the outcome explains nothing.
        """
        held = [check for check in self.checks if check.passed]
        missed = [check for check in self.checks if not check.passed]
        if not failed:
            return _with_all_clauses(held) if held else None
        # What stopped a test is its last comparison: a miss before it was tolerated.
        if not missed or self.checks[-1].metric != missed[-1].metric:
            return None
        return next(check for check in missed if check.metric == missed[-1].metric)


def _with_all_clauses(held: Sequence[Check]) -> Check:
    """Return the last check, with the limits of all that are about its metric."""
    last = held[-1]
    limits = dict.fromkeys(check.limit for check in held if check.metric == last.metric)
    return replace(last, limit=", ".join(limits))
