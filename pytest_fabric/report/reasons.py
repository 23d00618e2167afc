"""Why checks were skipped, in words that are the same for all ports with the same reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pytest_fabric.report.clean import clean_line
from pytest_fabric.results import Verdict


def reason(verdict: Verdict) -> str:
    """Return the first line of a message without its own target, or the name of the check."""
    first = clean_line((verdict.message or "").strip().split("\n", 1)[0])
    return first.removeprefix(f"{clean_line(verdict.target)}: ") or verdict.check


def counted(verdicts: Iterable[Verdict]) -> list[tuple[str, int]]:
    """Return each reason with the number of its checks, the most common first."""
    return Counter(map(reason, verdicts)).most_common()
