"""The file that `--out_json` writes, as valid JSON (24.01 and later) or as what came before.

Releases 4.5-0.11 to 23.10 print unquoted keys and words and trailing commas; later ones still do
with `--output=bandwidth`. The file names no unit: see `parse`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.results import Bandwidth, Latency
from pytest_fabric.tools import perftest_values as values
from pytest_fabric.tools.perftest_values import GIGABITS, MEBIBYTES, UNITS, Unit

NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,12})?(?:[eE][-+]?[0-9]{1,2})?")
SECTION = re.compile(r'"?(test_info|results)"?\s*:\s*\{')
ENTRY = re.compile(r'"?([A-Za-z][\w. *]*?)"?\s*:\s*(?:"([^"]*)"|([^",{}]+?)),?', re.ASCII)

#: All that `--output=bandwidth` leaves in the file, the comma behind the last entry included.
BARE_AVERAGE = re.compile(
    r'\{\n"test_info": \{\n(?:"[\w.* ]+": (?:"[^"\n]*"|[0-9.]+),?\n)*\},\n'
    r'"results": \{\n"bw_avg": ([0-9]{1,12}\.[0-9]{6}),?\n\}\n\}',
    re.ASCII,
)

SIZE = {"MsgSize": "bytes", "n_iterations": "iterations"}
LATENCY = SIZE | {
    "t_min": "min",
    "t_max": "max",
    "t_typical": "median",
    "t_avg": "mean",
    "percentile_99": "p99",
    "percentile_99.9": "p999",
}
LATENCY_OF_DURATION = SIZE | {"t_avg": "mean"}
BANDWIDTH = SIZE | {"BW_peak": "peak", "BW_average": "average", "MsgRate": "message_rate"}

Entries = Mapping[str, str]


@dataclass(frozen=True)
class Report:
    """The one result of a JSON file, and what it says about the test."""

    latency: tuple[Latency, ...]
    bandwidth: tuple[Bandwidth, ...]
    test: str | None
    qps: int | None
    mtu: int | None
    gid_index: int | None
    link_type: str | None
    device: str | None


def parse(lines: Iterable[str], unit: str | None = None) -> Report | None:
    """Return the report of a JSON file, or None when the text holds none.

    Bandwidth has no unit in the file: it is MiB/sec, as without `--report_gbits`, or `unit`
    (`Gb/sec`). Without `unit`, Gb/sec is taken when only that agrees with the message rate, whose
    unit is fixed. Raises NotRecognisedError for a file that is not whole, and for
    `--output=bandwidth`, where neither unit nor size can be known.
    """
    text = "\n".join(line.strip() for line in lines)
    start = re.search(r"^\{", text, re.MULTILINE)
    if start is None:
        return None
    body = text[start.start() : text.rfind("}") + 1]
    sections = _strict(body) or _tolerant(body)
    if set(sections) != {"test_info", "results"}:
        raise NotRecognisedError("expected test_info and results in the JSON, got a part of it")
    results, info = sections["results"], sections["test_info"]
    latency: tuple[Latency, ...] = ()
    bandwidth: tuple[Bandwidth, ...] = ()
    if BANDWIDTH.keys() <= results.keys():
        bandwidth = (_bandwidth(_numbers(results, BANDWIDTH), unit),)
    elif LATENCY.keys() <= results.keys():
        latency = (values.latency(_numbers(results, LATENCY)),)
    elif LATENCY_OF_DURATION.keys() <= results.keys() and "tps_average" in results:
        latency = (values.latency(_numbers(results, LATENCY_OF_DURATION)),)
    else:
        raise NotRecognisedError(f"expected a whole result in the JSON, got {sorted(results)}")
    return Report(
        latency=latency,
        bandwidth=bandwidth,
        test=info.get("test"),
        qps=_whole(info.get("Number_of_qps")),
        mtu=_whole(info.get("Mtu")),
        gid_index=_whole(info.get("GID_index")),
        link_type=info.get("Link_type"),
        device=info.get("Device"),
    )


def bare_average(lines: Iterable[str]) -> float | None:
    """Return what the file of `--output=bandwidth` holds, or None for any other text."""
    match = BARE_AVERAGE.fullmatch("\n".join(line.strip() for line in lines))
    return float(match[1]) if match and float(match[1]) > 0 else None


def _bandwidth(row: values.Numbers, unit: str | None) -> Bandwidth:
    return values.bandwidth(row, UNITS[unit] if unit else _unit(row))


def _unit(row: values.Numbers) -> Unit:
    is_gigabits = values.agrees(row, GIGABITS) and not values.agrees(row, MEBIBYTES)
    return GIGABITS if is_gigabits else MEBIBYTES


def _numbers(entries: Entries, names: Mapping[str, str]) -> dict[str, Decimal]:
    bad = [key for key in names if not NUMBER.fullmatch(entries[key])]
    if bad:
        raise NotRecognisedError(f"expected a number for {bad[0]}, got {entries[bad[0]][:40]!r}")
    return {name: Decimal(entries[key]) for key, name in names.items()}


def _whole(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"[0-9]{1,9}", text) else None


def _strict(body: str) -> Mapping[str, Entries] | None:
    """Return the sections of valid JSON, values as they are spelt, or None for anything else."""
    try:
        tree = json.loads(body, parse_float=str, parse_int=str, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    if not isinstance(tree, dict) or not all(isinstance(part, dict) for part in tree.values()):
        return None
    return {name: {key: str(value) for key, value in part.items()} for name, part in tree.items()}


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise NotRecognisedError("expected each key once in the JSON, got one twice")
    return dict(pairs)


def _tolerant(body: str) -> Mapping[str, Entries]:
    """Return the sections of the pseudo-JSON, which has one entry on each line."""
    sections: dict[str, dict[str, str]] = {}
    inside: list[str] = []
    for line in filter(None, body.split("\n")):
        section, entry = SECTION.fullmatch(line), ENTRY.fullmatch(line)
        if line == "{" and not inside and not sections:
            inside.append("")
        elif section and inside == [""] and section.group(1) not in sections:
            inside.append(section.group(1))
            sections[section.group(1)] = {}
        elif line in ("}", "},") and inside:
            inside.pop()
        elif entry and len(inside) == 2 and entry.group(1) not in sections[inside[1]]:
            sections[inside[1]][entry.group(1)] = entry.group(2) or entry.group(3) or ""
        else:
            raise NotRecognisedError(f"expected the JSON of perftest, got {line[:80]!r}")
    if inside:
        raise NotRecognisedError("expected the end of the JSON, got a file that is cut off")
    return sections
