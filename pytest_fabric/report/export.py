"""The verdicts of a run for other programs: CSV, and OpenMetrics text."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone

from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.finished import Finished
from pytest_fabric.report.places import is_pair

#: Columns of the CSV form; `value` is in `unit`, a base unit: s, b/s, B, T/s, /s, C, dBm, dB, or
#: none.
COLUMNS = (
    *("run", "cluster", "nodeid", "check", "target", "layer", "outcome", "metric", "value"),
    *("unit", "limit", "limit_source", "started", "duration_s", "contention", "message"),
)

#: Base units as OpenMetrics ends names with them.
UNITS = {
    "s": "seconds",
    "b/s": "bits_per_second",
    "B": "bytes",
    "T/s": "transfers_per_second",
    "/s": "per_second",
    "C": "celsius",
    "dBm": "dbm",
    "dB": "db",
}

PREFIX = "rdma_fabric"

#: What spreadsheets take for a formula when a text begins with it, in full width, too.
FORMULA = ("=", "+", "-", "@", "|", "\uff1d", "\uff0b", "\uff0d", "\uff20")

#: Families of the run itself: a metric of that name is told apart.
RESERVED = frozenset({"run", "run_exit_status", "checks", "check_not_passed"})


def to_csv(run: Finished) -> str:
    """Return one row per planned check, as RFC 4180 has it, with line ends of LF."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for check, verdict in run.results:
        moment = _moment(verdict.started) if verdict.started else ""
        message = (verdict.message or "").strip().split("\n", 1)[0]
        row = (
            *(run.path.name, run.about.cluster, check.nodeid, check.check, check.target),
            *(check.layer, verdict.outcome, verdict.metric, verdict.value, verdict.unit),
            *(verdict.limit, verdict.limit_source, moment, verdict.duration),
            *(verdict.contention, message),
        )
        writer.writerow([cell(value) for value in row])
    return text.getvalue()


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")


def cell(value: object) -> object:
    """Return a value for a cell of CSV: text on one line, and no formula of a spreadsheet."""
    if not isinstance(value, str):
        return "" if value is None else value
    text = clean_line(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def to_openmetrics(run: Finished) -> str:
    """Return the run as OpenMetrics 1.0 text: values by target, failing checks, and counts."""
    lines = [*_run(run), *_counts(run), *_not_passed(run), *_values(run)]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _run(run: Finished) -> Iterator[str]:
    name = f"{PREFIX}_run"
    yield from _head(name, "info", "", "The run that the other metrics are of")
    said = {"cluster": run.about.cluster, "run": run.path.name, "version": run.about.version}
    yield _sample(f"{name}_info", said, 1)
    begun = f"{PREFIX}_run_start_time_seconds"
    yield from _head(begun, "gauge", "seconds", "When the run began, since the epoch")
    yield _sample(begun, {}, datetime.fromisoformat(run.about.started).timestamp())
    if run.about.exit_status is not None:
        status = f"{PREFIX}_run_exit_status"
        yield from _head(status, "gauge", "", "Exit status of pytest: 0 is a fabric that is fit")
        yield _sample(status, {}, run.about.exit_status)


def _counts(run: Finished) -> Iterator[str]:
    name = f"{PREFIX}_checks"
    yield from _head(name, "gauge", "", "Checks by layer and outcome")
    counts = Counter((check.layer, verdict.outcome) for check, verdict in run.results)
    for (layer, outcome), count in counts.items():
        yield _sample(name, {"layer": layer, "outcome": outcome}, count)


def _not_passed(run: Finished) -> Iterator[str]:
    """Yield the checks that failed, waived or not, or could not be made; the rest is counted."""
    name = f"{PREFIX}_check_not_passed"
    yield from _head(
        name, "gauge", "", "1 for each check that failed, waived or not, or was not made"
    )
    seen = set()
    for check, verdict in run.results:
        if verdict.outcome not in ("passed", "skipped"):
            said = {"check": check.check, "target": check.target, "outcome": verdict.outcome}
            key = tuple(map(clean_line, said.values()))
            if key not in seen:
                seen.add(key)
                yield _sample(name, said, 1)


def _values(run: Finished) -> Iterator[str]:
    """Yield each measured value once per metric and target; words are left to the CSV form."""
    families: dict[str, tuple[str, str, dict[str, float]]] = {}
    for verdict in run.verdicts:
        if not verdict.metric or not isinstance(verdict.value, (int, float)):
            continue
        metric, size = _split(verdict.metric)
        unit = UNITS.get(verdict.unit or "", "")
        _, _, samples = families.setdefault(_name(metric, unit), (metric, unit, {}))
        labels = {**_place(verdict.target), **({"message_bytes": size} if size else {})}
        samples.setdefault(_labels(labels), verdict.value)
    for name, (metric, unit, samples) in sorted(families.items()):
        yield from _head(name, "gauge", unit, metric)
        yield from (f"{name}{labels} {_number(value)}" for labels, value in samples.items())


def _split(metric: str) -> tuple[str, str]:
    """Return a metric without the message size, and the size: `ib_write_lat.4.p99`."""
    found = re.fullmatch(r"(ib_\w+)\.([1-9][0-9]*)\.(\w+)", metric)
    return (f"{found[1]}.{found[3]}", found[2]) if found else (metric, "")


def _name(metric: str, unit: str) -> str:
    words = re.sub(r"[^a-zA-Z0-9_]", "_", metric)
    ending = f"_{unit}" if unit and not words.endswith(f"_{unit}") else ""
    ours = "_value" if f"{words}{ending}" in RESERVED or words.startswith("run_start_time") else ""
    return f"{PREFIX}_{words}{ours}{ending}"


def _place(target: str) -> dict[str, str]:
    """Return the labels of a target: `client` and `server` of a pair, `node` and `rail` else."""
    if is_pair(target):
        client, _, server = target.partition("..")
        return {"target": target, "client": client, "server": server}
    node, _, rail = target.partition(":")
    return {"target": target, "node": node, **({"rail": rail} if rail else {})}


def _head(name: str, kind: str, unit: str, text: str) -> Iterable[str]:
    yield f"# TYPE {name} {kind}"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {_escaped(text)}"


def _sample(name: str, labels: dict[str, str], value: float) -> str:
    return f"{name}{_labels(labels)} {_number(value)}"


def _labels(labels: dict[str, str]) -> str:
    shown = ",".join(f'{key}="{_escaped(said)}"' for key, said in labels.items())
    return f"{{{shown}}}" if shown else ""


def _escaped(text: str) -> str:
    return clean_line(text).replace("\\", "\\\\").replace('"', '\\"')


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)
