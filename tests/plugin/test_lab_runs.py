"""Whole runs against the lab: green when healthy, and the right place when broken."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pytest_fabric.report.records import read_measurements
from pytest_fabric.results import Verdict

from .runs import at_once, bad, latest, run, unplanned, verdicts


def test_a_healthy_fabric_passes_every_check_and_leaves_its_record(site: pytest.Pytester) -> None:
    """Every planned check has one verdict, with value and limit; every command is on record.

    Equal measurements are made once: nine assertions about a bandwidth run are nine views of it.
    """
    done = run(site)

    assert done.ret == 0
    plan = json.loads((latest(site) / "plan.json").read_text())
    found = verdicts(site)
    assert sorted(verdict.nodeid for verdict in found) == sorted(row["nodeid"] for row in plan)
    # A subnet is InfiniBand's, no cluster file asks for a collective, and four nodes on one leaf
    # have neither eight senders nor a middle.
    # Hours of load are not asked for, and four nodes are too few to compare leaves.
    absent, unasked = ("no-incast", "no-bisection"), ("subnet", "collective", "soak")
    small = {"test_hops_explain_latency", "test_no_leaf_pair_is_odd", "test_contention_is_no_rule"}
    judged = [v for v in found if v.layer not in unasked and v.target not in absent]
    judged = [v for v in judged if v.check not in small and not _is_calm(v)]
    assert {verdict.outcome for verdict in judged} == {"passed"}
    assert {verdict.outcome for verdict in found if verdict not in judged} == {"skipped"}
    assert all(verdict.metric and verdict.limit and verdict.limit_source for verdict in judged)
    names = {path.name for path in latest(site).iterdir()}
    assert {"report.html", "junit.xml", "audit.jsonl", "measurements.jsonl", "facts"} <= names
    assert "Traceback" not in done.stdout.str() + done.stderr.str()
    keys = [(m.target, m.key) for m in read_measurements(latest(site) / "measurements.jsonl")]
    assert (
        len(keys) == len(set(keys)) == 8 * 15 + 2 * 4 + 2
    )  # each pair, each node twice, two incasts


def _is_calm(verdict: Verdict) -> bool:
    """Return whether it is of the marks of a switch at a port that was no incast's receiver."""
    is_of_marks = verdict.check == "test_switch_marks_what_congests_it"
    return is_of_marks and verdict.outcome == "skipped"


#: Three nodes are enough to tell one from the others.
THREE = "--fabric-nodes=gpu[001-003]"

#: Groups of pairs have suites of their own, whose targets are nodes and receivers.
PAIRS = "not node and not fabric"


def test_a_fault_is_named_at_its_place(site: pytest.Pytester) -> None:
    """Exit status 1, the test that must see it fails, and only the broken port is suspected."""
    done = run(site, "--fabric-fault=latency_tail@gpu002:rail1", THREE, "-m", PAIRS)

    assert done.ret == 1
    assert "test_small_write_p99" in {verdict.check for verdict in bad(site)}
    assert all("gpu002:rail1" in verdict.target for verdict in bad(site))
    text = done.stdout.str()
    ranked = re.findall(r"^  \d+\. (\S+)", text.partition("suspects:")[2], re.MULTILINE)
    assert ranked == ["gpu002:rail1"]


#: One check of each kind: facts of a port, a latency, a bandwidth with its counters.
FEW = "test_port_state or test_small_write_p99 or test_write_bandwidth or test_no_pause"


def test_foreign_traffic_on_an_allowed_node_spoils_no_verdict_on_latency(
    site: pytest.Pytester,
) -> None:
    """What the port moved beside us is told, at the port, and nothing is judged by it."""
    options = ("--fabric-fault=foreign_traffic@gpu002:rail1", "--fabric-allow-busy", THREE)
    run(site, *options, "-k", "test_small_write_p99")

    errors = bad(site, "error")
    assert errors
    assert bad(site) == []
    assert all("gpu002:rail1" in verdict.target for verdict in errors)
    assert all("foreign traffic" in (verdict.message or "") for verdict in errors)


def test_a_node_that_is_down_is_an_error_and_the_rest_goes_on(site: pytest.Pytester) -> None:
    """Nothing failed, but not everything was measured: exit status 10."""
    done = run(site, "--fabric-fault=ssh_down@gpu003", "-k", FEW)

    assert done.ret == 10
    assert bad(site) == []
    errors = bad(site, "error")
    assert errors
    assert all("gpu003" in verdict.target for verdict in errors)
    assert all("gpu003" in (verdict.message or "") for verdict in errors)
    assert [v for v in verdicts(site) if v.outcome == "passed"]


#: Each at the first node of a pair of its own, and a part of what is said of it.
TROUBLE = {
    "server_dies@gpu001:rail0": "ended",
    "tool_missing@gpu003": "install package perftest",
    "tool_garbage@gpu005": "expected",
    "tool_silent@gpu007": "expected",
    "row_then_error@gpu009:rail0": "",
    "gid_missing@gpu011:rail0": "RoCE v2 GID",
    "port_down@gpu013:rail0": "ACTIVE",
    "counter_missing@gpu015:rail0": "counter",
    "ssh_silent@gpu017": "gpu017",
}

#: A pair for each of them and one without, each way and on one rail.
APART = [
    f"gpu{client:03}:rail0..gpu{server:03}:rail0"
    for one in range(1, 20, 2)
    for client, server in ((one, one + 1), (one + 1, one))
]


def test_trouble_is_an_error_with_one_line(site: pytest.Pytester) -> None:
    """Whatever a node does, its own checks say it in one line and the others pass."""
    text = unplanned((site.path / "cluster.yaml").read_text())
    text = text.replace("gpu[001-004]:", "gpu[001-020]:", 1)
    text = text.replace("{strategy: ring}", f"{{strategy: list, list: {json.dumps(APART)}}}")
    (site.path / "cluster.yaml").write_text(text)
    done = run(site, "-k", FEW, faults=TROUBLE)

    assert done.ret == 1
    errors = bad(site, "error")
    for fault, message in TROUBLE.items():
        node = fault.partition("@")[2].partition(":")[0]
        told = [verdict.message or "" for verdict in errors if node in verdict.target]
        assert told, fault
        assert any(message in one for one in told), fault
    assert all("\n" not in (verdict.message or "") for verdict in errors)
    assert "Traceback" not in done.stdout.str()
    nodes = {fault.partition("@")[2].partition(":")[0] for fault in TROUBLE}
    others = [v for v in verdicts(site) if not any(node in v.target for node in nodes)]
    assert {verdict.outcome for verdict in others} == {"passed"}
    assert any("gpu020" in verdict.target for verdict in others)


def test_an_unknown_fault_is_refused(site: pytest.Pytester) -> None:
    """A slip in a fault's name must not test a healthy lab."""
    done = at_once(site, "suites", "--fabric-fault=latency_tial@gpu002:rail1")

    assert done.ret == 4
    done.stderr.fnmatch_lines(["ERROR: *latency_tail*"])


def test_ctrl_c_leaves_reports_and_says_what_was_not_run(site: pytest.Pytester) -> None:
    """An interrupted run is still a record: what never reported is `not run`."""
    slow = site.path / "cluster.yaml"
    slow.write_text(
        slow.read_text() + "\nlab: {time: 0.5}\n"
        if "lab:" not in slow.read_text()
        else slow.read_text().replace("time: 0.02", "time: 0.5")
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "suites", "--fabric-junit=fabric.xml"],
        cwd=site.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    record = latest(site) / "measurements.jsonl"
    _until(lambda: record.exists() and record.stat().st_size > 0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)

    assert process.returncode == 2
    assert "Traceback" not in out
    states = _states(site.path / "fabric.xml")
    assert states["passed"] > 0
    assert states["error"] > 0
    assert sum(states.values()) == len(json.loads((latest(site) / "plan.json").read_text()))
    assert (latest(site) / "report.html").exists()
    assert not _alive("pytest_fabric.lab", site.path)


def _until(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _alive(word: str, folder: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().decode(errors="replace")
        except OSError:  # it has just ended
            continue
        if word in line and str(folder) in line and str(os.getpid()) not in path.parts:
            found.append(line)
    return found


def _states(path: Path) -> dict[str, int]:
    states = {"passed": 0, "failed": 0, "error": 0, "skipped": 0}
    for case in ElementTree.parse(path).iter("testcase"):
        tags = {child.tag for child in case}
        state = next((s for s in ("failure", "error", "skipped") if s in tags), "passed")
        states["failed" if state == "failure" else state] += 1
    return states


def test_junit_has_values_as_properties(site: pytest.Pytester) -> None:
    """CI systems plot what they find there."""
    run(site, "-k", "test_small_write_p99", "--junitxml=out.xml")

    case = next(ElementTree.parse(site.path / "out.xml").iter("testcase"))
    found = {p.get("name"): float(p.get("value") or "nan") for p in case.iter("property")}
    assert 0 < found["fabric.ib_write_lat.4.p99_s"] < 5e-6


def test_a_test_that_judges_nothing_is_an_error(site: pytest.Pytester) -> None:
    """It would pass whatever was measured."""
    site.makepyfile(
        test_idle="from pytest_fabric import measure, port_facts\n\n"
        "@measure(port_facts())\ndef test_idle(result):\n    assert True\n"
    )
    done = site.runpytest_subprocess("test_idle.py")

    assert done.ret == 10
    done.stdout.fnmatch_lines(["*expected the test to compare a value of its result with a limit*"])


def test_free_form_fixtures(site: pytest.Pytester) -> None:
    """A pair measures on the spot, a node has a shell, a port and a node have facts."""
    site.makepyfile(
        test_free="""
from pytest_fabric import ib_read_lat, us

def test_pair(pair, cluster):
    assert cluster.name
    assert pair.measure(ib_read_lat(size=4096)).p99 < us(20)

def test_shell(ssh, node):
    assert ssh.check_output("uname -r")
    assert ssh.run("no-such-tool %s", "a b").status == 127

def test_device(rdma_device, limits):
    assert rdma_device.speed in limits["link.speed"]

def test_facts(facts):
    assert facts.perftest
"""
    )
    done = site.runpytest_subprocess("test_free.py")

    done.assert_outcomes(passed=8 + 4 + 8 + 4)


def test_too_little_coverage_is_no_pass(site: pytest.Pytester) -> None:
    """A gate that looked at half of the ports has not looked."""
    inventory = site.path / "cluster.yaml"
    inventory.write_text(inventory.read_text() + "\nmin_coverage: 98%\n")
    done = run(site, "--fabric-nodes=gpu[001-002]", "-k", "test_link_speed")

    assert done.ret == 10
    done.stdout.fnmatch_lines(["coverage is below min_coverage 98%"])


INFINIBAND = """\
name: ndr
transport: lab
nodes:
  ib[1-2]: {profile: ndr}
rails:
  rail0: {pci: "0000:1a:00.0"}
profiles:
  ndr: {extends: builtin/cx7-400g-ndr, firmware: {MT_0000000838: "28.39.1002"}}
pairs: {strategy: ring}
"""


def test_infiniband_passes_and_skips_what_is_ethernets(site: pytest.Pytester) -> None:
    """Pause, class and IP addresses do not apply; everything else is measured and judged."""
    (site.path / "cluster.yaml").write_text(INFINIBAND)
    done = run(site)

    assert done.ret == 0, done.stdout.str()
    others = ("qos", "switch", "node", "fabric", "tcp", "collective", "soak")
    assert all(v.outcome == "skipped" for v in verdicts(site) if v.layer in others)
    skipped = {verdict.check for verdict in bad(site, "skipped") if verdict.layer not in others}
    unplanned = {"test_cable_is_where_the_plan_says", "test_no_cables_are_swapped"}
    unplanned.add("test_no_pcie_bridge_redirects")  # no rail declares a GPU
    pings = {"test_ping", "test_ping_round_trip", "test_ping_full_size"}
    of_path = {*pings, "test_rdma_mtu_fits_the_path"}
    assert skipped == {"test_no_pause", "test_traffic_class", *unplanned, *of_path}
    measured = read_measurements(latest(site) / "measurements.jsonl")
    assert all("-S 0" in m.commands["client"] for m in measured)
    assert not any(" -x " in m.commands["client"] for m in measured)


def test_other_failures_are_not_hidden_by_our_exit_status(site: pytest.Pytester) -> None:
    """10 says that nothing failed: a plain test that fails beside ours makes it 1."""
    site.makepyfile(test_plain="def test_plain():\n    assert False\n")
    done = site.runpytest_subprocess(
        "suites",
        "test_plain.py",
        "-k",
        "test_link_speed or plain",
        "--fabric-fault=ssh_down@gpu001",
    )

    assert done.ret == 1


def test_nothing_but_skips_is_no_pass(site: pytest.Pytester) -> None:
    """A run whose profile leaves out all that it was asked for has shown nothing."""
    inventory = site.path / "cluster.yaml"
    inventory.write_text(
        inventory.read_text().replace(
            "    limits:", "    not_available: {link.speed: unknown}\n    limits:", 1
        )
    )
    done = run(site, "-k", "test_link_speed")

    assert done.ret == 10


def test_free_form_tests_that_read_nothing_are_errors(site: pytest.Pytester) -> None:
    """Asking for a pair and leaving it alone would pass on any fabric."""
    site.makepyfile(test_idle="def test_idle(pair):\n    pass\n")
    done = site.runpytest_subprocess("test_idle.py")

    assert done.ret == 10
    done.assert_outcomes(errors=8)


def test_a_port_and_a_shell_on_its_node_go_together(site: pytest.Pytester) -> None:
    """`node` and `ssh` are those of the port under test."""
    site.makepyfile(
        test_both="""
from pytest_fabric import measure, port_facts

def test_both(rdma_device, ssh, node):
    assert rdma_device.state == "ACTIVE"
    assert ssh.check_output("hostname") == node

@measure(port_facts())
def test_declared(result, ssh):
    assert result.state == "ACTIVE"
"""
    )
    done = site.runpytest_subprocess("test_both.py")

    done.assert_outcomes(passed=16)


def test_an_unwritable_junit_file_is_told_before_anything_is_measured(
    site: pytest.Pytester,
) -> None:
    """Not after hours."""
    done = at_once(site, "suites", "--fabric-junit=suites")

    assert done.ret == 4
    done.stderr.fnmatch_lines(["ERROR: --fabric-junit: cannot write there: *"])


def test_an_explicit_html_report_has_our_columns(site: pytest.Pytester) -> None:
    """pytest-html writes its header before anybody knows that fabric tests are there."""
    done = run(site, "-k", "test_link_speed", "--html=own.html", "--self-contained-html")

    assert done.ret == 0, done.stderr.str()
    page = (site.path / "own.html").read_text()
    assert 'data-column-type="limit"' in page.replace("&#34;", '"').replace("&quot;", '"')
    assert not (latest(site) / "report.html").exists()


def test_reports_whose_plugin_is_off_are_left_out(site: pytest.Pytester) -> None:
    """A user may not want them."""
    done = run(site, "-k", "test_link_speed", "-p", "no:junitxml", "-p", "no:html")

    assert done.ret == 0, done.stderr.str()


def test_tests_that_were_not_called_have_not_passed(site: pytest.Pytester) -> None:
    """--setup-only runs fixtures and no test: that is no verdict on a broken link."""
    broken = "--fabric-fault=link_speed@gpu001:rail0"
    done = run(site, "-k", "test_link_speed", "--setup-only", broken)

    assert done.ret == 10
    assert {verdict.outcome for verdict in verdicts(site)} == {"not run"}


FULL = """
import resource

def pytest_runtest_protocol(item):
    return True if "gpu001" in item.nodeid and {hide} else None

def pytest_runtest_teardown():
    if {full}:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
"""


def test_a_check_that_another_plugin_took_away_has_not_passed(site: pytest.Pytester) -> None:
    """Everything else passed: that is no pass of what was not run."""
    site.makeconftest(FULL.format(hide=True, full=False))
    done = run(site, "-k", "test_link_speed", "--fabric-no-reports")

    assert done.ret == 10
    assert {one.target for one in verdicts(site)} == {
        f"gpu00{n}:rail{rail}" for n in (2, 3, 4) for rail in (0, 1)
    }


def test_a_full_disk_is_told_in_a_line_and_is_no_pass(site: pytest.Pytester) -> None:
    """Neither the record nor a report ends in a traceback."""
    site.makeconftest(FULL.format(hide=False, full=True))
    done = run(site, "-k", "test_link_speed", "--fabric-junit=wanted.xml")

    assert done.ret == 10
    done.stdout.no_fnmatch_line("*INTERNALERROR*")
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.fnmatch_lines(
        ["* fabric *", "reports: cannot write: File too large", "* checks: *"]
    )


SLIPS = {
    "forgotten_assert": "result.p99 < us(0.001)",
    "or_true": "assert result.p99 < us(0.001) or True",
    "list_or_true": "assert result.p99 in limits['ib_write_lat.p99'] or True",
    "with_itself": "assert result.p99 == result.p99",
    "between_values": "assert result.p99 >= result.median",
    "unequal": "assert result.p99 != us(5)",
    "infinite": "assert result.p99 < us(float('inf'))",
    "truth": "assert result.p99",
    "bug": "assert result.p99 < us(5) and undefined",
    "wrong_limit": "assert result.p99 in limits['ib_read_lat.p99']",
}


def test_slips_of_a_test_are_errors_and_never_verdicts(site: pytest.Pytester) -> None:
    """A test that cannot fail, or fails for a reason of its own, says nothing about the fabric."""
    tests = "\n".join(
        f"@measure(ib_write_lat(size=4))\ndef test_{name}(result, limits):\n    {body}\n"
        for name, body in SLIPS.items()
    )
    inventory = site.path / "cluster.yaml"
    both = 'ib_write_lat.p99: ["<= 0.1 us", "<= 5 us"]'
    inventory.write_text(inventory.read_text().replace('ib_write_lat.p99: "<= 5 us"', both))
    site.makepyfile(test_slips="from pytest_fabric import ib_write_lat, measure, us\n\n" + tests)
    done = site.runpytest_subprocess("test_slips.py", "-k", "gpu001:rail0..gpu002:rail0")

    assert done.ret == 10
    assert {v.check: v.outcome for v in verdicts(site)} == {f"test_{n}": "error" for n in SLIPS}
    assert all("\n" not in (verdict.message or "") for verdict in verdicts(site))


def test_a_pair_that_hung_is_not_tried_again(site: pytest.Pytester) -> None:
    """Each hang costs half a minute; seven of them on one pair would cost the night."""
    done = run(
        site,
        "--fabric-fault=tool_hangs@gpu002:rail0",
        "--fabric-nodes=gpu[001-002]",
        "-k",
        "rail0 and (small_write_median or write_bandwidth)",
    )

    assert done.ret == 10
    assert sum("on this pair hung before" in (v.message or "") for v in verdicts(site)) == 2
