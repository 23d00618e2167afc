"""`sonic-cfggen -d --var-json TABLE`: a table of SONiC's configuration, as its database has it.

A table that is not there prints nothing (sonic-cfggen in sonic-net/sonic-buildimage).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints
from pytest_fabric.tools.printable import printable
from pytest_fabric.tools.sonic_complaints import KNOWN
from pytest_fabric.tools.strict_json import as_object, is_json, load

#: What may be asked for: tables without secrets.
TABLES = ("PORT_QOS_MAP", "QUEUE", "WRED_PROFILE")

KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/,-]{0,120}(?:\|[A-Za-z0-9_.:/,-]{1,60}){0,3}")
FIELD = re.compile(r"[a-z][a-z0-9_]{0,60}")

#: How older releases point to a row of another table: `[WRED_PROFILE|AZURE_LOSSLESS]`.
REFERENCE = re.compile(r"\[[A-Z_]{1,40}\|([^|\[\]]{1,120})\]")


@dataclass(frozen=True)
class Row:
    """A row of a table: its key in parts (`Ethernet0`, `3`), and its fields as texts."""

    key: tuple[str, ...]
    fields: Mapping[str, str]


def command(table: str) -> tuple[str, ...]:
    """Return the command line for one of `TABLES`; ValueError for another."""
    if table not in TABLES:
        raise ValueError(f"table: expected one of {', '.join(TABLES)}, got {table!r}")
    return ("sonic-cfggen", "-d", "--var-json", table)


def parse(text: str) -> list[Row]:
    """Return the rows; a reference to a row of another table is that row's key.

    Raises ToolError when the switch complains, NotRecognisedError for any other text.
    """
    if not is_json(text):
        complaints.check(text, KNOWN)
        raise NotRecognisedError(f"expected a table as JSON, got {text.strip()[:80]!r}")
    rows = as_object(load(text, KNOWN), "table")
    return [_row(key, as_object(fields, key[:40])) for key, fields in rows.items()]


def _row(key: str, fields: Mapping[str, object]) -> Row:
    if not KEY.fullmatch(key):
        raise NotRecognisedError(f"expected the key of a row, got {key[:80]!r}")
    return Row(tuple(key.split("|")), {name: _text(name, one) for name, one in fields.items()})


def _text(name: str, value: object) -> str:
    if not FIELD.fullmatch(name) or not isinstance(value, str):
        raise NotRecognisedError(f"expected a text as {name[:40]!r}, got {str(value)[:40]!r}")
    match = REFERENCE.fullmatch(value)
    return printable(match[1] if match else value)


def records(text: str) -> list[dict[str, object]]:
    """Return the rows as plain records: the key, and each field."""
    return [{"row_key": "|".join(row.key), **row.fields} for row in parse(text)]
