"""How many of the declared ports a run has measured, and what of them: one answer for all reports.

The terminal, the HTML report, the pages to sign and the exit status ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fabric.metrics import BANDWIDTH_TOOLS, LATENCY_TOOLS
from pytest_fabric.report.blame import MEASURED
from pytest_fabric.report.places import is_pair, ports_of
from pytest_fabric.results import Verdict

#: What must be known of a port before anybody signs for it.
KINDS = ("link", "latency", "bandwidth")


@dataclass(frozen=True)
class Coverage:
    """The declared ports with a value of all that the run asked for, and those without.

    `unasked` are the kinds of which the run had no check: its ports are measured, but not in full.
    """

    measured: tuple[str, ...]
    missing: tuple[str, ...]
    unasked: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """Return how many ports were measured, in per cent too, and what was not asked for."""
        count = len(self.measured) + len(self.missing)
        tenths = 1000 * len(self.measured) // max(1, count)  # down: 999 of 1,000 are not 100 %
        left = f", without a check of {', '.join(self.unasked)}" if self.unasked else ""
        return f"{len(self.measured):,} of {count:,} measured ({tenths / 10:g}%){left}"


def coverage(declared: Sequence[str], verdicts: Sequence[Verdict]) -> Coverage:
    """Return which declared ports have a verdict that rests on a value: passed or failed.

    A run that judges ports and pairs must have a value of both: the facts of a port that is in no
    pair say nothing about its traffic. So it is with link, latency and bandwidth, as far as the run
    has a check of them that was not skipped.
    """
    seen: dict[str, set[str]] = {}
    for verdict in verdicts:
        ends = ports_of(verdict.target)
        if not ends:
            continue
        kind = kind_of(verdict)
        has_value = verdict.outcome in MEASURED and verdict.value is not None
        general = seen.setdefault("pair" if is_pair(verdict.target) else "port", set())
        general.update(ends if has_value else ())
        if kind is not None and verdict.outcome != "skipped":
            seen.setdefault(kind, set()).update(ends if has_value else ())
    common = set.intersection(*seen.values()) if seen else set()
    # A pair that is an error does not say of what: it may be of what is missing.
    known = {*seen, *(KINDS if any(map(_is_untold, verdicts)) else ())}
    return Coverage(
        tuple(port for port in declared if port in common),
        tuple(port for port in declared if port not in common),
        tuple(kind for kind in KINDS if kind not in known),
    )


def _is_untold(verdict: Verdict) -> bool:
    is_open = verdict.outcome not in (*MEASURED, "skipped")
    return is_open and verdict.metric is None and is_pair(verdict.target)


def kind_of(verdict: Verdict) -> str | None:
    """Return which of the kinds a verdict on a port or pair is about, if it is about any."""
    if not is_pair(verdict.target):
        return "link" if verdict.layer == "link" else None
    first = (verdict.metric or "").partition(".")[0]
    if first in LATENCY_TOOLS:
        return "latency"
    return "bandwidth" if first in BANDWIDTH_TOOLS else None
