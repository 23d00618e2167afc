"""Runs of the shipped suites against the lab with faults, and what failed where."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

# A run within this process drops what it imports: what is here before stays, and takes no time.
import pytest_fabric.activate
import pytest_fabric.active
import pytest_fabric.parametrize  # noqa: F401
from pytest_fabric.report.records import read_verdicts
from pytest_fabric.results import Verdict


def run(
    site: pytest.Pytester,
    *options: str,
    suites: Iterable[str] = ("suites",),
    faults: Iterable[str] = (),
) -> pytest.RunResult:
    """Run suites with faults, each `name@place`."""
    injected = (f"--fabric-fault={fault}" for fault in faults)
    return site.runpytest_subprocess(*suites, *injected, *options)


def at_once(site: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Run pytest within this process: for what ends before anything is measured."""
    return site.runpytest_inprocess(*words)


def unplanned(text: str) -> str:
    """Return a cluster file without the plan of the cables, and the switches that it names."""
    without = re.sub(r"^switches:\n(?:  .*\n)+", "", text, flags=re.M)
    return without.replace("cables: cables.csv", "#")


def latest(site: pytest.Pytester) -> Path:
    """Return the folder of the last run."""
    return site.path / "fabric-runs" / "latest"


def verdicts(site: pytest.Pytester) -> list[Verdict]:
    """Return every verdict of the last run."""
    return read_verdicts(latest(site) / "verdicts.jsonl")


def bad(site: pytest.Pytester, outcome: str = "failed") -> list[Verdict]:
    """Return the verdicts of the last run with an outcome."""
    return [verdict for verdict in verdicts(site) if verdict.outcome == outcome]


def told(site: pytest.Pytester, outcome: str) -> dict[tuple[str, str], str]:
    """Return the message of every verdict with an outcome, by check and target."""
    return {(one.check, one.target): one.message or "" for one in bad(site, outcome)}


def ended(site: pytest.Pytester) -> dict[tuple[str, str], str]:
    """Return how every verdict ended that did not pass, by check and target."""
    return {
        (one.check, one.target): one.outcome for one in verdicts(site) if one.outcome != "passed"
    }
