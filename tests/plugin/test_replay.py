"""A stored run is judged by the limits of today, and nobody is contacted."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_fabric.report.records import read_measurements, read_verdicts
from tests.plugin.conftest import REPOSITORY

from .runs import verdicts

SELECTION = ("suites", "-k", "small_write_p99 or port_state or write_bandwidth or no_pause")

#: Whatever opens a socket or starts a process fails.
SENTINEL = """
import os, socket, subprocess

def refuse(*args, **kwargs):
    raise AssertionError("a replay needs no network and no process")

socket.socket.__init__ = socket.create_connection = refuse
subprocess.Popen.__init__ = os.fork = os.posix_spawn = os.system = refuse
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of the lab in which nothing ran beside anything else."""
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("recorded")
    shutil.copytree(REPOSITORY / "suites", folder / "suites")
    for name in ("cluster.yaml", "cables.csv"):
        shutil.copy(REPOSITORY / name, folder)
    words = [*SELECTION, "--fabric-jobs=1", "--fabric-nodes=gpu[001-002]", "--fabric-allow-busy"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture
def stored(site: pytest.Pytester, recorded: Path) -> pytest.Pytester:
    """Return a site with that run, where nothing can be contacted."""
    shutil.copytree(recorded / "fabric-runs", site.path / "fabric-runs", symlinks=True)
    site.makeconftest(SENTINEL)
    return site


def replay(site: pytest.Pytester, *options: str) -> pytest.RunResult:
    words = ("--fabric-replay=latest", "--fabric-nodes=gpu[001-002]", "-p", "no:metadata")
    return site.runpytest_subprocess(*SELECTION, *words, "-p", "no:html", *options)


def test_a_replay_says_what_the_run_said_and_contacts_nobody(stored: pytest.Pytester) -> None:
    """No lab, no log-in; the new directory has measurements, facts, verdicts and reports."""
    first = (stored.path / "fabric-runs" / "latest").resolve()
    done = replay(stored)

    assert done.ret == 0, done.stdout.str()
    done.stdout.fnmatch_lines([f"replay of {first}: not measured now"])
    new = (stored.path / "fabric-runs" / "latest").resolve()
    assert new != first
    assert {v.nodeid: v.value for v in read_verdicts(first / "verdicts.jsonl")} == {
        v.nodeid: v.value for v in verdicts(stored)
    }
    same = [read_measurements(run / "measurements.jsonl") for run in (first, new)]
    assert len(same[0]) == len(same[1]) == 8
    assert [m.growth for m in same[0]] == [m.growth for m in same[1]]
    assert (new / "facts" / "gpu001.json").read_bytes() == (
        first / "facts" / "gpu001.json"
    ).read_bytes()
    assert (new / "junit.xml").exists()
    assert not (new / "audit.jsonl").exists()
    assert json.loads((new / "run.json").read_text())["replayed_from"] == str(first)


def test_a_changed_limit_is_applied_and_named(stored: pytest.Pytester) -> None:
    """Passes become failures with file and line of the new limit; settings that changed are told.

    A replay of a replay says the same.
    """
    inventory = stored.path / "cluster.yaml"
    text = inventory.read_text().replace('"<= 5 us"', '"<= 0.5 us"')
    text = text.replace("    limits:", "    traffic: {qps: 2}\n    limits:", 1)
    inventory.write_text(text)
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "<= 0.5 us" in row)
    for note in ("replay of * (cluster.yaml has changed since): not *", "replay of *[0-9]: not *"):
        done = replay(stored)

        assert done.ret == 1
        done.stdout.fnmatch_lines([note])
        late = [v for v in verdicts(stored) if v.check == "test_small_write_p99"]
        assert {(v.outcome, v.limit_source) for v in late} == {("failed", f"cluster.yaml:{line}")}
        other = [v for v in verdicts(stored) if v.check == "test_write_bandwidth"]
        assert {v.outcome for v in other} == {"error"}
        assert all("qps=4" in str(v.message) and "qps=2" in str(v.message) for v in other)
        assert {v.outcome for v in verdicts(stored) if v.check == "test_port_state"} == {"passed"}


def test_what_the_run_has_not_is_an_error(stored: pytest.Pytester) -> None:
    """Other nodes, other tools, and a shell: nothing passes that was not measured."""
    stored.makepyfile(
        test_free="""
from pytest_fabric import ib_read_lat, us

def test_pair(pair):
    assert pair.measure(ib_read_lat(size=4096)).p99 < us(20)

def test_shell(ssh):
    assert ssh.check_output("uname -r")

def test_facts(facts):
    assert facts.perftest
"""
    )
    words = ("--fabric-replay=latest", "-p", "no:metadata", "-p", "no:html")
    done = stored.runpytest_subprocess("test_free.py", *words)

    assert done.ret == 10
    found = verdicts(stored)
    assert all(v.outcome == "error" for v in found if v.check != "test_facts")
    assert {v.target for v in found if v.outcome == "passed"} == {"gpu001", "gpu002"}
    told = {v.check: str(v.message) for v in found if v.outcome == "error"}
    assert "--fabric-resume measures what is missing" in told["test_pair"]
    assert "no network in a replay" in told["test_shell"]
    assert "expected facts in" in told["test_facts"]
    assert all("\n" not in message for message in told.values())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--fabric-resume=latest",), "expected no --fabric-resume beside it, found both: *"),
        (
            ("--fabric-fault=ssh_down@gpu001",),
            "expected no --fabric-fault beside it, found both: *",
        ),
        (("-n2",), "expected no -n beside it, found both: *"),
        (("--fabric-plan",), "expected no --fabric-plan beside it, found both: *"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(
    pytester: pytest.Pytester, options: tuple[str, ...], message: str
) -> None:
    """In one line, before anything is read."""
    done = pytester.runpytest_inprocess("--fabric-replay=latest", *options)

    assert done.ret == 4
    done.stderr.fnmatch_lines([f"ERROR: --fabric-replay: {message}"])
