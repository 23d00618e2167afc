"""Measurements and verdicts as lines of JSON, there and back; see `RunDirectory` for the files."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.report.clean import FORBIDDEN, clean_record
from pytest_fabric.results import (
    Attempt,
    Bandwidth,
    Failure,
    Growth,
    Latency,
    Measurement,
    Traffic,
    Verdict,
)

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
    "mtu",
    "counters",
    "still",
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
)


def dumps(value: object, indent: int | None = None) -> str:
    """Return records, mappings and sequences as JSON with all text cleaned.

    JSON has no infinity (an unlimited memlock) and no NaN: they become the words `inf` and `nan`.
    Nearly every record is clean already, which its JSON shows: only the others are cleaned.
    """
    text = None
    with contextlib.suppress(ValueError):
        text = json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False, indent=indent)
    if text is None or not _is_clean(text):
        text = json.dumps(clean_record(value), ensure_ascii=False, allow_nan=False, indent=indent)
    return text


def _is_clean(text: str) -> bool:
    """Return whether the strings of a JSON text hold nothing that would be taken out of them."""
    if _ESCAPED.search(text):
        return False
    return text.isprintable() or FORBIDDEN.search(text) is None  # the first is much faster


def _plain(value: object) -> object:
    """Return a record or a mapping as json takes it."""
    if hasattr(type(value), "__dataclass_fields__"):
        return vars(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"expected a record, got {value!r}")


def from_measurement(measurement: Measurement, raw: Mapping[str, str]) -> Record:
    """Return the record of a measurement; `raw` maps each stream to the file that holds it.

    `counters` tells what grew, `still` the names of all that did not.
    """
    row = measurement.latency or measurement.bandwidth
    record = {field.name: getattr(measurement, field.name) for field in fields(measurement)}
    del record["latency"], record["bandwidth"]
    record["values"] = None if row is None else asdict(row)
    growth = record.pop("growth")
    record["counters"] = [grown for grown in growth if grown.delta]
    record["still"] = _still(growth)
    record["raw"] = raw
    return {key: record[key] for key in MEASUREMENT_KEYS}


def to_measurement(record: Record) -> Measurement:
    """Return the measurement of a record, with file names in `raw`; raises KeyError, TypeError."""
    values = record["values"]
    is_bandwidth = values is not None and "average_bps" in values
    same = set(MEASUREMENT_KEYS) - {"attempts", "values", "counters", "still", "traffic", "error"}
    rest = {key: record[key] for key in same}
    rest["doubts"], rest["beside"] = tuple(record["doubts"]), tuple(record["beside"])
    return Measurement(
        attempts=tuple(Attempt(**attempt) for attempt in record["attempts"]),
        latency=None if values is None or is_bandwidth else Latency(**values),
        bandwidth=Bandwidth(**values) if is_bandwidth else None,
        growth=_growth(record),
        traffic=None if record["traffic"] is None else Traffic(**record["traffic"]),
        error=None if record["error"] is None else Failure(**record["error"]),
        **rest,
    )


def _still(growth: Iterable[Growth]) -> list[Record]:
    """Return the counters that did not grow, nearly all: by name, with the priority of each."""
    groups: dict[tuple[str, str, str | None], dict[str, int | None]] = {}
    for grown in growth:
        if not grown.delta:
            group = groups.setdefault((grown.port, grown.meaning, grown.direction), {})
            group[grown.name] = grown.priority
    return [
        {"port": port, "meaning": meaning, "direction": direction, "names": names}
        for (port, meaning, direction), names in groups.items()
    ]


def _growth(record: Record) -> tuple[Growth, ...]:
    """Return all growth in the order in which it is told: by end of the pair, and by name."""
    found = [Growth(**grown) for grown in record["counters"]]
    for group in record["still"]:
        port, meaning, direction = group["port"], group["meaning"], group["direction"]
        for name, priority in group["names"].items():
            found.append(Growth(port, sys.intern(name), meaning, 0, direction, priority))
    client = record["target"].partition("..")[0]
    return tuple(sorted(found, key=lambda grown: (grown.port != client, grown.name)))


def to_verdict(record: Record) -> Verdict:
    """Return the verdict of a record; raises KeyError for a missing key."""
    return Verdict(**{field.name: record[field.name] for field in fields(Verdict)})


def read_measurements(path: Path) -> list[Measurement]:
    """Return the measurements of a `measurements.jsonl`, without a torn last line.

    `raw` holds file names relative to the file's folder. Raises NotRecognisedError, OSError.
    """
    return _read(path, to_measurement)


def read_verdicts(path: Path) -> list[Verdict]:
    """Return the verdicts of a `verdicts.jsonl`, without a torn last line.

    Raises NotRecognisedError for any other line that is no verdict, OSError.
    """
    return _read(path, to_verdict)


def _read(path: Path, convert: Callable[[Record], T]) -> list[T]:
    *whole, last = path.read_bytes().split(b"\n")  # only a line that was cut short has no newline
    found = [_convert(path, number, line, convert) for number, line in enumerate(whole, 1)]
    if last:
        with contextlib.suppress(NotRecognisedError):  # a killed run loses what was in flight
            found.append(_convert(path, len(whole) + 1, last, convert))
    return found


def _convert(path: Path, number: int, line: bytes, convert: Callable[[Record], T]) -> T:
    try:
        return convert(json.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        raise NotRecognisedError(
            f"{path}:{number}: expected a record of this product, got {line[:60]!r} ({error!r})"
        ) from error
