"""A run directory with passes, failures and skips, made once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FEW = "test_port_state or test_cpu_governor or (test_small_write_p99 and not p999)"


@pytest.fixture(scope="session")
def run_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a run of two nodes of the lab, one with a slow port."""
    out = tmp_path_factory.mktemp("runs")
    words = [
        *("-q", "suites", "-k", FEW, "-p", "no:cacheprovider"),
        *("--fabric-nodes", "gpu[001-002]", "--fabric-out", str(out)),
        *("--fabric-fault", "latency_tail@gpu002:rail0"),
        *("--fabric-junit", str(out / "junit.xml"), "--fabric-junit-group", "layer"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GITHUB_STEP_SUMMARY": str(out / "summary.md")},
    )
    assert done.returncode == 1, done.stdout
    return (out / "latest").resolve()
