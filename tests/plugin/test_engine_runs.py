"""What the engine promises, seen in the record of whole runs against the lab."""

from __future__ import annotations

import itertools
import json
import subprocess
import time

import pytest

from pytest_fabric.metrics import LATENCY_TOOLS
from pytest_fabric.report.records import read_measurements, read_verdicts
from pytest_fabric.results import Measurement

from .runs import at_once, bad, latest, run, unplanned


def measurements(site: pytest.Pytester) -> list[Measurement]:
    return read_measurements(latest(site) / "measurements.jsonl")


def edit(site: pytest.Pytester, old: str, new: str) -> None:
    path = site.path / "cluster.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def together(one: Measurement, other: Measurement) -> bool:
    """Return whether two ran at the same time, for more than a clock may be off."""
    begin = max(one.started, other.started)
    end = min(one.started + one.duration, other.started + other.duration)
    return end - begin > 0.02


def test_measurements_run_side_by_side_and_never_share_a_port(site: pytest.Pytester) -> None:
    """No port twice at a time, no bandwidth beside latency, and the record names the company."""
    done = run(site, "-k", "test_small_write_p99 or test_write_bandwidth", "--fabric-pairs=all")

    assert done.ret == 0
    found = measurements(site)
    assert len(found) == 2 * 24
    both = [pair for pair in itertools.combinations(found, 2) if together(*pair)]
    assert both
    for one, other in both:
        assert not set(one.target.split("..")) & set(other.target.split(".."))
        assert (one.tool in LATENCY_TOOLS) is (other.tool in LATENCY_TOOLS)
        assert f"{other.tool} {other.target}" in one.beside
        assert min(one.company, other.company) > 0
    assert all(len(m.beside) == m.company for m in found)


def test_what_only_load_breaks_passes_and_is_told_as_contention(site: pytest.Pytester) -> None:
    """Two cards of a node share a slot: slow at the same time, sound one by one."""
    done = run(site, "-k", "test_write_bandwidth", "--fabric-fault=shared_slot@gpu002")

    assert done.ret == 0
    contended = [v for v in bad(site, "passed") if v.contention]
    assert contended
    assert all("gpu002" in verdict.target for verdict in contended)
    assert all("Gb/s under load" in (v.contention or "") for v in contended)
    assert "all with gpu002" in done.stdout.str()
    found = measurements(site)
    alone = [m for m in found if m.alone]
    assert {m.target for m in alone} == {verdict.target for verdict in contended}
    first = {m.target: m for m in found if not m.alone}
    for again in alone:
        assert again.bandwidth is not None
        slow = first[again.target].bandwidth
        assert slow is not None
        assert again.bandwidth.average_bps > slow.average_bps  # they may have met for a part of it
        assert not [
            m
            for m in found
            if m is not again and together(m, again) and set(_nodes(m)) & set(_nodes(again))
        ]


def _nodes(measurement: Measurement) -> list[str]:
    return [end.partition(":")[0] for end in measurement.target.split("..")]


def test_what_is_broken_alone_fails_with_all_values(site: pytest.Pytester) -> None:
    """`confirm: 2` measures a miss twice alone, and shows what came out each time."""
    edit(site, "pairs: {strategy: ring}", "pairs: {strategy: ring}\nconfirm: 2")
    done = run(site, "-k", "test_small_write_p99", "--fabric-fault=latency_tail@gpu002:rail1")

    assert done.ret == 1
    failed = bad(site, "failed")
    assert {v.target for v in failed} == {
        "gpu001:rail1..gpu002:rail1",
        "gpu002:rail1..gpu003:rail1",
    }
    for verdict in failed:
        assert verdict.contention is None
        line = next(row for row in (verdict.message or "").splitlines() if "under load" in row)
        assert line.count(" us") == 3
        assert line.endswith("alone")
    assert len([m for m in measurements(site) if m.alone]) == 4


def test_a_limit_that_stands_in_a_test_is_confirmed_too(site: pytest.Pytester) -> None:
    """The engine does not know it beforehand, so it measures alone when the test misses."""
    site.makepyfile(
        test_own="""
from pytest_fabric import gbps, ib_write_bw, measure

@measure(ib_write_bw())
def test_own(result):
    assert result.average > gbps(380)
"""
    )
    edit(site, ">= 97% of payload rate", ">= 10% of payload rate")
    edit(site, ">= 92% of line rate", ">= 10% of line rate")
    done = site.runpytest_subprocess("test_own.py", "--fabric-fault=shared_slot@gpu002")

    assert done.ret == 0
    assert [v for v in bad(site, "passed") if v.contention]


def test_isolate_leaves_a_measurement_alone_in_the_fabric(site: pytest.Pytester) -> None:
    """And then a miss is a miss: nothing was beside it."""
    site.makepyfile(
        test_own="""
from pytest_fabric import ib_write_lat, measure, us

@measure(ib_write_lat(size=4, isolate="fabric"))
def test_own(result):
    assert result.p99 < us(5)
"""
    )
    done = site.runpytest_subprocess("test_own.py", "--fabric-fault=latency_tail@gpu002:rail1")

    assert done.ret == 1
    found = measurements(site)
    assert len(found) == 8
    assert all(m.company == 0 and m.alone for m in found)
    assert not [pair for pair in itertools.combinations(found, 2) if together(*pair)]


def test_x_stops_measuring(site: pytest.Pytester) -> None:
    """What comes after the first failure is not measured any more."""
    options = ("--fabric-fault=latency_tail@gpu001:rail0", "-x", "--fabric-pairs=all")
    done = run(site, *options, "-m", "pair", "-k", "p99 or bandwidth")

    assert done.ret == 1
    assert len(bad(site, "failed")) == 1
    assert not [m for m in measurements(site) if m.tool == "ib_send_bw" and m.error is None]
    plan = json.loads((latest(site) / "plan.json").read_text())
    assert len(plan) == 24 * 16
    assert "not run" in done.stdout.str()


def test_light_load_measures_latency_only(site: pytest.Pytester) -> None:
    """What is left out is skipped with the reason, and counted."""
    options = ("-k", "test_small_write_p99 or test_write_bandwidth", "--fabric-load=light")
    done = run(site, *options)

    assert done.ret == 0
    assert {m.tool for m in measurements(site)} == {"ib_write_lat"}
    skipped = bad(site, "skipped")
    assert len(skipped) == 8
    assert {v.message for v in skipped} == {"ib_write_bw is full load, this run may only be light"}
    assert "skipped: 8 x ib_write_bw is full load" in done.stdout.str()


def test_disruptive_load_needs_a_dedicated_fabric(site: pytest.Pytester) -> None:
    """A permutation loads everything at once: that is said in one line before anything happens."""
    edit(site, "dedicated: true", "dedicated: false")
    refused = at_once(site, "suites", "--fabric-pairs=permutation")

    assert refused.ret == 4
    text = refused.stderr.str()
    assert "permutation" in text
    assert "Traceback" not in text
    assert not (site.path / "fabric-runs").exists()


def two_leaves(site: pytest.Pytester) -> None:
    """Put two nodes on each of two leaves, one rail each."""
    rail = 'rails: {rail0: {pci: "0000:1a:00.0", network: 10.1.0.0/16, leaf: leaf-%d}}'
    head, rest = unplanned((site.path / "cluster.yaml").read_text()).split("nodes:\n", 1)
    profiles = rest[rest.index("profiles:") :]
    nodes = "\n".join(
        f"  gpu[00{first}-00{first + 1}]: {{profile: cx7, {rail % leaf}}}"
        for leaf, first in enumerate((1, 3))
    )
    (site.path / "cluster.yaml").write_text(f"{head}nodes:\n{nodes}\n{profiles}")


def test_a_permutation_loads_all_ports_at_once(site: pytest.Pytester) -> None:
    """On a dedicated fabric: leaf to leaf, everybody at the same time, then the way back."""
    two_leaves(site)
    done = run(
        site, "--fabric-pairs=permutation", "--fabric-load=disruptive", "-k", "test_write_bandwidth"
    )

    assert done.ret == 0
    found = measurements(site)
    assert len(found) == 4
    assert len([pair for pair in itertools.combinations(found, 2) if together(*pair)]) >= 2
    assert min(m.company for m in found) >= 1


def test_a_pause_storm_ends_a_disruptive_phase(site: pytest.Pytester) -> None:
    """While it lasts: what runs is ended, what has not started is not started."""
    two_leaves(site)
    edit(site, "time: 0.02", "time: 0.8")
    done = run(
        site,
        "--fabric-pairs=permutation",
        "--fabric-load=disruptive",
        "--fabric-fault=pause_storm@gpu003:rail0",
        "-k",
        "test_write_bandwidth or test_send_bandwidth",
    )

    assert done.ret == 10
    errors = bad(site, "error")
    assert any(
        "ended, since a pause storm shows: gpu003:rail0" in (v.message or "") for v in errors
    )
    assert any("not tried, since" in (v.message or "") for v in errors)
    assert len(measurements(site)) <= 4
    assert all(m.duration < 4 for m in measurements(site) if m.error is not None)


def test_time_that_is_over_ends_the_run(site: pytest.Pytester) -> None:
    """What was not measured by then is an error that says so, and every report is written."""
    edit(site, "time: 0.02", "time: 0.2")
    started = time.monotonic()
    done = run(site, "--fabric-timeout=4s", "-m", "pair")

    assert time.monotonic() - started < 90
    assert done.ret == 10
    errors = bad(site, "error")
    assert any("--fabric-timeout: 4 s are over" in (v.message or "") for v in errors)
    assert bad(site, "failed") == []
    assert (latest(site) / "report.html").exists()
    plan = json.loads((latest(site) / "plan.json").read_text())
    assert len(plan) == len(read_verdicts(latest(site) / "verdicts.jsonl"))


@pytest.mark.parametrize("time_", ["0", "5x", "-3s", "soon", "99999999999d"])
def test_a_time_that_is_none_is_refused(site: pytest.Pytester, time_: str) -> None:
    """One line, exit status 4, nothing contacted."""
    done = at_once(site, "suites", f"--fabric-timeout={time_}")

    assert done.ret == 4
    assert "--fabric-timeout: expected a time" in done.stderr.str()
    assert not (site.path / "fabric-runs").exists()


def test_a_node_that_is_lost_takes_only_its_own_tests_with_it(site: pytest.Pytester) -> None:
    """Lost in the middle of the run: its checks are errors at once, the others pass."""
    done = run(site, "--fabric-fault=ssh_dropped@gpu002", "-m", "pair", "-k", "p99 or bandwidth")

    assert done.ret == 10
    errors = bad(site, "error")
    assert errors
    assert all("gpu002" in verdict.target for verdict in errors)
    assert all("lost" in (verdict.message or "") for verdict in errors)
    others = [v for v in bad(site, "passed") if "gpu002" not in v.target]
    assert len(others) == 4 * 16


def test_a_plan_is_printed_and_nobody_is_contacted(site: pytest.Pytester) -> None:
    """No run directory, no lab, exit status 0; workers make no difference."""
    for options in ((), ("-n2",)):
        done = run(site, "--fabric-plan", *options)
        assert done.ret == 0
        text = done.stdout.str()
        assert " measurements; strategy ring" in text
        assert "8 of 8 in a pair" in text
        assert "ib_write_lat -d DEVICE" in text
        assert "latency " in text
        assert "bandwidth " in text
        assert not (site.path / "fabric-runs").exists()


ONE = """
from pytest_fabric import ib_write_lat, measure

@measure(ib_write_lat(size=4))
def test_one(result, limits):
    assert result.p99 in limits["ib_write_lat.p99"]
"""


def test_a_large_full_mesh_has_to_be_confirmed(site: pytest.Pytester) -> None:
    """65 nodes and two rails are 8,320 pairs: --yes, or look at the plan first.

    One test of them is enough: all the suites would be half a million.
    """
    edit(site, "gpu[001-004]:", "gpu[001-065]:")
    site.makepyfile(test_one=ONE)
    refused = at_once(site, "test_one.py", "--fabric-pairs=all")
    assert refused.ret == 4
    assert "expected --yes" in refused.stderr.str()
    assert "8,320 pairs" in refused.stderr.str()

    planned = at_once(site, "test_one.py", "--fabric-pairs=all", "--fabric-plan")
    assert planned.ret == 0
    assert not (site.path / "fabric-runs").exists()


def test_collect_only_contacts_nobody(site: pytest.Pytester) -> None:
    """Whatever else is asked."""
    done = at_once(site, "suites", "--collect-only", "-q")

    assert done.ret == 0
    assert not (site.path / "fabric-runs").exists()
    assert not subprocess.run(
        ["pgrep", "-f", f"pytest_fabric.lab {site.path}"], capture_output=True, check=False
    ).stdout
