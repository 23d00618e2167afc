"""What a reader wants first: the verdict, how much was measured, and whom to suspect."""

from __future__ import annotations

from collections import Counter, defaultdict

from pytest_fabric.report import concluded, summary
from pytest_fabric.report.planned import OUTCOMES
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.record import RunRecord

#: Suspected places are listed up to here; a fabric without its manager suspects everything.
SUSPECTS = 50


def section(record: RunRecord) -> list[str]:
    """Return verdict, counts, coverage, suspects and failed checks."""
    state, said = concluded.conclusion(record)
    lines = summary.lines(record.run)
    return [
        f'<p class="verdict {state}">{markup.mark(state, said)}</p>',
        *(f"<p>{markup.safe(line)}</p>" for line in lines[:1]),
        *_coverage(record),
        *(f"<p>{markup.safe(note)}</p>" for note in (*record.notes, *record.baseline)),
        *_suspects(record),
        *_checks(record),
        markup.folded("Summary as in the terminal", markup.block("\n".join(lines))),
    ]


def _coverage(record: RunRecord) -> list[str]:
    if not record.run.declared:
        return []
    found = record.coverage
    state = "error" if found.missing else "partial" if found.unasked else "passed"
    return [f"<p>Coverage: {markup.mark(state, f'declared ports: {found.in_words}')}</p>"]


def _suspects(record: RunRecord) -> list[str]:
    found = record.suspects
    if not found:
        return []
    rows = [
        (
            f"<b>{markup.safe(s.place)}</b>",
            "" if s.confidence is None else f"{100 * s.confidence:.0f}%",
            markup.safe(s.explanation),
            markup.safe(s.advice),
        )
        for s in found
    ]
    left = len(rows) - SUSPECTS
    more = [f"<p>and {left:,} more places</p>"] if left > 0 else []
    followed = [f"<p>{markup.safe(record.run.followed)}</p>"] if record.run.followed else []
    return [
        "<h3>Suspects</h3>",
        *followed,
        markup.table(("place", "sure", "why", "what to do next"), rows[:SUSPECTS]),
        *more,
    ]


def _checks(record: RunRecord) -> list[str]:
    """Return each check that is not green everywhere, with its counts and places."""
    groups: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    bad: dict[tuple[str, str], list[str]] = defaultdict(list)
    for v in record.verdicts:
        groups[v.layer, v.check][v.outcome if v.outcome in OUTCOMES else "error"] += 1
        if v.outcome not in ("passed", "skipped"):
            bad[v.layer, v.check].append(v.target)
    rows = [
        (
            markup.safe(key[0]),
            markup.safe(key[1]),
            " ".join(markup.mark(name, f"{groups[key][name]:,} {name}") for name in OUTCOMES
                     if groups[key][name]),
            markup.safe(summary.where(targets)),
        )
        for key, targets in bad.items()
    ]  # fmt: skip
    head = ("layer", "check", "outcomes", "where")
    return ["<h3>Checks that do not hold</h3>", markup.table(head, rows)] if rows else []
