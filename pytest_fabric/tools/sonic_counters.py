"""SONiC's `show interfaces counters` in all its forms, and `portstat -j`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, json_text, tables
from pytest_fabric.tools.sonic_complaints import KNOWN

FORMS = ("errors", "rates", "fec-stats", "trim")

NOTES = re.compile(
    r"Last cached time was .*|The rates are calculated within [0-9.]+ seconds period|Reminder: .*"
)
CACHED = re.compile(r"Last cached time was (?:on )?([0-9-]{10}[ T][0-9:.]{5,20})")
STATES = {"U": "up", "D": "down", "X": "disabled"}

_NUMBER = r"(-?[0-9]{1,15}(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?)"
REAL = re.compile(_NUMBER)
PERCENT = re.compile(rf"{_NUMBER}%")
SHARE = re.compile(rf"{_NUMBER}(?: \(([0-9]{{1,3}}(?:\.[0-9]+)?)%\))?")
PACKETS = re.compile(rf"{_NUMBER}/s")
#: A big B for bytes; the unit follows the size of the value.
SPEED = re.compile(rf"{_NUMBER} ?([KMGT]?)([Bb])(?:/s|ps)")
SCALE = {"": 1e-6, "K": 1e-3, "M": 1, "G": 1e3, "T": 1e6}
TITLE = re.compile(r"[A-Z][A-Z0-9_]{1,30}")

#: Titles that mean something other than a plain counter, or have a clearer name.
NAMES = {
    "RX_ERR": "rx_errors",
    "TX_ERR": "tx_errors",
    "RX_DRP": "rx_drops",
    "TX_DRP": "tx_drops",
    "RX_OVR": "rx_overruns",
    "TX_OVR": "tx_overruns",
    "FEC_CORR": "fec_corrected",
    "FEC_UNCORR": "fec_uncorrected",
    "FEC_SYMBOL_ERR": "fec_symbol_errors",
}


@dataclass(frozen=True)
class PortCounters:
    """A port: its state, and what the table or the JSON told of it, by name.

    Counters are whole; `_mbps` are megabits per second, `_pps` packets per second. `since` is set
    when counters are differences since this user cleared them.
    """

    port: str
    state: str | None
    since: str | None
    values: Mapping[str, float | None]


def command(form: str | None = None) -> tuple[str, ...]:
    """Return the command line: all counters as JSON, or one of `FORMS` as a table."""
    if form is None:
        return ("portstat", "-j")
    if form not in FORMS:
        raise ValueError(f"form: expected one of {', '.join(FORMS)}, got {form!r}")
    return ("show", "interfaces", "counters", form)


def parse(text: str) -> list[PortCounters]:
    """Return the ports, from a table or from JSON.

    Columns differ by release: one that is not known is taken as a counter. Raises ToolError when
    the switch complains, NotRecognisedError for any other text.
    """
    complaints.check(text, KNOWN)
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if line.startswith("{")), None)
    if start is None:
        return _from_tables(text)
    notes = [line.strip() for line in lines[:start] if line.strip()]
    ports = json_text.whole("\n".join(lines[start:]))
    if not isinstance(ports, dict) or not all(isinstance(row, dict) for row in ports.values()):
        raise NotRecognisedError("expected one object of counters for each port")
    since = _since(notes)
    return [_port(name, row, since) for name, row in ports.items()]


def _from_tables(text: str) -> list[PortCounters]:
    found, others = tables.read(text)
    since, ports = _since(others), []
    for table in found:
        if table.titles[0] != "IFACE":
            raise NotRecognisedError(f"expected IFACE as first title, got {table.titles[0]!r}")
        ports += [_port(row["IFACE"], row, since) for row in table.rows]
    return ports


def _since(notes: list[str]) -> str | None:
    strange = [note for note in notes if not NOTES.fullmatch(note.strip())]
    if strange:
        raise NotRecognisedError(f"expected counters of ports, got {strange[0][:80]!r}")
    return next((match[1] for note in notes if (match := CACHED.fullmatch(note.strip()))), None)


def _port(name: str, row: Mapping[str, object], since: str | None) -> PortCounters:
    values: dict[str, float | None] = {}
    state = None
    for title, cell in row.items():
        if not isinstance(cell, str):
            cell = _plain(title, cell)
        if title == "STATE":
            state = STATES.get(cell)
            if state is None and cell not in tables.NONE:
                raise NotRecognisedError(f"expected the state U, D or X, got {cell[:40]!r}")
        elif title != "IFACE":
            values.update(_value(title, cell))
    return PortCounters(tables.port(name), state, since, values)


def _plain(title: str, cell: object) -> str:
    """Return a JSON value as the text that it is in the table."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | None):
        raise NotRecognisedError(f"expected {title[:40]} as a text or a number")
    return "N/A" if cell is None else str(cell)


def _value(title: str, cell: str) -> dict[str, float | None]:
    """Return name and value of a cell, or two for a share with its accuracy."""
    for ending, (suffix, read) in ENDINGS.items():
        if title.endswith(ending):
            return {title.removesuffix(ending).lower() + suffix: read(cell)}
    if title.startswith("FLR(O)"):
        return {"flr_observed": _real(cell)}
    if title.startswith("FLR(P)"):
        match = _whole(SHARE, cell)
        accuracy = float(match[2]) if match and match[2] else None
        predicted = _real(match[1]) if match else None
        return {"flr_predicted": predicted, "flr_accuracy_percent": accuracy}
    if not TITLE.fullmatch(title):
        raise NotRecognisedError(f"expected the title of a counter, got {title[:40]!r}")
    return {NAMES.get(title, title.lower()): tables.count(cell)}


def _whole(pattern: re.Pattern[str], cell: str) -> re.Match[str] | None:
    """Return the match of a cell; None when nothing is known."""
    if cell in tables.NONE:
        return None
    match = pattern.fullmatch(cell)
    if match is None:
        raise NotRecognisedError(f"expected a value with its unit, got {cell[:40]!r}")
    return match


def _real(cell: str) -> float | None:
    """Return a number; what is below 0 stands for not measured."""
    match = _whole(REAL, cell)
    value = float(match[1]) if match else -1.0
    return value if 0 <= value < 1e300 else None


def _percent(cell: str) -> float | None:
    match = _whole(PERCENT, cell)
    return _real(match[1]) if match else None


def _packets(cell: str) -> float | None:
    match = _whole(PACKETS, cell)
    return _real(match[1]) if match else None


def _speed(cell: str) -> float | None:
    match = _whole(SPEED, cell)
    value = _real(match[1]) if match else None
    if match is None or value is None:
        return None
    return value * SCALE[match[2]] * (8 if match[3] == "B" else 1)


ENDINGS: Mapping[str, tuple[str, Callable[[str], float | None]]] = {
    "_BPS": ("_mbps", _speed),
    "_PPS": ("_pps", _packets),
    "_UTIL": ("_util_percent", _percent),
    "_BER": ("_ber", _real),
    "_BER_MAX": ("_ber_max", _real),
    "_MAX_T": ("_max_t", _real),
}


def records(text: str) -> list[dict[str, object]]:
    """Return the ports as plain records, one key per counter."""
    return [
        {
            "port": port.port,
            "state": port.state,
            "cached": port.since is not None,
            "since": port.since,
            **port.values,
        }
        for port in parse(text)
    ]
