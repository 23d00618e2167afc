"""`tickets.json` and `tickets.csv` of a run directory, and the first of them read again."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from pytest_fabric.errors import ConfigError
from pytest_fabric.report import atomic, records, typed
from pytest_fabric.report.export import cell
from pytest_fabric.report.tickets import words
from pytest_fabric.report.tickets.record import SCHEMA, End, Ticket, Tickets, Value

JSON, CSV = "tickets.json", "tickets.csv"

COLUMNS = (
    *("run", "ticket", "kind", "place", "confidence", "summary", "action", "what_to_do", "why"),
    *("tried", "slot", "device", "netdevs", "card", "vendor", "part", "serial", "lanes"),
    *("other_end", "other_vendor", "other_part", "other_serial"),
    *("raw_ber", "raw_ber_exposure_s", "effective_ber", "effective_ber_exposure_s", "flaps"),
    *("flap_times", "values", "log", "controls", "failed_checks", "not_known"),
)


def write(directory: Path, found: Tickets) -> None:
    """Write both files, each whole or not at all. Raises OSError."""
    atomic.write(directory / JSON, records.dumps(found, indent=1) + "\n")
    atomic.write(directory / CSV, to_csv(found))


def read(directory: Path) -> Tickets:
    """Return the tickets of a run directory. Raises ConfigError for what is none."""
    path = directory / JSON
    if not path.is_file():
        raise ConfigError(
            f"{path}: expected the tickets of a run, found none: `pytest-fabric report "
            f"{directory}` writes them"
        )
    try:
        record = records.loads(path.read_bytes())
        if record["schema"] == SCHEMA:
            return typed.read(Tickets, record)
    except OSError as error:
        raise ConfigError(f"{path}: cannot read it: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path}: expected a record of this product, got {repr(error)[:200]}"
        ) from None
    raise ConfigError(
        f"{path}: expected schema {SCHEMA}, found {str(record['schema'])[:20]!r}: another version "
        "wrote it, use that one"
    )


def to_csv(found: Tickets) -> str:
    """Return one row per ticket, as RFC 4180 has it, with nothing that is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for ticket in found.tickets:
        row = dict(_row(found, ticket))
        writer.writerow([cell(row[name]) for name in COLUMNS])
    return text.getvalue()


def _row(found: Tickets, ticket: Ticket) -> Iterator[tuple[str, object]]:
    here = ticket.ends[0] if ticket.ends else End("")
    there = ticket.ends[1] if len(ticket.ends) > 1 and ticket.kind == "cable" else End("")
    yield from (("run", found.run), ("ticket", ticket.id), ("kind", ticket.kind))
    yield from (("place", ticket.place), ("confidence", ticket.confidence))
    yield from (("summary", ticket.summary), ("action", ticket.action.step))
    yield from (("what_to_do", ticket.action.words), ("why", ticket.action.why))
    yield "tried", ", ".join(ticket.tried)
    yield from (("slot", here.slot), ("device", here.device), ("netdevs", here.netdevs))
    yield from (("card", here.card), ("vendor", here.vendor), ("part", here.part))
    yield from (("serial", here.serial), ("lanes", "; ".join(here.lanes)))
    yield from (("other_end", there.place), ("other_vendor", there.vendor))
    yield from (("other_part", there.part), ("other_serial", there.serial))
    for name in ("raw_ber", "effective_ber"):
        one = _of(ticket, f"link.{name}")
        yield name, None if one is None else one.value
        yield f"{name}_exposure_s", None if one is None else one.exposure_s
    flaps = _of(ticket, "link.flaps")
    yield "flaps", None if flaps is None else flaps.value
    yield "flap_times", "; ".join(words.flap(flap) for flap in ticket.flaps)
    yield "values", "; ".join(_told(one) for one in ticket.values)
    yield "log", " | ".join(ticket.log)
    yield (
        "controls",
        "; ".join(
            f"{one.port} ({', '.join(_told(value) for value in one.values)})"
            for one in ticket.controls
        ),
    )
    yield "failed_checks", ", ".join(f"{one.check}[{one.target}]" for one in ticket.failed)
    yield (
        "not_known",
        "; ".join((*ticket.unknown, *(u for end in ticket.ends for u in end.unknown))),
    )


def _of(ticket: Ticket, metric: str) -> Value | None:
    found = (v for v in ticket.values if v.metric == metric and v.target == ticket.place)
    return next(found, None)


def _told(one: Value) -> str:
    return f"{one.metric} {words.shown(one)}"
