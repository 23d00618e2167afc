"""Kinds of scalar values: each reads what was written, or says what was expected instead."""

from __future__ import annotations

import datetime
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from pytest_fabric.config.wording import Plain, expected, got, nearest, one_of, quoted
from pytest_fabric.errors import ConfigError, UnitError
from pytest_fabric.units import Quantity, parse, render

NOUNS = {
    "s": "a time",
    "b/s": "a rate",
    "T/s": "a PCIe speed",
    "B": "a size",
    "B/s": "a rate in bytes",
    "/s": "a rate of messages",
    "C": "a temperature",
    "dBm": "a power",
    "dB": "a ratio of powers",
    "": "a number",
}

#: What is possible at all, by base unit: `400 mb/s` are millibits, `5 Ms` two months.
POSSIBLE = {
    "s": (0.0, 86_400.0, "of at most a day (m is milli, M is mega)"),
    "b/s": (1e3, 1e15, "of at least 1 kb/s (m is milli, M is mega)"),
    "T/s": (1e9, 1e12, "of at least 1 GT/s"),
    "B": (0.0, 2.0**40, "of at most 1 TiB"),
    "B/s": (1e3, 1e15, "of at least 1 kB/s (m is milli, M is mega)"),
    "/s": (1.0, 1e12, "of at least 1 /s (m is milli, M is mega)"),
    "C": (-60.0, 150.0, "of -60 C to 150 C"),
    "dBm": (-60.0, 30.0, "of -60 dBm to 30 dBm"),
    "dB": (0.0, 90.0, "of 0 dB to 90 dB"),
    "": (0.0, 2.0**64, "of at least 0"),
}


@dataclass(frozen=True)
class Kind:
    """Annotates a model's field: `read` makes the value, `schema` is the JSON schema of its text.

    `read` raises ConfigError with a message that has no place yet.
    """

    read: Callable[[object], object]
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return dict(self.schema)

    def _read(self, value: object) -> object:
        try:
            return self.read(value)
        except ConfigError as error:
            raise refusal(str(error)) from None


def refusal(message: str) -> PydanticCustomError:
    """Return the error by which a validator gives its own message."""
    return PydanticCustomError("refused", "{message}", {"message": message})


def text(wanted: str, pattern: str = "", example: str = "") -> Kind:
    """Return a kind of one-line text; `pattern` must match all of it."""
    wanted = f"{wanted} such as {quoted(example)}" if example else wanted

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise expected(wanted, value)
        line = value.strip()
        if not line or not line.isprintable() or not re.fullmatch(pattern or r".*", line, re.A):
            raise expected(wanted, value)
        return str(line)

    schema = {"type": "string", "minLength": 1}
    return Kind(read, {**schema, "examples": [example]} if example else schema)


def choice(*words: str) -> Kind:
    """Return a kind that accepts exactly these words."""

    def read(value: object) -> str:
        if isinstance(value, str) and value in words:
            return str(value)
        close = nearest(value, words) if isinstance(value, str) else None
        raise expected(one_of(words), value, f"did you mean {close}?" if close else "")

    return Kind(read, {"enum": list(words)})


def read_flag(value: object) -> bool:
    """Return the flag that a bare word says: YAML 1.1's six words, and no text in quotes."""
    if isinstance(value, bool):
        return value
    word = value.lower() if isinstance(value, Plain) else ""
    if word in ("true", "yes", "on"):
        return True
    if word in ("false", "no", "off"):
        return False
    raise expected("true or false", value)


def whole(low: int, high: int, *, among: tuple[int, ...] = (), why: str = "") -> Kind:
    """Return a kind of whole number between two bounds, or among a few."""
    wanted = one_of(map(str, among)) if among else f"a whole number from {low} to {high}"

    def read(value: object) -> int:
        written = isinstance(value, Plain) and re.fullmatch(r"0|[1-9][0-9]{0,18}", value)
        plain = isinstance(value, int) and not isinstance(value, bool)
        if written or plain:
            number = int(str(value))
            if low <= number <= high and (not among or number in among):
                return number
        raise expected(wanted, value, why)

    return Kind(read, {"enum": list(among)} if among else bounds("integer", low, high))


def decimal(low: float, high: float) -> Kind:
    """Return a kind of number between two bounds."""

    def read(value: object) -> float:
        written = isinstance(value, Plain) and re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18})?", value)
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        if (written or plain) and low <= float(str(value)) <= high:
            return float(str(value))
        raise expected(f"a number from {low:g} to {high:g}", value)

    return Kind(read, bounds("number", low, high))


def bounds(kind: str, low: float, high: float) -> dict[str, Any]:
    """Return the JSON schema of a number between two bounds."""
    return {"type": kind, "minimum": low, "maximum": high}


def read_quantity(value: object, unit: str, wanted: str, shown: object = None) -> Quantity:
    """Return the quantity that a text says. Raises ConfigError `expected WANTED, got SHOWN`."""
    shown = value if shown is None else shown
    if isinstance(value, Quantity) and value.unit == unit:
        return value
    if not isinstance(value, str):
        raise expected(wanted, shown)
    try:
        found = parse(value, unit)
    except UnitError:
        raise expected(wanted, shown) from None
    low, high, words = POSSIBLE[unit]
    if found.number != 0 and not low <= found.number <= high:
        raise expected(wanted if found.number < 0 else f"{NOUNS[unit]} {words}", shown)
    return found


def quantity(unit: str, example: str, low: float = 0.0) -> Kind:
    """Return a kind of quantity in a base unit, above `low`; a zero is refused."""
    wanted = f"{NOUNS[unit]} such as {quoted(example)}"

    def read(value: object) -> Quantity:
        found = read_quantity(value, unit, wanted)
        if found.number <= low:
            raise expected(f"{NOUNS[unit]} above {render(low, unit)}", value)
        return found

    return Kind(read, {"type": "string", "examples": [example]})


def read_share(value: object) -> float:
    """Return the fraction that a percentage such as `98%` says."""
    if isinstance(value, float) and 0 <= value <= 1:
        return value
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*%", str(value), re.A)
    if match is None or float(match.group(1)) > 100:
        raise expected('a percentage such as "98%"', value)
    return float(match.group(1)) / 100


def read_words(value: object) -> tuple[str, ...]:
    """Return a list of texts; one text stands for a list of one."""
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)):
        raise expected("a text or a list of texts", value)
    for word in words:
        if not isinstance(word, str) or not word.isprintable() or not word.strip():
            raise ConfigError(f"expected only texts in the list, got {got(word)}")
    return tuple(str(word) for word in words)


def words_of(*known: str) -> Kind:
    """Return a kind that accepts a list of these words; one word stands for a list of one."""
    one = choice(*known)

    def read(value: object) -> tuple[str, ...]:
        return tuple(str(one.read(word)) for word in read_words(value))

    return Kind(read, {"type": "array", "items": dict(one.schema)})


def read_path(value: object) -> Path:
    """Return a path with `~` replaced."""
    if isinstance(value, Path):
        return value
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise expected("a path", value)
    try:
        return Path(value.strip()).expanduser()
    except RuntimeError:
        raise expected("a path below a known home directory", value) from None


def read_command(value: object) -> tuple[str, ...]:
    """Return the words of a command line as a shell would split it."""
    if isinstance(value, tuple) or value is None:
        return tuple(value or ())
    if not isinstance(value, str) or not value.isprintable():
        raise expected('a command such as "podman exec perf"', value)
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise expected("a command line", value, str(error).lower()) from None


def read_ports(value: object) -> tuple[int, int]:
    """Return the bounds of a range of TCP ports, both included."""
    if isinstance(value, tuple):
        return value
    match = (
        re.fullmatch(r"([0-9]{1,5})\s*-\s*([0-9]{1,5})", value) if isinstance(value, str) else None
    )
    if match is None or not 1024 <= int(match[1]) <= int(match[2]) <= 65535:
        raise expected('a range of ports from 1024 to 65535 such as "18515-18999"', value)
    return int(match[1]), int(match[2])


def read_date(value: object) -> datetime.date:
    """Return the day that `2027-01-15` says."""
    if isinstance(value, datetime.date):
        return value
    try:
        if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return datetime.date.fromisoformat(value)
    except ValueError:
        raise expected("a day of the calendar", value) from None
    raise expected("a day such as 2027-01-15", value)
