"""A ticket measured again: mended, still bad, or changed, with what was and what is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from pytest_fabric.report.blame import MEASURED
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.places import fold
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.text import listed
from pytest_fabric.report.tickets import known, make, words
from pytest_fabric.report.tickets.known import Known
from pytest_fabric.report.tickets.parts import OF_PORTS
from pytest_fabric.report.tickets.record import Failed, Ticket, Value
from pytest_fabric.results import Verdict

#: Where the conclusion is kept, in the directory of the retest.
FILE = "retest.json"

MENDED, STILL_BAD, CHANGED, NOT_TOLD = "mended", "still bad", "changed", "not told"

#: A check and its target.
Asked = tuple[str, str]

#: So many names are told in a reason.
SHOWN = 3


@dataclass(frozen=True)
class Again:
    """One check of a ticket: its outcome now, `not measured` where it has none."""

    check: str
    target: str
    outcome: str


@dataclass(frozen=True)
class Row:
    """A value before and after, and those of the controls now, in words."""

    metric: str
    target: str
    before: str
    after: str
    limit: str
    controls: tuple[str, ...]


@dataclass(frozen=True)
class Retested:
    """What a retest comes to: `word` is mended, still bad, changed or not told, and why.

    `next_step` is what to do next where it is still bad, in words; nothing else.
    """

    ticket: str
    before: str
    after: str
    word: str
    reasons: tuple[str, ...]
    checks: tuple[Again, ...]
    values: tuple[Row, ...]
    controls: tuple[str, ...]
    next_step: str


def required(ticket: Ticket) -> list[Failed]:
    """Return the checks of a ticket that must hold: of a port its own, and those of its pairs.

    What all ports of its node show at once is not measured again: that would load the others.
    """
    if ticket.kind not in OF_PORTS:
        return list(ticket.failed)
    return [one for one in ticket.failed if ticket.place in one.target.split("..")]


def retested(
    ticket: Ticket,
    earlier: str,
    record: RunRecord,
    controls: Sequence[str],
    measured: AbstractSet[Asked] = frozenset(),
) -> Retested:
    """Return what a run that measured a ticket again says of it.

    `measured` are the checks and targets that the earlier run has a value of.
    """
    found = {(v.check, v.target): v for v in record.verdicts}
    checks = [
        Again(one.check, one.target, _outcome(found.get((one.check, one.target))))
        for one in required(ticket)
    ]
    word, reasons = _concluded(ticket, checks, record.verdicts, controls, measured)
    seen = Known(record)
    return Retested(
        ticket=ticket.id,
        before=earlier,
        after="" if record.path is None else record.path.name,
        word=word,
        reasons=tuple(reasons),
        checks=tuple(checks),
        values=tuple(_rows(ticket, seen, controls)),
        controls=tuple(controls),
        next_step=_next(ticket, record) if word == STILL_BAD else "",
    )


def measured(verdicts: Iterable[Verdict]) -> AbstractSet[Asked]:
    """Return the checks and targets of which a run has a value."""
    return {(v.check, v.target) for v in verdicts if v.outcome in MEASURED}


def _outcome(verdict: Verdict | None) -> str:
    return "not measured" if verdict is None else verdict.outcome


def _concluded(
    ticket: Ticket,
    checks: Sequence[Again],
    verdicts: Sequence[Verdict],
    controls: Sequence[str],
    measured: AbstractSet[Asked],
) -> tuple[str, list[str]]:
    """Return the word and the reasons: nothing is mended that was not measured."""
    bad = [one for one in checks if one.outcome in ("failed", "waived")]
    untold = [one for one in checks if one.outcome not in ("failed", "waived", "passed")]
    asked = {(one.check, one.target) for one in checks}
    others = [v for v in verdicts if (v.check, v.target) not in asked]
    mine = [v for v in others if set(ticket.places).intersection(v.target.split(".."))]
    theirs = [v for v in others if v not in mine and set(controls) & set(v.target.split(".."))]
    known = [v for v in mine if (v.check, v.target) in measured]
    fresh = [v for v in mine if (v.check, v.target) not in measured]
    new = [
        *_told("now fails, and did not before", known, ("failed", "waived")),
        *_told("fails, and was not measured before", fresh, ("failed", "waived")),
        *_told("the fault may have moved: now fails", theirs, ("failed", "waived")),
    ]
    dumb = _told("could not be told", mine, ("error", "not run"))
    if bad:
        count = f"{len(bad)} of {len(checks)} checks fail again: {_names(bad)}"
        return STILL_BAD, [count, *new, *dumb]
    if untold or not checks:
        left = f"{len(untold)} of {len(checks)} checks have no value: {_names(untold)}"
        return NOT_TOLD, [left if checks else "the ticket has no check of its place", *new, *dumb]
    if new:
        return CHANGED, [f"all {len(checks)} checks hold", *new, *dumb]
    if dumb:
        return NOT_TOLD, dumb
    return MENDED, [f"all {len(checks)} checks hold"]


def _told(words_of_it: str, verdicts: Iterable[Verdict], outcomes: Sequence[str]) -> list[str]:
    found = [v for v in verdicts if v.outcome in outcomes]
    if not found:
        return []
    names = list(dict.fromkeys(v.check for v in found))
    places = fold([v.target for v in found])
    return [clean_line(f"{words_of_it}: {listed(names, SHOWN)} ({places})")]


def _names(checks: Sequence[Again]) -> str:
    return listed([f"{one.check}[{one.target}]" for one in checks], SHOWN)


def _rows(ticket: Ticket, seen: Known, controls: Sequence[str]) -> Iterator[Row]:
    """Yield each value of the ticket, with what it is now, here and at the controls."""
    pairs = {(v.metric, v.target): v for v in seen.record.verdicts if v.metric}
    own: Mapping[str, Value] = {
        value.metric: value
        for value in known.values(seen, ticket.place, [v.metric for v in ticket.values])
    }
    for before in ticket.values:
        verdict = pairs.get((before.metric, before.target))
        after = own.get(before.metric) if before.target == ticket.place else None
        if after is None and verdict is not None:
            after = known.of_verdict(verdict)
        yield Row(
            metric=before.metric,
            target=before.target,
            before=_shown(before),
            after="not measured" if after is None else _shown(after),
            limit=before.limit or "",
            controls=tuple(_beside(seen, one, before.metric) for one in controls),
        )


def _beside(seen: Known, port: str, metric: str) -> str:
    own = known.values(seen, port, [metric])
    others = known.worst(v for v in seen.pairs(port) if v.metric == metric)
    found = [*own, *(known.of_verdict(v) for v in others.values())]
    return words.shown(found[0]) if found else "not measured"


def _shown(one: Value) -> str:
    seen = f" in {one.exposure_s:,.0f} s" if one.exposure_s is not None else ""
    return f"{words.shown(one)}{seen}"


def _next(ticket: Ticket, record: RunRecord) -> str:
    """Return what the tickets of the retest say of the same place, what was tried left out."""
    same = [one for one in make.tickets_of(record).tickets if one.id == ticket.id]
    alike = same or [one for one in make.tickets_of(record).tickets if one.place == ticket.place]
    return alike[0].action.words if alike else replace(ticket.action).words


def lines(found: Retested) -> Iterator[str]:
    """Yield what is printed of a retest: the word, the reasons, before and after, what is next."""
    yield f"{found.ticket}: {found.word}"
    yield from (f"  {reason}" for reason in found.reasons)
    head = ("metric", "where", "before", "after", "limit", *found.controls)
    table = [
        head,
        *((r.metric, r.target, r.before, r.after, r.limit, *r.controls) for r in found.values),
    ]
    widths = [max(len(row[n]) for row in table) for n in range(len(head))]
    for row in table if found.values else ():
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
    if found.next_step:
        yield f"next: {found.next_step}"
