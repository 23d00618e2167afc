"""Machine-readable output: schemas that real run directories keep, CSV, and OpenMetrics."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.report import export, finished, schema
from pytest_fabric.report.finished import Finished
from tests.cli.inside import call


def problems(value: object, wanted: dict[str, Any], place: str = "") -> list[str]:
    """Return where a value breaks a schema, for the keywords that our schemas use."""
    if "anyOf" in wanted:
        tried = [problems(value, one, place) for one in wanted["anyOf"]]
        return [] if [] in tried else [f"{place}: none of anyOf: {tried}"]
    if "enum" in wanted:
        return [] if value in wanted["enum"] else [f"{place}: {value!r} not in enum"]
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "integer": int,
        "number": (int, float),
        "null": type(None),
    }
    kind = wanted["type"]
    is_flag = isinstance(value, bool) and kind != "boolean"
    if is_flag or not isinstance(value, kinds[kind]):  # type: ignore[arg-type]
        return [f"{place}: expected {kind}, got {value!r}"]
    if isinstance(value, list):
        return [
            p
            for i, one in enumerate(value)
            for p in problems(one, wanted["items"], f"{place}[{i}]")
        ]
    if not isinstance(value, dict):
        return []
    known = wanted.get("properties", {})
    found = [f"{place}: no {key}" for key in wanted.get("required", ()) if key not in value]
    for key, inner in value.items():
        below = known.get(key, wanted.get("additionalProperties", True))
        if below is False:
            found.append(f"{place}: unknown {key}")
        elif isinstance(below, dict):
            found += problems(inner, below, f"{place}.{key}")
    names = wanted.get("propertyNames", {}).get("pattern", "")
    return found + [f"{place}: odd key {key}" for key in value if not re.search(names, key)]


@pytest.mark.parametrize("name", [name for name in schema.FILES if name != "retest"])
def test_a_run_directory_keeps_its_schemas(name: str, run_directory: Path) -> None:
    """What is documented is what is written, key by key; and nothing else is."""
    pattern = schema.FILES[name][0]
    files = sorted(run_directory.glob(pattern))
    assert files, pattern
    wanted = schema.schema(name)
    for file in files:
        text = file.read_text()
        values = text.splitlines() if file.suffix == ".jsonl" else [text]
        for value in values:
            assert problems(json.loads(value), wanted) == []


def test_the_schemas_refuse_what_is_wrong() -> None:
    """A schema that takes everything documents nothing."""
    verdict = schema.schema("verdicts")
    assert problems({}, verdict)
    assert problems({"nodeid": 1}, verdict)
    assert problems({"more": 1}, verdict)
    assert schema.schema("facts")["properties"]["siblings"]["propertyNames"]


def test_schema_names_what_it_knows(tmp_path: Path) -> None:
    """An unknown name is one line."""
    done = call(["schema", "nosuch"], tmp_path)

    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "properties" in json.loads(call(["schema", "measurements"], tmp_path).stdout)


def test_csv_has_every_planned_check_once(run_directory: Path, tmp_path: Path) -> None:
    """With values in base units."""
    done = call(["export", str(run_directory)], tmp_path)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))

    planned = json.loads((run_directory / "plan.json").read_text())
    assert [row["nodeid"] for row in rows] == [check["nodeid"] for check in planned]
    failed = [row for row in rows if row["outcome"] == "failed"]
    assert failed
    assert all(row["unit"] == "s" and 5e-6 < float(row["value"]) < 1e-3 for row in failed)
    assert set(rows[0]) == set(export.COLUMNS)


HEAD = re.compile(r"# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)")
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")


def samples(text: str) -> dict[tuple[str, str], float]:
    """Return the samples of an OpenMetrics text, which is checked by the rules of version 1.0."""
    assert text.endswith("\n# EOF\n")
    found: dict[tuple[str, str], float] = {}
    closed: set[str] = set()
    family, kind, unit = "", "", ""
    for line in text.removesuffix("# EOF\n").splitlines():
        head = HEAD.fullmatch(line)
        if head and head[1] == "TYPE":
            closed.add(family)
            family, kind, unit = head[2], head[3], ""
            assert family not in closed, f"{family} is told twice"
        elif head:
            assert head[2] == family
            unit = head[3] if head[1] == "UNIT" else unit
            assert family.endswith(unit)
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            assert sample[1] == (f"{family}_info" if kind == "info" else family)
            key = (sample[1], sample[2] or "")
            assert key not in found, f"{key} is told twice"
            found[key] = float(sample[3])
    return found


def test_openmetrics_is_valid_and_has_the_values(run_directory: Path, tmp_path: Path) -> None:
    """Values by target, each once, and every check that did not pass."""
    done = call(["export", "--format", "openmetrics", str(run_directory)], tmp_path)
    found = samples(done.stdout)

    pair = "gpu001:rail0..gpu002:rail0"
    labels = f'target="{pair}",client="gpu001:rail0",server="gpu002:rail0"'
    labels += ',message_bytes="4"'
    assert 5e-6 < found["rdma_fabric_ib_write_lat_p99_seconds", labels] < 1e-3
    assert any(name == "rdma_fabric_check_not_passed" for name, _ in found)
    counted = sum(value for (name, _), value in found.items() if name == "rdma_fabric_checks")
    assert counted == len(json.loads((run_directory / "plan.json").read_text()))


HOSTILE = 'a"b\\c\nd\x1b[31m]]>\ud800{x="y"} 1\n# EOF\n=cmd()'


def test_hostile_text_stays_text(run_directory: Path) -> None:
    """What nodes say ends neither a line, nor a label, nor the file."""
    run = finished.read("export", run_directory)
    verdicts = tuple(
        replace(v, message=HOSTILE, target=HOSTILE, outcome="failed", metric=HOSTILE, value=1.0)
        for v in run.verdicts[:1]
    )
    planned = tuple(replace(p, target=HOSTILE, layer=HOSTILE) for p in run.planned[:1])
    about = replace(run.about, cluster=HOSTILE)
    hostile = Finished(run.path, about, planned, verdicts)

    assert samples(export.to_openmetrics(hostile))
    rows = list(csv.reader(io.StringIO(export.to_csv(hostile))))
    assert {len(row) for row in rows} == {len(export.COLUMNS)}
    assert not any(cell.startswith(export.FORMULA) for cell in rows[1])
    assert export.to_csv(hostile).encode()


def test_infinity_is_written_as_openmetrics_has_it(run_directory: Path) -> None:
    """A memlock without a limit is infinite."""
    run = finished.read("export", run_directory)
    verdicts = tuple(
        replace(run.verdicts[0], metric="host.memlock", unit="B", value=value, target=target)
        for target, value in (("a", float("inf")), ("b", float("nan")))
    )
    text = export.to_openmetrics(replace(run, verdicts=verdicts))
    assert 'rdma_fabric_host_memlock_bytes{target="a",node="a"} +Inf' in text
    assert 'rdma_fabric_host_memlock_bytes{target="b",node="b"} NaN' in text


def test_what_is_no_run_directory_is_one_line(tmp_path: Path, run_directory: Path) -> None:
    """Also one in which a record is broken: half an export would look like a whole one."""
    none = call(["export", str(tmp_path)], tmp_path)
    broken = tmp_path / "broken"
    broken.mkdir()
    for name in ("run.json", "plan.json"):
        (broken / name).write_bytes((run_directory / name).read_bytes())
    (broken / "verdicts.jsonl").write_text('{"nodeid": 1}\n')
    wrong = call(["export", str(broken)], tmp_path)

    for done in (none, wrong):
        assert (done.returncode, done.stderr.count("\n"), done.stdout) == (4, 1, "")


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("run.json", lambda text: re.sub(r'"started": "[^"]*"', '"started": "yesterday"', text)),
        ("plan.json", lambda text: "[" * 100_000),
        ("verdicts.jsonl", lambda text: re.sub(r'"started": [0-9.]+', '"started": 1e300', text)),
        ("verdicts.jsonl", lambda text: re.sub(r'"started": [0-9.]+', '"started": -1e20', text)),
        ("verdicts.jsonl", lambda text: re.sub(r'"value": [0-9.e-]+', f'"value": {10**400}', text)),
        ("verdicts.jsonl", lambda text: re.sub(r'"duration": [0-9.]+', '"duration": 1e300', text)),
        ("verdicts.jsonl", lambda text: re.sub(r'"duration": [0-9.]+', '"duration": "nan"', text)),
        ("verdicts.jsonl", lambda text: text.replace('"passed"', '"exploded"')),
    ],
)
def test_records_that_no_run_can_have_written_are_refused(
    name: str, changed: Callable[[str], str], tmp_path: Path, run_directory: Path
) -> None:
    for one in ("run.json", "plan.json", "verdicts.jsonl"):
        text = (run_directory / one).read_text()
        (tmp_path / one).write_text(changed(text) if one == name else text)
    assert (tmp_path / name).read_text() != (run_directory / name).read_text()

    with pytest.raises(ConfigError, match=name) as caught:
        finished.read("export", tmp_path)
    assert "\n" not in str(caught.value)


def test_a_metric_with_the_name_of_our_own_is_told_apart(run_directory: Path) -> None:
    """A family must not be there twice."""
    run = finished.read("export", run_directory)
    verdicts = tuple(
        replace(run.verdicts[0], metric=metric, unit="", value=1.0)
        for metric in ("checks", "run", "run.exit_status", "check.not_passed")
    )
    heads = [
        line
        for line in export.to_openmetrics(replace(run, verdicts=verdicts)).splitlines()
        if line.startswith("# TYPE")
    ]
    assert len(heads) == len(set(heads)) == 5 + 4


def test_ci_is_told_in_markdown_and_in_junit_by_layer(run_directory: Path) -> None:
    """As soon as GITHUB_STEP_SUMMARY says where."""
    written = (run_directory.parent / "summary.md").read_text()
    root = ET.fromstring((run_directory.parent / "junit.xml").read_bytes())

    assert written.startswith("## lab: failed\n")
    assert [suite.get("name") for suite in root] == ["link", "host", "pair"]
