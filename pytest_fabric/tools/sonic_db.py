"""`sonic-db-cli COUNTERS_DB hgetall KEY`: the counters of SONiC as its database has them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, json_text
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.printable import printable
from pytest_fabric.tools.sonic_complaints import KNOWN

DATABASES = ("COUNTERS_DB", "STATE_DB", "APPL_DB", "CONFIG_DB")
KEY = re.compile(r"[A-Z][A-Z0-9_]*(?:[:|][A-Za-z0-9_.:/|-]+)?")

#: What SONiC's script prints is a Python dictionary: texts in quotes, nothing else.
QUOTED = r"""(?:'[^'\\\n]*'|"[^"\\\n]*")"""
PAIR = re.compile(rf"({QUOTED}): ({QUOTED})(?:, |$)")
#: `redis-cli` on a terminal numbers its lines; in a pipe it does not.
NUMBERED = re.compile(r' *[0-9]+\) "([^"\\]*)"')
FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_.:|/-]{0,120}")

OBJECT = re.compile(r"oid:0x[0-9a-f]{1,16}")
INTEGER = re.compile(r"-?[0-9]{1,20}")
REAL = re.compile(r"-?[0-9]{1,20}\.[0-9]{1,20}(?:e[+-]?[0-9]{1,2})?")


@dataclass(frozen=True)
class Field:
    """A field of a key; what counts is whole, a name or an object's identifier is a text."""

    name: str
    value: int | float | str | None


def command(key: str, database: str = "COUNTERS_DB") -> tuple[str, ...]:
    """Return the command line that shows a key; ValueError for what is no key or database."""
    if not KEY.fullmatch(key) or database not in DATABASES:
        raise ValueError(f"expected a key of {', '.join(DATABASES)}, got {database!r}, {key!r}")
    return ("sonic-db-cli", database, "hgetall", key)


def parse(text: str) -> list[Field]:
    """Return the fields of a key, from a dictionary, JSON, or names and values line by line.

    Raises ToolError when there is no such key or no database, NotRecognisedError for any other
    text. Lines do not show where the key ends: ask for the dictionary where it matters.
    """
    complaints.check(text, KNOWN, row=NUMBERED)
    body = text.strip()
    mapping = body.startswith("{")
    pairs = _from_python(body) or _from_json(body) if mapping else _from_lines(text)
    names = [name for name, _ in pairs]
    wrong = next((name for name in names if not FIELD.fullmatch(name)), None)
    if not pairs or wrong is not None or len(set(names)) != len(names):
        raise NotRecognisedError(f"expected fields and values, each once, got {body[:80]!r}")
    return [Field(name, _value(value)) for name, value in pairs]


def _from_python(body: str) -> list[tuple[str, str]]:
    """Return the pairs of a dictionary as Python prints it, none when it is something else."""
    if not body.endswith("}") or '": ' in body:
        return []
    inside, pairs, at = body[1:-1], [], 0
    while at < len(inside):
        match = PAIR.match(inside, at)
        if match is None:
            return []
        pairs.append((match[1][1:-1], match[2][1:-1]))
        at = match.end()
    return pairs if not inside.endswith(", ") else []


def _from_json(body: str) -> list[tuple[str, str]]:
    found = json_text.whole(body)
    if not isinstance(found, dict):
        raise NotRecognisedError(f"expected an object, got {body[:80]!r}")
    if set(found) == {"value"} and isinstance(found["value"], dict):  # as redis-dump has it
        found = found["value"]
    if not all(isinstance(value, str) or type(value) is int for value in found.values()):
        raise NotRecognisedError(f"expected texts as values, got {body[:80]!r}")
    return [(str(name), str(value)) for name, value in found.items()]


def _from_lines(text: str) -> list[tuple[str, str]]:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    numbered = [NUMBERED.fullmatch(line) for line in lines]
    words = [match[1] for match in numbered if match] or lines
    if len(words) != len(lines) or len(words) % 2 or not text.endswith("\n"):
        raise NotRecognisedError("expected a value for each field, on whole lines: cut off?")
    pairs = list(zip(words[::2], words[1::2], strict=True))
    if not all(name.startswith("SAI_") or OBJECT.fullmatch(value) for name, value in pairs):
        raise NotRecognisedError(f"expected SAI counters or objects, got {text.strip()[:80]!r}")
    return pairs


def _value(text: str) -> int | float | str | None:
    if INTEGER.fullmatch(text):
        return int(text)
    if REAL.fullmatch(text):
        return float(text)
    if text in ("", "N/A"):
        return None
    return printable(text)


def records(text: str) -> list[dict[str, object]]:
    """Return the fields as plain records."""
    return [plain(field) for field in parse(text)]
