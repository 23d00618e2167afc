"""Values as tests see them: each knows its unit and metric, and notes what it is compared with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pytest_fabric.errors import MissingValueError, UnitError
from pytest_fabric.judge.ledger import Check, Ledger
from pytest_fabric.results import Exposure
from pytest_fabric.units import Quantity, render

#: The middle of other measurements, and in words where it comes from. Raises MissingValueError.
Others = Callable[[], tuple[float, str]]


#: Said of values that hold and miss by turns, with nothing beside them.
UNSTABLE = ": unstable"


@dataclass(frozen=True)
class Settled:
    """Whether a comparison holds, the value that decided it, and what was under load and alone."""

    passed: bool
    value: Value
    company: str | None = None
    repetition: int | None = None

    def note(
        self,
        limit: str,
        source: str | None,
        profile: str | None,
        beside: tuple[tuple[str, str], ...] = (),
    ) -> None:
        """Write down that the value was compared with a limit, and what set it."""
        value = self.value
        value.ledger.checks.append(
            Check(
                metric=value.metric,
                label=value.label,
                value=value.number,
                unit=value.unit,
                shown=str(value),
                limit=limit,
                source=source,
                profile=profile,
                passed=self.passed,
                detail=value.detail,
                company=self.company,
                repetition=self.repetition,
                beside=beside,
            )
        )


@dataclass(frozen=True, eq=False)
class Value:
    """A measured number in a base unit, or a word (unit `word`) such as a port's state.

    Compare it with a quantity (`us(5)`), with a plain number if it is a count, with a string if it
    is a word, or ask whether it is in a limit. Raises UnitError when units differ, and when it is
    used as a truth value, since `assert result.p99` would always hold.

    A miss that the load of other measurements may have caused is no verdict: `alone` returns the
    values without it, and they decide; `tolerant` lets one of them that holds be enough. A rate is
    held only against bounds that its `exposure` can show: any other raises MissingValueError.
    `peers` and `baseline` return the middle of what other pairs, or earlier runs, have of the same
    metric, and in words where it comes from. What is `short` of what was asked for,
    in words, can miss a bound but holds none: that raises MissingValueError, too.
    """

    number: float | str
    unit: str
    metric: str
    label: str
    ledger: Ledger = field(repr=False)
    detail: tuple[str, ...] = ()
    alone: Callable[[], tuple[Value, ...]] | None = field(default=None, repr=False)
    exposure: Exposure | None = field(default=None, repr=False)
    tolerant: bool = False
    peers: Others | None = field(default=None, repr=False)
    baseline: Others | None = field(default=None, repr=False)
    moments: tuple[str, str] = field(default=("under load", "alone"), repr=False)
    short: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.number if isinstance(self.number, str) else render(self.number, self.unit)

    def __float__(self) -> float:
        if isinstance(self.number, str):
            raise UnitError(f"{self.metric} is the word {self.number!r}, not a number")
        return self.number

    def __bool__(self) -> bool:
        raise UnitError(f"{self.metric} is {self}: compare it with a limit, not with nothing")

    def __lt__(self, other: object) -> bool:
        return self._compare("<", other)

    def __le__(self, other: object) -> bool:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> bool:
        return self._compare(">", other)

    def __ge__(self, other: object) -> bool:
        return self._compare(">=", other)

    def __eq__(self, other: object) -> bool:
        return self._compare("==", other)

    def __ne__(self, other: object) -> bool:
        return self._compare("!=", other)

    __hash__ = None  # type: ignore[assignment]  # equality notes a check, so it cannot be a key

    def _compare(self, sign: str, other: object) -> bool:
        bound = _operand(self, other)
        if sign == "!=" and not isinstance(bound, str):
            raise UnitError(f"cannot judge {self.metric} by !=: nearly every number passes")
        if not isinstance(bound, str) and not math.isfinite(bound):
            raise UnitError(f"cannot judge {self.metric} by {bound}: no number misses it")
        settled = self.settle(lambda value: value.holds(sign, bound))
        settled.note(f"{sign} {other}", None, None)
        return settled.passed

    def holds(self, sign: str, bound: float | str) -> bool:
        """Return whether `value sign bound` holds. Raises UnitError, MissingValueError."""
        held = holds(self.number, sign, bound)
        if held and self.short:
            raise MissingValueError(f"{self.metric} is {self} so far, and {self.short}")
        watched = self.exposure
        if not held or watched is None or isinstance(bound, str) or bound >= watched.floor:
            return held
        raise MissingValueError(
            f"{self.metric} is {self}, but {_time(watched.seconds)} of counting cannot show "
            f"{sign} {bound:g}: that takes {_time(watched.needed_s(bound))} without an error; "
            "wait for that long, or raise the limit"
        )

    def settle(self, test: Callable[[Value], bool]) -> Settled:
        """Return whether a test holds; of a miss under load, whether it holds alone, each time.

        What holds alone at one time and misses at another is unstable: a miss, unless `tolerant`.
        """
        if test(self):
            return Settled(True, self)
        others = self.alone() if self.alone is not None else ()
        if not others:
            return Settled(False, self)
        held = [test(value) for value in others]
        is_unstable = any(held) and not all(held)
        passed = any(held) if self.tolerant else all(held)
        place = held.index(passed)
        decided = replace(others[place], ledger=self.ledger)
        first, then = self.moments
        company = f"{self} {first}, {', '.join(map(str, others))} {then}"
        return Settled(passed, decided, f"{company}{UNSTABLE if is_unstable else ''}", place)


def _time(seconds: float) -> str:
    """Return a time as people say it: `7.5 s`, `12.5 min`, `2.1 h`."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.2g} s"


def _operand(value: Value, other: object) -> float | str:
    if isinstance(other, Value):
        raise UnitError(f"cannot compare {value.metric} with {other.metric}: it takes a limit")
    if value.unit == "word" and isinstance(other, str):
        return other
    if isinstance(other, Quantity) and other.unit == value.unit:
        return other.number
    is_count = value.unit in ("", "/s", "B") and not isinstance(other, bool)
    if is_count and isinstance(other, int | float):
        return other
    raise UnitError(f"cannot compare {value.metric} {value} with {other!r}: different units")


def holds(left: float | str, sign: str, right: float | str) -> bool:
    """Return whether `left sign right` holds; words know only equality. Raises UnitError."""
    if isinstance(left, str) or isinstance(right, str):
        if sign not in ("==", "!="):
            raise UnitError(f"cannot order {left!r} and {right!r}")
        return (left == right) is (sign == "==")
    return {
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
        "==": left == right,
        "!=": left != right,
    }[sign]
