"""The JSON report of nccl-tests (`-J FILE`, since 2.17): truths and what is no number are texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import json_text
from pytest_fabric.tools.nccl_tests_results import Half, Report, Row

TRUTHS = {"true": True, "false": False, True: True, False: False}


def parse(text: str) -> Report:
    """Return the run; NotRecognisedError for JSON of anything else, and when it is cut off."""
    document = json_text.whole(text)
    average = json_text.part(document, "average_bus_bandwidth")
    mean = _number(average, "bandwidth")
    rows = tuple(_row(row) for row in json_text.parts(document, "results"))
    if mean is None or not rows:
        raise NotRecognisedError("expected results and average_bus_bandwidth, got none")
    bounds = json_text.part(document, "out_of_bounds")
    said = [truth for row in (average, bounds) if (truth := _truth(row.get("okay"))) is not None]
    args = document.get("args")
    name = args[0] if isinstance(args, list) and args and isinstance(args[0], str) else ""
    program = name.rpartition("/")[2]
    return Report(
        collective=program.removesuffix("_perf") if program.endswith("_perf") else None,
        iterations=json_text.count(json_text.part(document, "config"), "iterations"),
        average_busbw_gb_s=mean,
        out_of_bounds=json_text.count(bounds, "count"),
        okay=all(said) if said else None,
        rows=rows,
    )


def _truth(value: object) -> bool | None:
    """Return a truth, None for `unchecked` and when it is absent."""
    return TRUTHS.get(value) if isinstance(value, str | bool) else None


def _number(row: Mapping[str, Any], key: str) -> float | None:
    return None if row.get(key) in ("nan", "-nan") else json_text.number(row, key)


def _row(row: Mapping[str, Any]) -> Row:
    size, count = json_text.count(row, "size"), json_text.count(row, "count")
    kind, redop = json_text.word(row, "type"), json_text.word(row, "redop")
    root = str(row.get("root", "-1")).strip()
    if size is None or count is None or kind is None or not root.removeprefix("-").isdecimal():
        raise NotRecognisedError(f"expected size, count, type and root, got {str(row)[:80]!r}")
    return Row(
        size_bytes=size,
        count=count,
        type=kind,
        redop=None if redop == "none" else redop,
        root=None if root == "-1" else _root(root),
        out_of_place=_half(json_text.part(row, "out_of_place")),
        in_place=_half(json_text.part(row, "in_place")),
    )


def _root(text: str) -> int:
    if not text.isascii() or len(text) > 9:
        raise NotRecognisedError(f"expected the number of the root, got {text[:40]!r}")
    return int(text)


def _half(row: Mapping[str, Any]) -> Half:
    return Half(
        time_us=_number(row, "cpu_time" if "cpu_time" in row else "time"),
        algbw_gb_s=_number(row, "alg_bw"),
        busbw_gb_s=_number(row, "bus_bw"),
        wrong=None if row.get("nwrong") == "nan" else json_text.count(row, "nwrong"),
        error=None,
    )
