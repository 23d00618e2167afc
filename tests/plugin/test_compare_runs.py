"""Runs of the lab before and after a change, as the command compares them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.inside import call
from tests.clusters import TEXT

from .runs import latest

SUITE = """
from pytest_fabric import ib_write_lat, measure

@measure(ib_write_lat(size=4))
def test_p99(result, limits):
    assert result.p99 in limits["ib_write_lat.p99"]
"""

CLUSTER = TEXT.replace("gpu[001-002]", "gpu[001-004]").replace("<= 5 us", "<= 1 ms")
CLUSTER += "workload: {gpus: 32, gradients: 500 MB, compute: 100 ms}\n"


def run(site: pytest.Pytester, seed: int, *options: str) -> Path:
    """Return the directory of a run: another seed is another day."""
    (site.path / "cluster.yaml").write_text(f"{CLUSTER}lab: {{seed: {seed}}}\n")
    # One at a time: otherwise it is up to the machine who is alone.
    words = ("-p", "no:html", "-p", "no:metadata", "--fabric-jobs=1", "test_lat.py")
    done = site.runpytest_subprocess(*words, *options)
    assert done.ret == 0, done.stdout.str()
    done.stdout.fnmatch_lines(["training (a model): not modelled, since no ib_write_bw.average*"])
    if options:
        done.stdout.fnmatch_lines(
            [
                "compared with baseline (2 runs): 12 values: 4 worse, 0 better, 8 same",
                "  worse: 2 x *",
            ]
        )
    return latest(site).resolve()


def test_firmware_that_makes_a_port_slow_is_found_beside_its_numbers(
    pytester: pytest.Pytester,
) -> None:
    """The story names the port, its firmware, what its pairs do, and that the others are as before.

    In one order it is worse, in the other it is better; a run with itself is refused.
    """
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider -p no:hypothesispytest\n")
    pytester.makepyfile(test_lat=SUITE)
    place = "gpu003:rail0"
    faults = [f"--fabric-fault={name}@{place}" for name in ("firmware_minority", "latency_tail")]
    before = [str(run(pytester, seed)) for seed in (1, 2)]
    after = [str(run(pytester, seed, *faults, "--fabric-baseline", *before)) for seed in (3, 4)]

    worse = call(["compare", *before, "--", *after, "--html", "page.html"], pytester.path)
    assert worse.returncode == 1, worse.stderr
    text = worse.stdout
    assert f"firmware 28.39.1002 -> 28.36.1010 on {place}" in text
    (theirs,) = (line for line in text.splitlines() if "its pairs: " in line)
    assert "ib_write_lat 4 B P99, alone" in theirs
    assert "slower" in theirs
    assert theirs.endswith(", 1 same")
    assert "    other pairs: same" in text
    assert f"{place}  (changed there: firmware)" in text
    assert "<h2>Facts that changed</h2>" in (pytester.path / "page.html").read_text()

    better = call(["compare", *after, "--", *before, "--json"], pytester.path)
    assert better.returncode == 0
    assert json.loads(better.stdout)["verdict"] == "better"

    for words, message in (
        ([*before, *after], "expected BEFORE... -- AFTER..., found 0 `--`"),
        ([*before, "--"], "expected a run after `--`, found none"),
        ([*before, "--", "nowhere"], "expected the directory of a run at nowhere"),
        ([*before, "--", before[0]], "expected runs that were measured apart"),
    ):
        refused = call(["compare", *words], pytester.path)
        assert refused.returncode == 4
        assert message in refused.stderr
        assert refused.stderr.count("\n") == 1
