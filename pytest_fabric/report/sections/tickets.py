"""What has to be put right: a ticket for each cable or part, with both ends and controls."""

from __future__ import annotations

from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.tickets import make, words
from pytest_fabric.report.tickets.record import End, Ticket, Value

#: So many tickets are shown; tickets.json and tickets.csv have all.
SHOWN = 100

END = ("slot", "device", "netdevs", "card", "module", "state", "speed", "fec")


def section(record: RunRecord) -> list[str]:
    """Return a row for each ticket, and its details folded; nothing where all is well."""
    found = make.tickets_of(record).tickets
    if not found:
        return []
    rows = [
        (
            f"<b>{markup.safe(one.id)}</b>",
            "" if one.confidence is None else f"{100 * one.confidence:.0f}%",
            markup.safe(one.summary),
            f"<b>{markup.safe(one.action.step)}</b>: {markup.safe(one.action.words)}",
            markup.safe(one.action.why),
        )
        for one in found[:SHOWN]
    ]
    left = len(found) - SHOWN
    more = [f"<p>and {left:,} more in tickets.json and tickets.csv</p>"] if left > 0 else []
    head = ("ticket", "sure", "what fails", "what to do next", "what speaks for it")
    return [
        "<h2>Tickets</h2>",
        "<p>One for each cable or part; after the repair, <code>pytest-fabric retest TICKET</code> "
        "measures it again beside its controls. All of them: tickets.json, tickets.csv.</p>",
        markup.table(head, rows),
        *(_details(one) for one in found[:SHOWN]),
        *more,
    ]


def _details(ticket: Ticket) -> str:
    ports = [control.port for control in ticket.controls]
    tried = f"<p>measured again after: {markup.safe(', '.join(ticket.tried))}</p>"
    logged = f"kernel log:\n{chr(10).join(ticket.log)}"
    flaps = [markup.safe(words.flap(flap)) for flap in ticket.flaps]
    parts = [
        *([tried] if ticket.tried else []),
        markup.table(("end", *END, "by lane"), [_end(end) for end in ticket.ends]),
        markup.table(
            ("what", "where", "value", "limit", "", "counted", *ports),
            [_value(ticket, one) for one in ticket.values],
        ),
        *(["<p>link lost in the windows of this run:</p>", markup.listed(flaps)] if flaps else []),
        *([markup.block(logged)] if ticket.log else []),
        *([f"<p>not known: {markup.safe('; '.join(_unknown(ticket)))}</p>"]),
    ]
    return markup.folded(markup.safe(ticket.id), "".join(parts))


def _unknown(ticket: Ticket) -> list[str]:
    ends = [f"{end.place}: {what}" for end in ticket.ends for what in end.unknown]
    return [*ticket.unknown, *ends] or ["nothing"]


def _end(end: End) -> list[str]:
    cells = [end.place, *(str(getattr(end, name) or "not told") for name in END)]
    return [*(markup.safe(one) for one in cells), "<br>".join(map(markup.safe, end.lanes))]


def _value(ticket: Ticket, one: Value) -> list[str]:
    beside = [
        next((words.shown(v) for v in control.values if v.metric == one.metric), "not measured")
        for control in ticket.controls
    ]
    sign = "" if one.outcome == "read" else markup.mark(one.outcome)
    cells = (one.metric, one.target, words.shown(one), one.limit or "")
    counted = words.exposure(one) or "; ".join(one.detail[:1])
    return [*map(markup.safe, cells), sign, markup.safe(counted), *map(markup.safe, beside)]
