"""`--fabric-localise`: pairs beyond the plan tell suspects apart."""

from __future__ import annotations

import json

import pytest

from pytest_fabric.report.records import read_measurements

from .runs import at_once, bad, latest, run

PAIRS = """\
pairs:
  strategy: list
  list:
    - ["gpu001:rail0", "gpu002:rail0"]
    - ["gpu003:rail0", "gpu004:rail0"]
"""

ONE = "test_small_write_p99 and not p999"


@pytest.fixture
def listed(site: pytest.Pytester) -> pytest.Pytester:
    """Return a site in which each port is measured with one other only."""
    inventory = site.path / "cluster.yaml"
    inventory.write_text(inventory.read_text().replace("pairs: {strategy: ring}", PAIRS))
    return site


def test_pairs_beyond_the_plan_tell_which_end_it_is(listed: pytest.Pytester) -> None:
    """Few of them; they are kept, told, and no checks of the run."""
    done = run(listed, "--fabric-localise", "-k", ONE, faults=["latency_tail@gpu002:rail0"])

    assert done.ret == 1
    assert [verdict.target for verdict in bad(listed)] == ["gpu001:rail0..gpu002:rail0"]
    lines = (latest(listed) / "followup.jsonl").read_text().splitlines()
    asked = [json.loads(line) for line in lines]
    assert 1 <= len(asked) <= 4
    assert "gpu001:rail0" in asked[0]["why"]
    assert all(one["verdict"]["outcome"] in ("passed", "failed") for one in asked)
    measured = {
        record.target for record in read_measurements(latest(listed) / "measurements.jsonl")
    }
    assert {one["verdict"]["target"] for one in asked} < measured
    done.stdout.fnmatch_lines(
        [
            "2 checks: 1 passed, 1 failed",
            f"measured to tell suspects apart: {len(asked)} more pair*",
            "suspects:",
            "  1. gpu002:rail0  *",
        ]
    )


def test_without_the_option_it_says_what_would_tell(listed: pytest.Pytester) -> None:
    done = run(listed, "-k", ONE, faults=["latency_tail@gpu002:rail0"])

    assert not (latest(listed) / "followup.jsonl").exists()
    done.stdout.fnmatch_lines(["  1. *cannot be told apart: *", "     next: measure gpu00*"])


def test_a_sound_fabric_has_nothing_to_follow_up(listed: pytest.Pytester) -> None:
    done = run(listed, "--fabric-localise", "-k", ONE)

    assert done.ret == 0
    done.stdout.fnmatch_lines(["--fabric-localise: no pair would tell more, none was measured"])


def test_a_replay_measures_nothing_more(listed: pytest.Pytester) -> None:
    done = at_once(listed, "suites", "--fabric-replay=latest", "--fabric-localise")

    assert done.ret == 4
    done.stderr.fnmatch_lines(["ERROR: --fabric-replay: expected no --fabric-localise beside it*"])
