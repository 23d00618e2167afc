"""The end of a run in the terminal: at most 30 lines, whatever happened."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fabric.report import acting, contention, reasons, soak, text, training
from pytest_fabric.report.blame import is_unloaded
from pytest_fabric.report.causes import Cause, causes
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.covered import coverage
from pytest_fabric.report.places import fold
from pytest_fabric.report.planned import OUTCOMES
from pytest_fabric.report.ran import Run as Run
from pytest_fabric.report.suspects import Suspect
from pytest_fabric.report.text import listed
from pytest_fabric.report.tickets import parts
from pytest_fabric.report.tickets.advised import with_advice
from pytest_fabric.results import Verdict

#: A line is cut here: two rows of a usual terminal.
WIDTH = 160
#: A list of places is cut here.
PLACES = 70

#: So many checks are named that had no load.
CHECKS = 3

#: So many lines there are at most; what to do next is told where it fits.
LINES = 30

#: Lines of each part: with the three other lines, the headings and the counts of what is left out,
#: 30 in all.
EXCLUDED, SKIPPED, WAIVED, SUSPECTS, FAILURES, ERRORS, CONTENTION = 1, 1, 1, 4, 4, 3, 1

#: Lines of notes about the whole run, before everything else.
NOTES = 5
CUT = ["and more notes, see the report"]

CONTENDED = "contention (missed under load, held alone)"


def lines(run: Run, notes: Sequence[str] = ()) -> list[str]:
    """Return the summary of a run, at most 30 lines with its notes, what to act on at the end."""
    first = _limited(list(notes), NOTES, "notes")  # each is whole: it may be a path or a remedy
    for less in range(max(SUSPECTS, FAILURES, ERRORS)):
        found = _lines(run, less, LINES - len(first))
        if len(first) + len(found) <= LINES:
            break
    room = max(0, LINES - len(found))
    return [*(first if len(first) <= room else first[: max(0, room - 1)] + CUT[:room]), *found]


def _lines(run: Run, less: int, most: int) -> list[str]:
    """Return the summary without the notes; `less` lines are taken from each of its long parts.

    What to do next is told as far as `most` lines are left for it.
    """
    failed, wrong, suspected_most = (max(1, most - less) for most in (FAILURES, ERRORS, SUSPECTS))
    verdicts, suspected = run.ended, with_advice(run)
    ranked = _ranked(suspected)
    tickets = parts.line(run) if run.has_tickets else ""
    failed = max(1, failed - bool(tickets))  # its line takes the place of another one
    found = [
        _counts(verdicts),
        *_coverage(run.declared, verdicts),
        *([] if run.soak is None else soak.lines(run.soak, run.directory)),
        *_limited(_excluded(run.excluded), EXCLUDED, "reasons"),
        *_limited(_skipped(verdicts), SKIPPED, "reasons"),
        *_limited(_waived(verdicts), WAIVED, "waivers"),
        *_unused(run.unused),
        *_part("errors", _errors(verdicts), wrong, "causes"),
        *_part(CONTENDED, contention.lines(verdicts), CONTENTION, "checks"),
        *_part("failures", _failures(verdicts, causes(verdicts, suspected)), failed, "checks"),
    ]
    last = [tickets] if tickets else acting.then(verdicts, run.directory)
    last = [*last, f"run directory: {run.directory}"] if run.directory else []
    followed = [run.followed] if run.followed else []
    trained = [] if run.workload is None else [training.line(run.workload, verdicts)]
    shown = max(1, suspected_most - len(followed) - len(trained))
    places = [
        *trained,
        *followed,
        *_part("suspects", acting.numbered(ranked), shown, "groups of places"),
    ]
    room = most - len(found) - len(places) - len(last)
    found += acting.advised(places, ranked, room)
    return [*(_cut(line, WIDTH) for line in found), *last]


def _counts(verdicts: Sequence[Verdict]) -> str:
    counts = Counter(v.outcome if v.outcome in OUTCOMES else "error" for v in verdicts)
    if counts["error"] > 1:
        counts["errors"] = counts.pop("error")
    order = ("passed", "skipped", "waived", "not run", "error", "errors", "failed")
    shown = [f"{counts[name]:,} {name}" for name in order if counts[name]]
    return f"{len(verdicts):,} checks: {', '.join(shown) or 'nothing was planned'}"


def _coverage(declared: Sequence[str], verdicts: Sequence[Verdict]) -> list[str]:
    if not declared:
        return []
    found = coverage(declared, verdicts)
    missing = f"; not measured: {where(found.missing)}" if found.missing else ""
    return [f"ports: {found.in_words}{missing}"]


def _excluded(excluded: Mapping[str, str]) -> list[str]:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for node, reason in excluded.items():
        by_reason[clean_line(reason)].append(node)
    return [f"excluded: {where(nodes)} ({reason})" for reason, nodes in by_reason.items()]


def _skipped(verdicts: Sequence[Verdict]) -> list[str]:
    found = reasons.counted(v for v in verdicts if v.outcome == "skipped")
    return [f"skipped: {count:,} x {reason}" for reason, count in found]


def _waived(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the failures that somebody answers for, by check and waiver: always shown."""
    found = [verdict for verdict in verdicts if verdict.outcome == "waived"]
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for verdict in found:
        groups[verdict.check, _message(verdict)].append(verdict.target)
    return [
        f"waived: {len(targets):,} x {check}  {where(targets)} ({told.removeprefix('waived ')})"
        for (check, told), targets in groups.items()
    ]


def _unused(waivers: Sequence[str]) -> list[str]:
    return [f"waivers that matched no failure: {', '.join(waivers)}"] if waivers else []


def _errors(verdicts: Sequence[Verdict]) -> list[str]:
    by_cause: dict[str, list[str]] = defaultdict(list)
    unloaded = [v for v in verdicts if is_unloaded(v)]
    if unloaded:
        names = listed(list(dict.fromkeys(v.check for v in unloaded)), CHECKS)
        by_cause[f"not measured without load: {names}"] = [v.target for v in unloaded]
    for v in verdicts:
        if is_unloaded(v):
            continue
        if v.outcome not in ("passed", "failed", "waived", "skipped", "not run"):
            by_cause[_message(v).removeprefix(f"{v.target}: ") or v.check].append(v.target)
    return [
        f"{len(targets):,} x {where(sorted(set(targets)))}: {cause}"
        for cause, targets in by_cause.items()
    ]


def _failures(verdicts: Sequence[Verdict], roots: Sequence[Cause]) -> list[str]:
    """Return facts with what follows from them, then all other failures by check."""
    told = {id(one) for root in roots for one in (root.fact, *root.followers)}
    rest = [one for one in verdicts if one.outcome == "failed" and id(one) not in told]
    return [clean_line(root.line) for root in roots] + _alone(_by_check(rest))


def _alone(groups: Sequence[Sequence[Verdict]]) -> list[str]:
    return [f"{_head(group)}{_values(group) or _colon(_message(group[0]))}" for group in groups]


def _ranked(found: Sequence[Suspect]) -> list[Suspect]:
    """Return the suspects in their order, places of one explanation as one."""
    alike: dict[tuple[float | None, str], list[Suspect]] = defaultdict(list)
    for suspect in found:
        alike[suspect.confidence, suspect.explanation].append(suspect)
    return [
        _as_one(same, where([s.place for s in same])) if len(same) > 1 else same[0]
        for same in alike.values()
    ]


def _as_one(same: Sequence[Suspect], place: str) -> Suspect:
    first = same[0]
    return replace(first, place=place, advice=first.advice.replace(first.place, place))


def _by_check(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    groups: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[verdict.layer, verdict.check].append(verdict)
    return list(groups.values())


def _head(group: Sequence[Verdict]) -> str:
    return f"{len(group):,} x {group[0].check}  {where([verdict.target for verdict in group])}"


def _values(group: Sequence[Verdict]) -> str:
    """Return the range of the values and the limit, when the whole group has the same one."""
    first = group[0]
    same = {(verdict.metric, verdict.limit) for verdict in group}
    if len(same) > 1 or first.limit is None or first.value is None:
        return ""
    ends = [text.value(end) for end in (min(group, key=_order), max(group, key=_order))]
    return f" ({' .. '.join(dict.fromkeys(ends))}, limit {clean_line(first.limit)})"


def _order(verdict: Verdict) -> tuple[float, str]:
    value = verdict.value
    return (0.0, str(value)) if isinstance(value, str) or value is None else (value, "")


def _message(verdict: Verdict) -> str:
    return clean_line((verdict.message or "").strip().split("\n", 1)[0])


def _colon(message: str) -> str:
    return f": {message}" if message else ""


def where(places: Sequence[str]) -> str:
    """Return places folded, and cut with their number where there are many."""
    folded = fold(places)
    if len(folded) <= PLACES:
        return folded
    return f"{_cut(folded, PLACES)} ({len(places):,} in all)"


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 3]}..."


def _part(title: str, found: Sequence[str], most: int, things: str) -> list[str]:
    body = [f"  {line}" for line in _limited(found, most, things)]
    return [f"{title}:", *body] if body else []


def _limited(found: Sequence[str], most: int, things: str) -> list[str]:
    # One line too many is shown rather than counted: the count would take that line.
    if len(found) <= most + 1:
        return list(found)
    return [*found[:most], f"and {len(found) - most:,} more {things}"]
