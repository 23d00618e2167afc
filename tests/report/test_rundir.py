"""The run directory loses nothing, mixes nothing up, and trusts no text."""

from __future__ import annotations

import json
import math
import os
import resource
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_fabric.errors import RecordError
from pytest_fabric.report import atomic
from pytest_fabric.report.records import read_measurements, read_verdicts
from pytest_fabric.report.rundir import RunDirectory, read_raw, safe_name
from pytest_fabric.results import Measurement

from .examples import BANDWIDTH, BROKEN, HOSTILE, LATENCY, verdict

NOW = datetime(2026, 11, 29, 13, 21, 5)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunDirectory]:
    """A run directory that is closed at the end, whose clock stands still."""
    path = RunDirectory.create(tmp_path / "fabric-runs", NOW).path
    directory = RunDirectory(path, clock=lambda: 1_795_958_460.5)
    yield directory
    directory.close()


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file of JSON lines, and refuse what JSON does not know."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line, parse_constant=refuse) for line in text.split("\n")[:-1]]


def test_runs_of_one_second_have_their_own_directories(tmp_path: Path) -> None:
    """The name is the time; `latest` points to the run that started last, relatively."""
    names = [RunDirectory.create(tmp_path, NOW).path.name for _ in range(3)]

    assert names == ["20261129-132105", "20261129-132105-2", "20261129-132105-3"]
    assert os.readlink(tmp_path / "latest") == "20261129-132105-3"


def test_runs_that_start_together_never_share_a_directory(tmp_path: Path) -> None:
    """However they race, `latest` points to one of them and nothing else is left."""
    with ThreadPoolExecutor(16) as pool:
        paths = list(pool.map(lambda _: RunDirectory.create(tmp_path, NOW).path, range(64)))

    assert len(set(paths)) == 64
    assert (tmp_path / "latest").resolve() in paths
    assert len(list(tmp_path.iterdir())) == 65


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_somebody_named_latest_is_left_alone(tmp_path: Path, kind: str) -> None:
    """Only a link is replaced."""
    latest = tmp_path / "latest"
    if kind == "folder":
        latest.mkdir()
    else:
        latest.write_text("mine")

    run = RunDirectory.create(tmp_path, NOW)

    assert not latest.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"latest", run.path.name}


def test_a_link_to_nowhere_is_replaced(tmp_path: Path) -> None:
    """The run it pointed to may have been deleted."""
    (tmp_path / "latest").symlink_to("gone")

    run = RunDirectory.create(tmp_path, NOW)

    assert (tmp_path / "latest").resolve() == run.path.resolve()


def test_a_measurement_is_one_line_with_exactly_the_agreed_keys(run: RunDirectory) -> None:
    """Values carry their unit in the key; text is cleaned; raw text stands beside, verbatim."""
    run.measurement(LATENCY)

    [record] = lines(run.path / "measurements.jsonl")
    assert " ".join(record) == (
        "key tool target commands versions attempts settings values reach tcp members health mtu "
        "counters counter_errors traffic doubts beside company alone raw error started "
        "duration still"
    )
    assert record["values"] == {
        "bytes": 4,
        "iterations": 20000,
        "min_s": 1.9e-6,
        "max_s": 40e-6,
        "median_s": 2.1e-6,
        "mean_s": 2.4e-6,
        "p99_s": 18e-6,
        "p999_s": 25e-6,
    }
    assert record["counters"][2] == {
        "port": "gpu002:rail0",
        "name": "tx_prio3_pause",
        "meaning": "pause",
        "direction": "tx",
        "priority": 3,
        "delta": 18422,
    }
    assert record["still"] == [
        {
            "port": "gpu001:rail0",
            "meaning": "pause",
            "direction": "rx",
            "names": {"rx_prio3_pause": 3},
        }
    ]
    assert record["error"] is None
    assert set(record["raw"]) == {"client.stdout", "client.stderr", "server.stdout"}
    assert set(record["raw"].values()) == {"raw/000001.txt"}


def test_raw_text_is_one_file_with_every_stream_verbatim(run: RunDirectory) -> None:
    """People read it as it is; what looks like the head of a stream inside one is no head."""
    raw = {"client.stdout": "==> x, 1 bytes <==\r\nü\n", "client.stderr": "", "server.stdout": "no"}
    run.measurement(replace(LATENCY, raw=raw))
    path = run.path / "raw/000001.txt"

    assert read_raw(path) == raw
    assert path.read_text().startswith("==> client.stdout, 23 bytes <==\n==> x, 1 bytes <==")
    path.write_bytes(path.read_bytes()[:-2])
    assert read_raw(path) == {name: raw[name] for name in ("client.stdout", "client.stderr")}


@pytest.mark.parametrize("measurement", [LATENCY, BANDWIDTH, BROKEN], ids=lambda m: m.key)
def test_what_was_written_is_read_again(run: RunDirectory, measurement: Measurement) -> None:
    """A record means the same in memory and on disk; `raw` then names the files."""
    run.measurement(measurement)

    [read] = read_measurements(run.path / "measurements.jsonl")
    assert replace(read, raw=measurement.raw) == measurement
    assert set(read.raw) == set(measurement.raw)


def test_a_verdict_is_one_line_with_exactly_the_agreed_keys(run: RunDirectory) -> None:
    """And it is on disk before the next one comes."""
    run.verdict(verdict("gpu001:rail0", "failed", message=HOSTILE))

    [record] = lines(run.path / "verdicts.jsonl")
    assert " ".join(record) == (
        "nodeid check target layer outcome metric value unit limit limit_source message "
        "started duration contention"
    )
    assert not set(record["message"]) & set("\x1b\x00\x9b\ud800\ufffe")
    [read] = read_verdicts(run.path / "verdicts.jsonl")
    assert read == replace(verdict("gpu001:rail0", "failed"), message=record["message"])


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_numbers_that_json_lacks_are_words(run: RunDirectory, value: float) -> None:
    """Every JSON parser can read every line."""
    run.verdict(verdict("gpu001", value=value))

    assert lines(run.path / "verdicts.jsonl")[0]["value"] == str(value)


def test_facts_go_to_a_file_that_no_node_can_choose(run: RunDirectory) -> None:
    """A name from the inventory never leaves the folder."""
    path = run.facts("../../etc/passwd", {"kernel": "6.1\x1b[0m", "ports": [LATENCY.attempts[0]]})

    assert path == run.path / "facts" / "%2E.%2F..%2Fetc%2Fpasswd.json"
    assert json.loads(path.read_text()) == {
        "kernel": "6.1",
        "ports": [{"control_port": 18515, "outcome": "taken"}],
    }


def test_nodes_have_different_files_with_usual_names() -> None:
    """Ordinary names stay as they are; no two names meet, however long or odd."""
    names = ["gpu001", "gpu-1.pod", ".", "..", "%2E", "a/b", "a%2Fb", "x" * 300, "x" * 299, "ü"]

    files = [safe_name(name) for name in names]

    assert files[:2] == names[:2]
    assert len(set(files)) == len(names)
    assert all(len(name) <= 200 and "/" not in name and name[0] != "." for name in files)


def test_plan_and_audit_are_plain_records(run: RunDirectory) -> None:
    """The plan is one document; every command has its moment, node and text."""
    run.plan([{"target": "gpu001:rail0"}, "ib_write_lat"])
    run.audit("gpu001", "cat '/proc/uptime'\x1b[2J")

    assert json.loads((run.path / "plan.json").read_text()) == [
        {"target": "gpu001:rail0"},
        "ib_write_lat",
    ]
    assert lines(run.path / "audit.jsonl") == [
        {"time": "2026-11-29T13:21:00.500+00:00", "node": "gpu001", "command": "cat '/proc/uptime'"}
    ]


def test_everything_can_be_read_by_others(run: RunDirectory) -> None:
    """The umask of the one who ran it does not hide a report, and nothing unfinished is left."""
    before = os.umask(0o077)
    try:
        run.measurement(LATENCY)
        run.verdict(verdict("gpu001"))
        run.audit("gpu001", "id -un")
        run.facts("gpu001", {})
        run.plan([])
    finally:
        os.umask(before)

    files = [path for path in run.path.rglob("*") if path.is_file()]
    assert len(files) == 6
    assert {path.stat().st_mode & 0o777 for path in files} == {0o644}


def test_threads_never_mix_their_lines(run: RunDirectory) -> None:
    """Eight threads write at once: every line is whole and every raw text is with its record."""
    start = threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        for turn in range(25):
            name = f"{number}-{turn}"
            run.measurement(replace(LATENCY, key=name, raw={"client.stdout": name * 500}))
            run.verdict(verdict(name, message="x" * 5000))
            run.audit(name, "y" * 5000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))

    expected = {f"{number}-{turn}" for number in range(8) for turn in range(25)}
    assert {line["target"] for line in lines(run.path / "verdicts.jsonl")} == expected
    assert {line["node"] for line in lines(run.path / "audit.jsonl")} == expected
    measurements = lines(run.path / "measurements.jsonl")
    assert {line["key"] for line in measurements} == expected
    assert len(measurements) == len(expected)
    for line in measurements:
        assert read_raw(run.path / line["raw"]["client.stdout"]) == {
            "client.stdout": line["key"] * 500
        }


def test_a_full_disk_tears_no_line(run: RunDirectory) -> None:
    """The writer is told, and what is written once there is space again can be read."""
    run.verdict(verdict("gpu001"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(RecordError, match=r"cannot write verdicts.jsonl: File too large$"):
            run.verdict(verdict("gpu002", message="x" * 2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    run.verdict(verdict("gpu003"))

    found = read_verdicts(run.path / "verdicts.jsonl")
    assert [verdict.target for verdict in found] == ["gpu001", "gpu003"]
    assert run.lost == [f"{run.path}: cannot write verdicts.jsonl: File too large"]


def test_writing_goes_on_after_close(run: RunDirectory) -> None:
    """A late thread's audit line is not lost."""
    run.audit("gpu001", "first")
    run.close()
    run.audit("gpu001", "second")

    assert [line["command"] for line in lines(run.path / "audit.jsonl")] == ["first", "second"]


def test_a_file_that_cannot_be_written_whole_is_not_replaced(tmp_path: Path) -> None:
    """The older content stays, and nothing unfinished is left beside it."""
    path = tmp_path / "plan.json"
    atomic.write(path, "old")

    with pytest.raises(UnicodeEncodeError):
        atomic.write(path, "new \ud800")

    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [
        ("plan.json", "old")
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"==> client.stdout, " + b"9" * 5000 + b" bytes <==\nx\n",
        b"==> client.stdout, 3 bytes <==\n\xff\xfe\x00\n",
        b"==> \xff, 1 bytes <==\nx\n",
        b"no head at all",
        b"",
    ],
)
def test_a_damaged_raw_file_is_no_traceback(tmp_path: Path, data: bytes) -> None:
    """What can be read is there, and nothing else."""
    path = tmp_path / "000001.txt"
    path.write_bytes(data)
    assert all("x" in text or "\ufffd" in text for text in read_raw(path).values())
