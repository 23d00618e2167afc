"""Limits that compare with peers and with a baseline: in one process, in workers, in a replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clusters import TEXT

from .runs import at_once, latest, told, verdicts

SUITE = """
from pytest_fabric import ib_write_lat, measure

@measure(ib_write_lat(size=4))
def test_p99(result, limits):
    assert result.p99 in limits["ib_write_lat.p99"]

@measure(ib_write_lat(size=4))
def test_median(result, limits):
    assert result.median in limits["ib_write_lat.median"]
"""

#: Far from what any fault does: only others can tell what is much.
CLUSTER = (
    TEXT.replace("gpu[001-002]", "gpu[001-006]")
    .replace('"<= 5 us"', '["<= 1 ms", "within 60% of peers"]')
    .replace("1.5 us .. 3 us", '["<= 1 ms", "<= 1.10 x baseline"]')
)

#: The pairs that gpu003 is in, and no others.
BAD = {"gpu002:rail0..gpu003:rail0", "gpu003:rail0..gpu004:rail0"}


def run(site: pytest.Pytester, *options: str) -> pytest.RunResult:
    words = ("-p", "no:html", "-p", "no:metadata")
    return site.runpytest_subprocess("test_lat.py", *words, *options)


@pytest.fixture
def small(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider -p no:hypothesispytest\n")
    pytester.makepyfile(test_lat=SUITE)
    (pytester.path / "cluster.yaml").write_text(CLUSTER)
    return pytester


def test_peers_and_a_baseline_judge_wherever_a_test_runs(small: pytest.Pytester) -> None:
    """The first run has no baseline yet; the next one is held against it."""
    first = run(small, "--fabric-no-baseline")

    assert first.ret == 0, first.stdout.str()
    first.stdout.fnmatch_lines(
        ["--fabric-no-baseline: 1 clause of limits left out: ib_write_lat.median (cluster.yaml:14)"]
    )
    before = latest(small).resolve()
    fault = "--fabric-fault=latency_tail@gpu003:rail0"
    late = {("test_p99", target) for target in BAD}
    done = run(small, fault, "-n2", "--fabric-baseline", str(before))

    assert done.ret == 1, done.stdout.str()
    failed = told(small, "failed")
    assert set(failed) == late
    assert all("(within 60% of peers) (cluster.yaml:13" in text for text in failed.values())
    assert all("of 5 peers (unknown leaves, prof" in text for text in failed.values())
    assert {v.outcome for v in verdicts(small)} == {"failed", "passed"}

    small.path.joinpath("cluster.yaml").write_text(CLUSTER.replace("1.10 x", "0.5 x"))
    done = run(small, "--fabric-replay=latest", "--fabric-baseline", str(before))

    assert done.ret == 1
    failed, errors = told(small, "failed"), told(small, "error")
    assert late | {("test_median", target) for target in BAD} <= set(failed)
    # Those that missed under load now, and were never measured alone, have no verdict.
    assert all("it was not confirmed" in text for text in errors.values())
    assert len({*failed, *errors}) == 2 + 6
    done.stdout.fnmatch_lines(["*limit <= * ns (<= 0.5 x baseline) (cluster.yaml:14*"])


RATE = """
from pytest_fabric import ib_write_bw, measure

@measure(ib_write_bw())
def test_a_rate(result, limits):
    assert result.average in limits["ib_write_bw.average"]
"""


def test_a_miss_of_peers_only_is_confirmed_in_its_phase(small: pytest.Pytester) -> None:
    """Before any bandwidth is measured, although the tests of that come first."""
    (small.path / "test_lat.py").write_text(RATE + SUITE)
    fault = "--fabric-fault=latency_tail@gpu003:rail0"
    done = run(small, fault, "--fabric-no-baseline", "-k", "test_p99 or test_a_rate")

    assert done.ret == 1, done.stdout.str()
    lines = (latest(small) / "measurements.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    missed = {one["target"] for one in records if one["company"] and "lat" in one["tool"]} & BAD
    again = [one for one in records if one["alone"]]
    assert {one["target"] for one in again} == missed
    rates = [one["started"] for one in records if one["tool"] == "ib_write_bw"]
    assert all(one["started"] < min(rates) for one in again)
    assert "gpu003:rail0..gpu004:rail0" in missed  # of the first round, which starts at once


def test_what_there_is_to_compare_with_is_missing(small: pytest.Pytester, tmp_path: Path) -> None:
    """No baseline, and too few peers: errors that say so, and no verdict."""
    done = run(small, "--fabric-nodes=gpu[001-003]")

    assert done.ret == 10
    errors = told(small, "error")
    assert len(errors) == 6
    assert all(
        "expected at least 5 peers, found 2" in text
        if check == "test_p99"
        else "expected --fabric-baseline RUN" in text
        for (check, _), text in errors.items()
    )
    for options in (
        ("--fabric-baseline", str(tmp_path)),
        ("--fabric-baseline", "latest", "--fabric-no-baseline"),
    ):
        done = at_once(small, "test_lat.py", *options)

        assert done.ret == 4
        done.stderr.fnmatch_lines(["ERROR: --fabric-*baseline: expected *"])
