"""The directory of an earlier run is read whole or refused in one line, whatever is in it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_fabric.errors import ConfigError
from pytest_fabric.judge.training import Work
from pytest_fabric.report import records, typed
from pytest_fabric.report.about import About
from pytest_fabric.report.rundir import RunDirectory
from pytest_fabric.report.stored import Stored, open_run
from pytest_fabric.results import Failure, Measurement, NodeFacts

from .examples import ABOUT, BANDWIDTH, BROKEN, LATENCY

AGAIN = replace(LATENCY, alone=True, company=0, beside=(), started=LATENCY.started + 9)
FACTS = NodeFacts(
    node="gpu001",
    kernel="6.1",
    perftest="6.24",
    tools={"ib_write_lat": "/usr/bin/ib_write_lat"},
    memlock_bytes=None,
    allowed_cpus=(0, 1),
    siblings={0: (0, 64), 1: (1, 65)},
    uverbs={"/dev/infiniband/uverbs0": "rw"},
    ports=(),
)


def made(root: Path, *measurements: Measurement) -> Path:
    """Return the directory of a run that made some measurements."""
    directory = RunDirectory.create(root, datetime(2026, 11, 29), lambda new: new.about(ABOUT))
    for measurement in measurements:
        directory.measurement(measurement)
    directory.facts("gpu001", asdict(FACTS))
    directory.close()
    return directory.path


def refusal(path: Path, look: Callable[[Stored], object] = lambda stored: None) -> str:
    with pytest.raises(ConfigError) as caught:
        look(open_run("--fabric-resume", path))
    (line,) = caught.value.lines
    assert "\n" not in line
    return line


def lines_of(run: Path) -> list[str]:
    return (run / "measurements.jsonl").read_text().splitlines(keepends=True)


def write_lines(run: Path, *lines: str) -> None:
    (run / "measurements.jsonl").write_text("".join(lines))


def test_what_a_run_wrote_is_read_again(tmp_path: Path) -> None:
    """Measurements with repetitions, in order; copies have the raw text, to the byte."""
    made(tmp_path, LATENCY, BANDWIDTH, AGAIN, BROKEN)
    stored = open_run("--fabric-resume", tmp_path / "latest")

    assert stored.about == ABOUT
    assert stored.facts == {"gpu001": FACTS}
    assert not stored.path.is_symlink()
    first, second = stored.measured  # BROKEN has the key of LATENCY and came later
    assert (first.record.error, first.alone) == (BROKEN.error, ())
    assert second.record.bandwidth == BANDWIDTH.bandwidth
    assert [record.key for record in stored.settled] == []  # BANDWIDTH has doubts
    whole = list(stored.copies(settled_only=False))
    assert sorted(record.tool for record in whole) == ["ib_write_bw", "ib_write_lat"]


def test_raw_text_and_all_counters_are_copied(tmp_path: Path) -> None:
    """In memory only what judging needs is kept: a fabric has thousands of measurements."""
    stored = open_run("", made(tmp_path, LATENCY, AGAIN))

    (found,) = stored.measured
    assert found.record.raw == {}
    assert {growth.meaning for growth in found.record.growth} == {"out_of_sequence", "pause"}
    assert [one.started for one in found.alone] == [AGAIN.started]
    first, again = stored.copies(settled_only=True)
    assert first.growth == LATENCY.growth
    # What UTF-8 cannot hold has been replaced when it was written.
    raw = {name: text.encode("utf-8", "replace").decode() for name, text in LATENCY.raw.items()}
    assert first == replace(LATENCY, raw=raw)
    assert again == replace(AGAIN, raw=raw)


def test_later_lines_win_and_take_their_repetitions_with_them(tmp_path: Path) -> None:
    """An error that was measured again is a value; what was repeated of the first is not of it."""
    later = replace(LATENCY, started=LATENCY.started + 60)
    stored = open_run("", made(tmp_path, LATENCY, AGAIN, BROKEN, later))

    (found,) = stored.measured
    assert (found.record.started, found.alone) == (later.started, ())
    assert [record.started for record in stored.settled] == [later.started]


def test_errors_and_doubts_are_not_settled(tmp_path: Path) -> None:
    """They are made again; a repetition that was an error is, too."""
    lost = replace(AGAIN, latency=None, error=Failure("hang", "it hung"))
    stored = open_run("", made(tmp_path, LATENCY, lost, AGAIN, BANDWIDTH))

    assert [record.started for record in stored.settled] == [LATENCY.started, AGAIN.started]
    assert len(list(stored.copies(settled_only=True))) == 2
    assert len(list(stored.copies(settled_only=False))) == 4


def test_what_is_isolated_is_no_repetition(tmp_path: Path) -> None:
    """It is alone in the first place."""
    isolated = replace(AGAIN, settings={"isolate": "leaf"})
    stored = open_run("", made(tmp_path, isolated))

    assert [found.alone for found in stored.measured] == [()]


@pytest.mark.parametrize("cut", [1, 40, 700])
def test_a_torn_last_line_is_left_out(tmp_path: Path, cut: int) -> None:
    """The run was killed while it wrote."""
    run = made(tmp_path, LATENCY, replace(LATENCY, target="gpu003:rail0..gpu004:rail0"))
    first, second = lines_of(run)
    write_lines(run, first, second[:cut])

    assert [record.target for record in open_run("", run).settled] == [LATENCY.target]


def test_a_run_that_was_killed_before_its_first_measurement_is_one(tmp_path: Path) -> None:
    """There is nothing to take over."""
    assert open_run("", made(tmp_path)).settled == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone", "expected the directory of a run at *, found none (No such file or directory): *"),
        ("file", "expected a directory, found a file at *: give the directory of a run, *"),
        ("folder", "expected the directory of a run, found no run.json in *: give the directory *"),
        ("circle", "expected the directory of a run at *, found none (*): give the directory *"),
        ("file/deeper", "expected the directory of a run at *, found none (Not a directory): *"),
    ],
)
def test_what_is_no_run_directory_is_refused(tmp_path: Path, name: str, message: str) -> None:
    """The line says what was looked for, what is there, and what to give."""
    from fnmatch import fnmatchcase

    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "circle").symlink_to("circle")

    assert fnmatchcase(refusal(tmp_path / name), f"--fabric-resume: {message}")


HOSTILE_RUNS = {
    "": "JSONDecodeError",
    "[]": "expected object",
    "{}": "KeyError",
    '{"schema": 2}': "expected schema 1, found '2': another version wrote it",
    '{"schema": NaN}': "NaN is no JSON",
    "[" * 100_000: "nested too deeply",
    "\x00": "JSONDecodeError",
    json.dumps({**asdict(ABOUT), "options": {"faults": "all"}}): "KeyError",
    json.dumps({**asdict(ABOUT), "cluster": 7}): "expected str, got int",
    json.dumps({**asdict(ABOUT), "schema": True}): "expected int, got bool",
}


@pytest.mark.parametrize("text", HOSTILE_RUNS, ids=range(len(HOSTILE_RUNS)))
def test_a_run_json_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    """The line names the file."""
    run = made(tmp_path)
    (run / "run.json").write_text(text)

    line = refusal(run)
    assert line.startswith(f"{run / 'run.json'}: expected ")
    assert HOSTILE_RUNS[text] in line


def changed(line: str, **keys: object) -> str:
    return json.dumps({**json.loads(line), **keys}) + "\n"


def stood(names: object) -> dict[str, object]:
    return {"port": "gpu001:rail0", "meaning": "pause", "direction": "rx", "names": names}


HOSTILE: dict[str, Callable[[str], str]] = {
    "text": lambda line: "what is this\n",
    "bytes": lambda line: "\x1b[31m\x07" * 100 + "\n",
    "list": lambda line: "[1]\n",
    "torn": lambda line: line[:200] + "\n",
    "deep": lambda line: "[" * 100_000 + "\n",
    "values": lambda line: changed(line, values={"bytes": 4}),
    "value type": lambda line: changed(
        line, values={**json.loads(line)["values"], "p99_s": "fast"}
    ),
    "nan": lambda line: line.replace("1.8e-05", "NaN"),
    "endless": lambda line: changed(line, mtu=10**400),
    "endless time": lambda line: changed(line, duration=10**400),
    "target": lambda line: changed(line, target=None),
    "company": lambda line: changed(line, company="many"),
    "alone": lambda line: changed(line, alone=0),
    "growth": lambda line: changed(line, counters={"pause": 0}),
    "still": lambda line: changed(line, still=5),
    "still names": lambda line: changed(line, still=[stood(["a", "b"])]),
    "still priority": lambda line: changed(line, still=[stood({"a": 1}), stood({"a": True})]),
    "still share": lambda line: changed(line, still=[stood({"a": 1}), stood({"a": 1.0})]),
    "error": lambda line: changed(line, error="it failed"),
    "raw": lambda line: changed(line, raw=["raw/000001.txt"]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_line_that_is_no_measurement_is_refused(tmp_path: Path, name: str) -> None:
    """Anywhere but at the torn end; the line of the error names file and line."""
    run = made(tmp_path, LATENCY, LATENCY)
    first, second = lines_of(run)
    write_lines(run, first, HOSTILE[name](second), second)

    line = refusal(run)
    assert line.startswith(f"{run / 'measurements.jsonl'}:2: expected a record of this product")
    assert line.endswith("take the line out to go on without it")
    assert "\x1b" not in line
    assert len(line) < 700


@pytest.mark.parametrize(
    "raw", ["../../etc/passwd", "/etc/passwd", "raw/../run.json", "raw/gone.txt", "raw/link", ""]
)
def test_raw_text_comes_from_raw_only(tmp_path: Path, raw: str) -> None:
    """A name could point anywhere, and so could a link; what is missing is told."""
    run = made(tmp_path, LATENCY)
    (run / "raw" / "link").symlink_to("/etc/passwd")
    write_lines(run, changed(lines_of(run)[0], raw={"client.stdout": raw}))

    expected = f"{run / 'measurements.jsonl'}:1: expected a file of raw text in raw/, found none"
    assert refusal(run).startswith(expected)


@pytest.mark.parametrize("name", ["run.json", "measurements.jsonl"])
def test_a_pipe_is_not_read(tmp_path: Path, name: str) -> None:
    """It would wait for ever."""
    run = made(tmp_path, LATENCY)
    (run / name).unlink()
    os.mkfifo(run / name)

    assert refusal(run) == f"{run / name}: expected a file, found something else"


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", json.dumps({**asdict(FACTS), "siblings": {"x": [0]}})],
)
def test_facts_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    """When somebody asks for them."""
    run = made(tmp_path)
    (run / "facts" / "gpu001.json").write_text(text)

    line = refusal(run, lambda stored: stored.facts)
    assert line.startswith(f"{run / 'facts' / 'gpu001.json'}: expected a record of this product")


def test_facts_of_another_node_are_refused(tmp_path: Path) -> None:
    """A file that was copied to another name would speak for the wrong node."""
    run = made(tmp_path)
    (run / "facts" / "gpu001.json").rename(run / "facts" / "gpu002.json")

    line = refusal(run, lambda stored: stored.facts)
    assert line.endswith("expected the facts of that node, found 'gpu001'")


TEXT = st.text('ab7 \n\t"\\{}[]:,é漢', max_size=6)
#: Whole records are large, and drawing one takes longer than reading it.
LARGE = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# What records hold has been cleaned.
st.register_type_strategy(str, TEXT)
st.register_type_strategy(float, st.floats(allow_nan=False))
st.register_type_strategy(
    Work,
    st.builds(
        Work,
        *[st.integers(1, 10**6)] * 3,
        *[st.floats(0, 1e300)] * 2,
        st.floats(0, 1),
    ),
)


@LARGE
@given(st.from_type(NodeFacts))
def test_facts_come_back_as_they_were(facts: NodeFacts) -> None:
    """Keys of JSON are texts and its lists no tuples; an infinity becomes a word and back."""
    assert records.to_facts(records.loads(records.dumps(facts).encode())) == facts


@LARGE
@given(st.from_type(About))
def test_what_a_run_is_comes_back_as_it_was(about: About) -> None:
    """The record of run.json."""
    assert typed.read(About, records.loads(records.dumps(about).encode())) == about


@LARGE
@given(st.from_type(Measurement))
def test_measurements_come_back_as_they_were(record: Measurement) -> None:
    """One with a latency has no bandwidth; settings are finite: a text `inf` stays one there.

    A port has each counter once, and growth stands in the order of ends and names; of a group, in
    that of ports and names.
    """
    settled = {name: value for name, value in record.settings.items() if value != math.inf}
    settled = {name: value for name, value in settled.items() if value != -math.inf}
    client = record.target.partition("..")[0]
    each = {(grown.port, grown.name): grown for grown in record.growth}.values()
    if record.members:
        growth = sorted(each, key=lambda grown: (grown.port, grown.name))
    else:
        server = next((grown.port for grown in each if grown.port != client), client)
        both = [grown for grown in each if grown.port in (client, server)]
        growth = sorted(both, key=lambda grown: (grown.port != client, grown.name))
    record = replace(record, bandwidth=None, settings=settled, growth=tuple(growth))
    line = records.measurement_line(record, record.raw)

    assert records.to_measurement(records.loads(line.encode())) == record
