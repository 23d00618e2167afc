"""What nobody may take for granted: what was not measured, and why; waivers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pytest_fabric.report import summary
from pytest_fabric.report.places import fold
from pytest_fabric.report.reasons import reason
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.results import Verdict

#: So many reasons of one kind are told.
REASONS = 100


def section(record: RunRecord) -> list[str]:
    """Return excluded nodes, ports without a value, skips and errors by reason, and waivers."""
    found = record.coverage
    absent, unasked = found.missing, ", ".join(found.unasked)
    rows = [
        *_excluded(record.run.excluded),
        *([("not measured", fold(absent), "no check has a value of it", "")] if absent else []),
        *([("not asked for", "all ports", f"no check of {unasked}", "")] if unasked else []),
        *_by_reason(record.verdicts, "not run", "not run"),
        *_by_reason(record.verdicts, "error", "could not be told"),
        *_by_reason(record.verdicts, "skipped", "skipped"),
        *_by_reason(record.verdicts, "waived", "waived"),
    ]
    cells = [[markup.safe(cell) for cell in row] for row in rows]
    head = ("what", "where", "why", "checks")
    return [
        "<h2>What was not measured, and why</h2>",
        markup.table(head, cells) if cells else "<p>Nothing: all that was planned has a value.</p>",
        *_waivers(record),
    ]


Row = tuple[str, str, str, str]


def _excluded(excluded: Mapping[str, str]) -> list[Row]:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for node, why in excluded.items():
        by_reason[why].append(node)
    return [("excluded", fold(nodes), why, "") for why, nodes in by_reason.items()]


def _by_reason(verdicts: Iterable[Verdict], outcome: str, word: str) -> list[Row]:
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for v in verdicts:
        if _outcome(v) == outcome:
            groups[reason(v)].append(v)
    rows = [
        (f"{len(found):,} {word}", _where(found), why, _checks(found))
        for why, found in groups.items()
    ]
    left = len(rows) - REASONS
    return [*rows[:REASONS], *([(f"and {left:,} more reasons", "", "", "")] if left > 0 else [])]


def _outcome(v: Verdict) -> str:
    known = ("passed", "failed", "waived", "skipped", "not run")
    return v.outcome if v.outcome in known else "error"


def _where(found: Sequence[Verdict]) -> str:
    # What has no place at all is called `no-...` by the names of its tests.
    places = dict.fromkeys(v.target for v in found if not v.target.startswith("no-"))
    return summary.where(sorted(places))


def _checks(found: Sequence[Verdict]) -> str:
    names = list(dict.fromkeys(v.check for v in found))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"


def _waivers(record: RunRecord) -> list[str]:
    told = [f"<p>{markup.safe(line)}</p>" for line in record.run.unused]
    if not record.waivers:
        return told
    rows = [
        [markup.safe(cell) for cell in (w.check, w.target, w.until, w.owner, w.reason)]
        for w in record.waivers
    ]
    head = ("check", "where", "until", "owner", "reason")
    return ["<h3>Waivers</h3>", markup.table(head, rows), *told]
