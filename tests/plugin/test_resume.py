"""A killed run is taken up again: nothing that was measured is lost, nothing is measured twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.report import records
from pytest_fabric.report.records import read_measurements, read_verdicts
from pytest_fabric.report.stored import open_run
from pytest_fabric.results import Measurement
from tests.plugin.conftest import REPOSITORY
from tests.report.examples import ABOUT

from .runs import at_once

#: One port is broken, so that misses are confirmed alone and failures must be told again.
OPTIONS = (
    "suites",
    "-k",
    # The window of a switch is lost with a run that is killed: its tests are errors then.
    "small_write_p99 or page_write_p99 or write_bandwidth or test_no_pause or port_state",
    "--fabric-fault=latency_tail@gpu002:rail0",
    "--fabric-allow-busy",
    "--fabric-no-reports",
)

KILLS = 5


def latest(site: pytest.Pytester) -> Path:
    return site.path / "fabric-runs" / "latest"


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *OPTIONS, *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def to_the_end(folder: Path, *options: str) -> tuple[int, str]:
    process = start(folder, *options)
    out, _ = process.communicate(timeout=60)
    return process.returncode, out


def outcomes(run: Path) -> dict[str, str]:
    return {verdict.nodeid: verdict.outcome for verdict in read_verdicts(run / "verdicts.jsonl")}


def key(record: Measurement) -> str:
    return f"{record.target} {record.key} {record.is_repetition}"


def stored(folder: Path) -> Iterator[Measurement]:
    """Yield what all runs measured without error; one without run.json was never begun."""
    for run in sorted(folder.glob("2*")):
        if (run / "run.json").exists() and (run / "measurements.jsonl").exists():
            records = read_measurements(run / "measurements.jsonl")
            yield from (record for record in records if record.error is None)


def labs(folder: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().decode(errors="replace")
        except OSError:  # it has just ended
            continue
        if "pytest_fabric.lab" in line and str(folder) in line:
            found.append(line)
    return found


def no_lab_is_left(folder: Path) -> bool:
    until = time.monotonic() + 10
    while labs(folder) and time.monotonic() < until:
        time.sleep(0.05)
    return not labs(folder)


def slow(folder: Path) -> Path:
    """Return a folder with a lab that takes a few seconds for the tests of OPTIONS."""
    shutil.copytree(REPOSITORY / "suites", folder / "suites")
    shutil.copy(REPOSITORY / "cables.csv", folder)
    inventory = (REPOSITORY / "cluster.yaml").read_text()
    (folder / "cluster.yaml").write_text(inventory.replace("time: 0.02", "time: 0.06"))
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], float]:
    """Return the outcomes of a run that nobody disturbs, and how long it takes."""
    folder = slow(tmp_path_factory.mktemp("undisturbed"))
    began = time.monotonic()
    status, out = to_the_end(folder)
    assert status == 1, out
    return outcomes(folder / "fabric-runs" / "latest"), time.monotonic() - began


@pytest.mark.parametrize("seed", [1, 2])
def test_a_run_that_is_killed_again_and_again_ends_as_an_undisturbed_one(
    tmp_path: Path, undisturbed: tuple[dict[str, str], float], seed: int
) -> None:
    """SIGKILL at any moment loses what was in flight, and no more; the lab ends with the run."""
    chance = random.Random(seed)
    expected, whole_s = undisturbed
    folder, runs = slow(tmp_path), tmp_path / "fabric-runs"
    for _ in range(KILLS):
        resume = ["--fabric-resume=latest"] if (runs / "latest").exists() else []
        process = start(folder, *resume)
        time.sleep(chance.uniform(0.2, whole_s))
        process.kill()
        out, _ = process.communicate(timeout=30)
        assert "Traceback" not in out
        assert no_lab_is_left(folder)

    resume = ["--fabric-resume=latest"] if (runs / "latest").exists() else []
    status, out = to_the_end(folder, *resume)

    assert status == 1, out
    assert outcomes(runs / "latest") == expected
    made = defaultdict(set)
    for record in stored(runs):
        made[key(record)].add(record.started)
    assert {name: len(times) for name, times in made.items() if len(times) > 1} == {}
    last = read_measurements(runs / "latest" / "measurements.jsonl")
    assert {key(record) for record in last} == set(made)
    assert {record.is_repetition for record in last} == {True, False}
    assert no_lab_is_left(folder)


def about(run: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((run / "run.json").read_text())
    return found


FEW = ("-k", "small_write_p99 or port_state", "--fabric-allow-busy", "--fabric-no-reports")


def test_what_is_missing_or_was_an_error_is_measured_and_the_rest_is_copied(
    site: pytest.Pytester,
) -> None:
    """The new directory is whole, with raw text and times of then; the summary tells the source."""
    site.runpytest_subprocess("suites", *FEW)
    first = latest(site).resolve()
    assert (about(first)["exit_status"], about(first)["interrupted"]) == (0, False)
    assert str(about(first)["started"]) <= str(about(first)["ended"])
    before = {record.target: record for record in read_measurements(first / "measurements.jsonl")}
    lost = _make_an_error(first)

    done = site.runpytest_subprocess("suites", *FEW, "--fabric-resume=latest")

    assert done.ret == 0, done.stdout.str()
    done.stdout.fnmatch_lines([f"taken over: 7 measurements of {first}"])
    after = {m.target: m for m in read_measurements(latest(site) / "measurements.jsonl")}
    assert len(after) == 8
    for target in before.keys() - {lost}:
        assert after[target].started == before[target].started
        for stream, name in before[target].raw.items():
            copied = (latest(site) / after[target].raw[stream]).read_bytes()
            assert copied == (first / name).read_bytes()
    assert about(latest(site))["resumed_from"] == str(first)
    assert open_run("", latest(site)).settled


def _make_an_error(run: Path) -> str:
    """Let the first measurement of a run be an error, and tell which it was."""
    path = run / "measurements.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    record = json.loads(lines[0])
    record.update(values=None, error={"kind": "hang", "message": "it hung"})
    path.write_text("".join([json.dumps(record) + "\n", *lines[1:]]))
    return str(record["target"])


def test_what_was_measured_on_the_spot_is_known(site: pytest.Pytester) -> None:
    """A free-form test asks for it when it is run."""
    site.makepyfile(
        test_free="""
from pytest_fabric import ib_read_lat, ib_write_lat, measure, us

@measure(ib_write_lat(size=4))
def test_declared(result):
    assert result.p99 < us(5)

def test_on_the_spot(pair):
    assert pair.measure(ib_read_lat(size=4096)).p99 < us(20)
"""
    )
    options = ("test_free.py", "--fabric-nodes=gpu[001-002]", "--fabric-no-reports")
    site.runpytest_subprocess(*options)
    count = len(read_measurements(latest(site) / "measurements.jsonl"))

    done = site.runpytest_subprocess(*options, "--fabric-resume=latest")
    assert done.ret == 0, done.stdout.str()
    done.stdout.fnmatch_lines([f"taken over: {count} measurements of *"])
    assert "ib_read_lat -d" not in (latest(site) / "audit.jsonl").read_text()
    assert len(read_measurements(latest(site) / "measurements.jsonl")) == count


def test_a_miss_that_was_never_confirmed_is_confirmed_now(site: pytest.Pytester) -> None:
    """The run was killed in between; nothing else is measured."""
    broken = ("suites", *FEW, "--fabric-fault=latency_tail@gpu002:rail0")
    site.runpytest_subprocess(*broken)
    path = latest(site) / "measurements.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not json.loads(line)["alone"]))
    kept = [m.started for m in read_measurements(path)]

    done = site.runpytest_subprocess(*broken, "--fabric-resume=latest")

    assert done.ret == 1
    found = read_measurements(latest(site) / "measurements.jsonl")
    assert [m.started for m in found if not m.is_repetition] == kept
    assert {m.target for m in found if m.is_repetition} == {
        "gpu001:rail0..gpu002:rail0",
        "gpu002:rail0..gpu003:rail0",
    }


def test_another_fabric_is_refused(site: pytest.Pytester) -> None:
    """What was measured elsewhere says nothing about this one; no new directory is made."""
    run = site.path / "fabric-runs" / "20260101-000000"
    run.mkdir(parents=True)
    (run / "run.json").write_text(records.dumps(replace(ABOUT, cluster="other")))

    done = at_once(site, "suites", *FEW, f"--fabric-resume={run}")

    assert done.ret == 4
    line = "ERROR: --fabric-resume: expected a run with cluster lab, found 'other' in *"
    done.stderr.fnmatch_lines([line])
    assert len(os.listdir(site.path / "fabric-runs")) == 1
