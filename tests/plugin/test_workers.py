"""`pytest -n`: workers run the tests, and one run measures for all of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pytest_fabric.report.records import read_measurements, read_verdicts
from pytest_fabric.results import Verdict
from tests.clusters import TEXT

SUITE = """
import os
import pytest
from pytest_fabric import host_facts, ib_write_bw, ib_write_lat, measure, port_facts, us

@measure(port_facts())
def test_speed(result, limits):
    assert result.speed in limits["link.speed"]

@measure(ib_write_lat(size=4))
def test_p99(result, limits):
    assert result.p99 in limits["ib_write_lat.p99"]

@measure(ib_write_lat(size=4))
def test_median(result, limits):
    assert result.median in limits["ib_write_lat.median"]

@measure(ib_write_bw(size=65536, duration=1))
def test_bandwidth(result, limits):
    assert result.average in limits["ib_write_bw.average"]

@measure(ib_write_bw(size=65536, duration=1))
def test_pause(result, limits):
    assert result.growth("pause") in limits["pause.growth"]

@measure(host_facts())
def test_governor(result):
    assert result.governor == "performance"

@measure(host_facts(over="fabric"))
def test_same_kernel(result):
    assert result.odd("kernel") == 0

def test_shell(ssh, node):
    assert ssh.check_output("hostname") == node
    assert ssh.run("no-such-tool %s", "a b").status == 127

def test_plain():
    pass
"""

#: 2 speeds, 4 tests of 2 pairs each, 2 governors, a kernel, 2 shells; and one that is not ours.
OURS = 2 + 4 * 2 + 2 + 1 + 2

CRASH = """
@measure(port_facts())
def test_crash(result, node):
    if node == "gpu001":
        os._exit(3)
    assert result.state == "ACTIVE"
"""


@pytest.fixture(autouse=True)
def site(pytester: pytest.Pytester) -> Path:
    """Return a folder with a suite and two nodes."""
    pytester.makeini(
        "[pytest]\naddopts = -p no:cacheprovider -p no:hypothesispytest\n"  # it starts slowly
    )
    pytester.makepyfile(test_suite=SUITE)
    (pytester.path / "cluster.yaml").write_text(f"{TEXT}lab: {{seed: 1, time: 0.02}}\n")
    return pytester.path


def latest(site: Path) -> Path:
    return site / "fabric-runs" / "latest"


def verdicts(site: Path) -> list[Verdict]:
    return read_verdicts(latest(site) / "verdicts.jsonl")


def outcomes(site: Path) -> dict[str, str]:
    found = verdicts(site)
    assert len({verdict.nodeid for verdict in found}) == len(found)
    return {verdict.nodeid: verdict.outcome for verdict in found}


def require_measured_once(site: Path) -> None:
    """Require one run, each measurement once, and facts of each node read once."""
    assert len([path for path in (site / "fabric-runs").iterdir() if not path.is_symlink()]) == 1
    keys = [
        (m.target, m.key, m.alone) for m in read_measurements(latest(site) / "measurements.jsonl")
    ]
    assert len(set(keys)) == len(keys)
    audit = [json.loads(line) for line in (latest(site) / "audit.jsonl").read_text().splitlines()]
    read = Counter(entry["node"] for entry in audit if "node_guid" in entry["command"])
    assert read == {"gpu001": 1, "gpu002": 1}


def test_workers_come_to_the_same_verdicts(pytester: pytest.Pytester, site: Path) -> None:
    """Also where a port is slow: the same checks fail, with the same limits."""
    fault = "--fabric-fault=latency_tail@gpu002:rail0"
    alone = pytester.runpytest_subprocess(fault)
    expected = {v.nodeid: (v.outcome, v.metric, v.limit, v.limit_source) for v in verdicts(site)}
    latest(site).unlink()
    for path in (site / "fabric-runs").iterdir():
        path.rename(site / path.name)
    done = pytester.runpytest_subprocess(fault, "-n2", "--fabric-junit=out.xml")

    assert done.ret == alone.ret == 1
    assert {
        v.nodeid: (v.outcome, v.metric, v.limit, v.limit_source) for v in verdicts(site)
    } == expected
    assert len(expected) == OURS
    require_measured_once(site)
    done.stdout.fnmatch_lines(
        ["gpu001:rail0..gpu002:rail0  ib_write_lat 4 B: P99 * us, limit <= 5 us (cluster.yaml:*"]
    )
    cases = list(ElementTree.parse(site / "out.xml").iter("testcase"))
    assert len(cases) == OURS
    own = ElementTree.parse(latest(site) / "junit.xml").getroot()
    assert len(list(own.iter("testcase"))) == OURS + 1
    assert "ib_write_lat" in (latest(site) / "report.html").read_text()


@pytest.mark.parametrize(
    "options",
    [
        ("--dist=worksteal",),
        ("--dist=loadfile",),
    ],
)
def test_however_tests_are_distributed_each_is_measured_once(
    pytester: pytest.Pytester, site: Path, options: Sequence[str]
) -> None:
    """What is measured is up to the run, not to its workers."""
    done = pytester.runpytest_subprocess("-n2", *options)

    assert done.ret == 0, done.stdout.str()
    assert Counter(outcomes(site).values()) == {"passed": OURS}
    require_measured_once(site)


def test_a_crash_of_a_worker_is_one_error(pytester: pytest.Pytester, site: Path) -> None:
    """The rest is run by its replacement, and nothing is measured again."""
    pytester.makepyfile(test_suite=SUITE + CRASH)
    done = pytester.runpytest_subprocess("-n2")

    assert done.ret == 10
    done.assert_outcomes(passed=OURS + 2, errors=1)
    crashed = "test_suite.py::test_crash[gpu001:rail0]"
    found = outcomes(site)
    assert len(found) == OURS + 2
    assert [name for name, outcome in found.items() if outcome != "passed"] == [crashed]
    (verdict,) = [verdict for verdict in verdicts(site) if verdict.outcome == "error"]
    assert (verdict.message or "").startswith("gpu001:rail0: expected the test to end, found")
    assert "crashed while running" in (latest(site) / "report.html").read_text()
    require_measured_once(site)


def test_each_is_refused(pytester: pytest.Pytester, site: Path) -> None:
    """Every test would report twice."""
    done = pytester.runpytest_subprocess("-n2", "--dist=each")

    assert done.ret == 4
    assert [line for line in done.errlines if line.strip()] == [
        "ERROR: --dist=each: expected each test to run once, since each has one verdict: choose "
        "--dist=load"
    ]
    assert not (site / "fabric-runs").exists()


@pytest.mark.parametrize("options", [(), ("--fabric-cluster=cluster.yaml",)])
def test_a_wrong_inventory_is_one_line(
    pytester: pytest.Pytester, site: Path, options: Sequence[str]
) -> None:
    """As without workers: whether the file was named or found."""
    (site / "cluster.yaml").write_text(TEXT.replace("pairs:", "piars:"))
    done = pytester.runpytest_subprocess("-n2", *options)

    assert done.ret == 4
    (line,) = [line for line in done.errlines if line.strip()]
    assert line.startswith("ERROR: cluster.yaml:18: ")
    assert not (site / "fabric-runs").exists()


def test_wrong_use_is_one_line(pytester: pytest.Pytester, site: Path) -> None:
    """Told by the controller: a worker would end in an internal error."""
    slips = "\n@measure(port_facts())\ndef test_x():\n    pass\n\ndef test_y(limits):\n    pass\n"
    pytester.makepyfile(test_suite=SUITE + slips)
    done = pytester.runpytest_subprocess("-n2")

    assert done.ret == 4
    lines = [line for line in done.errlines if line.strip()]
    assert len(lines) == 2
    assert "test_x: expected a test with a measure marker" in lines[0]
    assert "test_y: expected a measure marker or one of" in lines[1]


def test_the_first_failure_ends_the_run(pytester: pytest.Pytester, site: Path) -> None:
    """A worker has its whole list from the start, and still leaves the rest of it."""
    slow = (
        "\nimport time\n\ndef test_slow(node):\n    time.sleep(0.2)\n    assert False\n"
        + "".join(
            f"\n@measure(ib_write_lat(size={2 + n}))\ndef test_{n}(result):\n"
            "    import time\n    time.sleep(0.2)\n    assert result.p99 < us(50)\n"
            for n in range(40)
        )
    )
    pytester.makepyfile(test_suite=SUITE.partition("@measure")[0] + slow)
    done = pytester.runpytest_subprocess("-n2", "-x", "--fabric-junit=out.xml")

    assert done.ret in (1, 2)
    done.stdout.fnmatch_lines(["*stopping after 1 failures*"])
    assert len(outcomes(site)) < 20
    assert len(list(ElementTree.parse(site / "out.xml").iter("testcase"))) == 2 + 2 * 40


def test_a_session_without_fabric_tests_is_left_alone(
    pytester: pytest.Pytester, site: Path
) -> None:
    """Even beside an inventory that is wrong, and where each test is to run on each worker."""
    (site / "cluster.yaml").write_text("wrong: [")
    done = pytester.runpytest_subprocess("-n2", "-k", "test_plain", "--dist=each", "-v")

    assert done.ret == 0
    done.assert_outcomes(passed=2)
    assert not (site / "fabric-runs").exists()


def test_collect_only_and_no_workers(pytester: pytest.Pytester, site: Path) -> None:
    """`-n2 --collect-only` contacts nobody; `-n0` and `-p no:xdist` run here."""
    assert pytester.runpytest_subprocess("-n2", "--collect-only").ret == 0
    assert not (site / "fabric-runs").exists()
    assert pytester.runpytest_subprocess("-n0", "-k", "test_speed").ret == 0
    assert pytester.runpytest_subprocess("-p", "no:xdist", "-k", "test_speed").ret == 0


def test_a_worker_elsewhere_asks_the_same_run(pytester: pytest.Pytester, site: Path) -> None:
    """xdist copies files to it as to another machine; it reaches no node by itself."""
    pytester.mkdir("elsewhere")
    (site / "suite").mkdir()
    for name in ("test_suite.py", "cluster.yaml", "pytest.ini", "tox.ini"):
        if (site / name).exists():
            (site / name).rename(site / "suite" / name)
    elsewhere = f"2*popen//chdir={site / 'elsewhere'}"
    done = pytester.runpytest_subprocess(
        str(site / "suite"), "--dist=load", f"--tx={elsewhere}", "--rsyncdir=suite", "-Wignore"
    )

    assert done.ret == 0, done.stdout.str() + done.stderr.str()
    assert Counter(outcomes(site).values()) == {"passed": OURS}
    require_measured_once(site)


def children(pid: int) -> set[int]:
    """Return the processes below one."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    parents = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    found, new = set[int](), {pid}
    while new:
        new = {child for child, parent in parents if parent in new} - found
        found |= new
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: object, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_controller_ends_everything(
    pytester: pytest.Pytester, site: Path, number: signal.Signals
) -> None:
    """SIGTERM leaves every report; after any signal no process is left."""
    (site / "cluster.yaml").write_text(f"{TEXT}lab: {{seed: 1, time: 1}}\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-n2", "--fabric-junit=out.xml"],
        cwd=site,
        env={**os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    started = latest(site) / "verdicts.jsonl"
    wait_until(lambda: started.exists() and started.stat().st_size, 60)
    below = children(process.pid)
    process.send_signal(number)
    process.communicate(timeout=60)

    wait_until(lambda: not any(map(is_alive, below)), 30)
    if number == signal.SIGTERM:
        assert process.returncode == pytest.ExitCode.INTERRUPTED
        assert len(list(ElementTree.parse(site / "out.xml").iter("testcase"))) == OURS
        assert {"report.html", "junit.xml"} <= {path.name for path in latest(site).iterdir()}
