"""What a run comes to, in one sentence: one verdict, which the pages to sign must agree with."""

from __future__ import annotations

from collections import Counter

from pytest_fabric.report.planned import OUTCOMES
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.signoff.sheet import NOT_READY, sheets
from pytest_fabric.report.text import listed

#: So many reasons why nobody can sign are named.
REASONS = 3


def conclusion(record: RunRecord) -> tuple[str, str]:
    """Return the state of the whole run and its sentence.

    A run is fit where each of its leaves is ready; `partial` is one in which all that was asked
    for holds, and that did not ask for all.
    """
    counts = Counter(v.outcome if v.outcome in OUTCOMES else "error" for v in record.verdicts)
    unsettled = counts["error"] + counts["not run"]
    if counts["failed"]:
        more = f"; {unsettled:,} could not be told" if unsettled else ""
        checks = "check is" if counts["failed"] == 1 else "checks are"
        return "failed", f"Not fit: {counts['failed']:,} {checks} outside the limits{more}"
    if unsettled:
        return "error", f"Not shown: {unsettled:,} of {len(record.verdicts):,} could not be told"
    if not counts["passed"]:
        return "error", "Not shown: nothing was measured"
    if record.is_coverage_short:
        return "error", "Not shown: too few of the declared ports were measured"
    holding = f"{counts['passed']:,} check{' holds' if counts['passed'] == 1 else 's hold'}"
    waived = f", {counts['waived']:,} failures are waived" if counts["waived"] else ""
    lacking = _lacking(record)
    if lacking:
        return "partial", f"Not all was shown: {holding}{waived}; {lacking}"
    if waived:
        return "passed", f"Fit but for waivers: {holding}{waived}"
    return "passed", f"Fit: all {counts['passed']:,} checks that apply hold"


def _lacking(record: RunRecord) -> str:
    """Return what keeps leaves from being signed for; nothing of a record that no run has made."""
    if record.about is None:
        return ""
    reasons: dict[str, None] = {}
    for sheet in sheets(record):
        if sheet.conclusion == NOT_READY:
            reasons |= dict.fromkeys(_short(sheet.reasons or ["nothing was measured"]))
    return listed(list(reasons), REASONS)


def _short(reasons: list[str]) -> list[str]:
    # Ports differ from leaf to leaf; the pages to sign have them.
    return [reason.partition(": ")[0] for reason in reasons]
