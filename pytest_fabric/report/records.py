"""Measurements and verdicts as lines of JSON, there and back; see `RunDirectory` for the files."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from itertools import filterfalse, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.report import typed
from pytest_fabric.report.clean import FORBIDDEN, clean_record
from pytest_fabric.results import Growth, Measurement, NodeFacts, Verdict

#: What JSON makes of control characters other than newline and tab.
_ESCAPED = re.compile(r"\\[bfru]")

Record = dict[str, Any]
T = TypeVar("T")


#: The keys of one line of `measurements.jsonl`, in order.
MEASUREMENT_KEYS = (
    "key",
    "tool",
    "target",
    "commands",
    "versions",
    "attempts",
    "settings",
    "values",
    "reach",
    "tcp",
    "members",
    "health",
    "mtu",
    "counters",
    "counter_errors",
    "traffic",
    "doubts",
    "beside",
    "company",
    "alone",
    "raw",
    "error",
    "started",
    "duration",
    "still",
)


def dumps(value: object, indent: int | None = None) -> str:
    """Return records, mappings and sequences as JSON with all text cleaned.

    JSON has no infinity (an unlimited memlock) and no NaN: they become the words `inf` and `nan`.
    Nearly every record is clean already, which its JSON shows: only the others are cleaned.
    """
    text = None
    with contextlib.suppress(ValueError):
        text = (_WRITER if indent is None else _writer(indent)).encode(value)
    if text is None or not _is_clean(text):
        text = _writer(indent).encode(clean_record(value))
    return text


def _is_clean(text: str) -> bool:
    """Return whether the strings of a JSON text hold nothing that would be taken out of them."""
    if "\\" in text and _ESCAPED.search(text):
        return False
    return text.isprintable() or FORBIDDEN.search(text) is None  # the first is much faster


def _plain(value: object) -> object:
    """Return a record or a mapping as json takes it."""
    if hasattr(type(value), "__dataclass_fields__"):
        return vars(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"expected a record, got {value!r}")


def _writer(indent: int | None) -> json.JSONEncoder:
    return json.JSONEncoder(default=_plain, ensure_ascii=False, allow_nan=False, indent=indent)


_WRITER = _writer(None)


def measurement_line(measurement: Measurement, raw: Mapping[str, str]) -> str:
    """Return a measurement as a line of JSON; `raw` maps each stream to the file that holds it.

    `counters` tells what grew, `still` the names of all that did not.
    """
    row = measurement.latency or measurement.bandwidth
    record = dict(vars(measurement))
    record["values"] = None if row is None else dict(vars(row))
    record["counters"] = list(filter(_DELTA, measurement.growth))
    record["raw"] = raw
    text = dumps({key: record[key] for key in MEASUREMENT_KEYS if key != "still"})
    still = groupby(filterfalse(_DELTA, measurement.growth), _PORT)
    stills: list[str] = []
    for port, grown in still:
        head = f'{{"port": {dumps(port)}, '
        stills += [f"{head}{rest}}}" for rest in _still(tuple(map(_COUNTER, grown)))]
    return f'{text.removesuffix("}")}, "still": [{", ".join(stills)}]}}'


def to_measurement(record: Record) -> Measurement:
    """Return the measurement of a record, with file names in `raw`; raises KeyError, TypeError."""
    values = record["values"]
    is_bandwidth = isinstance(values, dict) and "average_bps" in values
    shape = {
        **record,
        "latency": None if is_bandwidth else values,
        "bandwidth": values if is_bandwidth else None,
        "growth": [],
    }
    return replace(typed.read(Measurement, shape), growth=_growth(record))


def to_facts(record: Record) -> NodeFacts:
    """Return the facts of a record; raises KeyError, TypeError, ValueError."""
    return typed.read(NodeFacts, record)


_DELTA = attrgetter("delta")
_PORT = attrgetter("port")
_COUNTER = attrgetter("meaning", "direction", "name", "priority")


@lru_cache(maxsize=256)  # nearly all counters of a port stand still, the same ones at many ports
def _still(counters: tuple[tuple[str, str | None, str, int | None], ...]) -> tuple[str, ...]:
    """Return the members after `port` of objects that tell which of its counters did not grow."""
    groups: dict[tuple[str, str | None], dict[str, int | None]] = {}
    for meaning, direction, name, priority in counters:
        groups.setdefault((meaning, direction), {})[name] = priority
    return tuple(
        dumps({"meaning": meaning, "direction": direction, "names": names})[1:-1]
        for (meaning, direction), names in groups.items()
    )


def _growth(record: Record) -> tuple[Growth, ...]:
    """Return all growth in the order in which it is told: by end of the pair, and by name."""
    found = [typed.read(Growth, grown) for grown in record["counters"]]
    for group in record["still"]:
        names = group["names"]
        if type(names) is not dict:
            raise TypeError(f"expected object, got {type(names).__name__}")
        # True and 1.0 are equal to 1, and would be taken for it below.
        if not all(one is None or type(one) is int for one in names.values()):
            raise TypeError("expected whole numbers as priorities")
        found += _stood(group["port"], group["meaning"], group["direction"], tuple(names.items()))
    if record.get("members"):
        return tuple(sorted(found, key=lambda grown: (grown.port, grown.name)))
    client = str(record["target"]).partition("..")[0]
    return tuple(sorted(found, key=lambda grown: (grown.port != client, grown.name)))


@lru_cache(maxsize=65_536)  # a port has some tens of such groups, the same in nearly every window
def _stood(
    port: object, meaning: object, direction: object, names: tuple[tuple[str, object], ...]
) -> tuple[Growth, ...]:
    """Return counters that did not grow. Raises TypeError, ValueError."""
    same = {"port": port, "meaning": meaning, "direction": direction, "delta": 0}
    return tuple(
        typed.read(Growth, {**same, "name": name, "priority": priority}) for name, priority in names
    )


def to_verdict(record: Record) -> Verdict:
    """Return the verdict of a record; raises KeyError for a missing key."""
    return Verdict(**{field.name: record[field.name] for field in fields(Verdict)})


def loads(text: bytes) -> Record:
    """Return an object of JSON; raises ValueError, TypeError, also for what only Python reads."""
    try:
        found = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(found, dict):
        raise TypeError(f"expected object, got {type(found).__name__}")
    return found


def each_measurement(path: Path) -> Iterator[Measurement]:
    """Yield the measurements of a `measurements.jsonl`, without a torn last line.

    `raw` holds file names relative to the file's folder. Raises NotRecognisedError, OSError.
    """
    return _each(path, to_measurement)


def read_measurements(path: Path) -> list[Measurement]:
    """Return what `each_measurement` yields."""
    return list(each_measurement(path))


def read_verdicts(path: Path) -> list[Verdict]:
    """Return the verdicts of a `verdicts.jsonl`, without a torn last line.

    Raises NotRecognisedError for any other line that is no verdict, OSError.
    """
    return list(_each(path, to_verdict))


def _each(path: Path, convert: Callable[[Record], T]) -> Iterator[T]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            found: list[T] = []
            is_torn = not line.endswith(b"\n")  # only a line that was cut short has no newline
            with contextlib.suppress(*[NotRecognisedError] if is_torn else []):
                found.append(_convert(path, number, line, convert))
            yield from found


def _convert(path: Path, number: int, line: bytes, convert: Callable[[Record], T]) -> T:
    try:
        return convert(loads(line))
    except (ValueError, KeyError, TypeError) as error:
        raise NotRecognisedError(
            f"{path}:{number}: expected a record of this product, got {line[:60]!r} "
            f"({repr(error)[:200]})"
        ) from error


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
