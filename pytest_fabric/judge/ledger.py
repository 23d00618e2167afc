"""What a test did with the values it was given: the evidence that it judged something."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Check:
    """One comparison of a value with a limit; `source` is where the limit stands, if known."""

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


@dataclass
class Ledger:
    """The checks that one test made, in order, and the metrics it read."""

    checks: list[Check] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)

    def verdict_check(self) -> Check | None:
        """Return the check that decides, or None when there is none.

        Of the value that failed last it is the first clause missed; without a miss the last check.
        """
        failed = [check for check in self.checks if not check.passed]
        if not failed:
            return self.checks[-1] if self.checks else None
        return next(check for check in failed if check.metric == failed[-1].metric)
