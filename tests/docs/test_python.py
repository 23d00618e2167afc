"""Suites in the documentation collect, and those that are said to run hold on a healthy lab."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.samples import REPOSITORY, Sample, every

SAMPLES = every("python")
SUITES = [one for one in SAMPLES if not one.said & {"module", "conftest"}]


def name_of(sample: Sample) -> str:
    return f"test_{re.sub(r'[^a-z0-9]+', '_', str(sample).lower())}.py"


def lines(folder: Path, *options: str) -> tuple[int, list[str]]:
    """Return how pytest ended on the samples in a folder, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the lab's inventory and every sample that is a suite, in a file each."""
    made: Path = tmp_path_factory.mktemp("samples")
    for name in ("cluster.yaml", "cables.csv"):
        shutil.copy(REPOSITORY / name, made)
    for sample in SUITES:
        (made / name_of(sample)).write_text(sample.text)
    for sample in (one for one in SAMPLES if "conftest" in one.said):
        (made / "conftest.py").write_text(sample.text)
    return made


def test_every_suite_collects(folder: Path) -> None:
    """At least one item of each, and no error."""
    status, printed = lines(folder, "--collect-only", "-q")

    assert status == 0, printed[-20:]
    assert SUITES
    for sample in SUITES:
        assert [line for line in printed if line.startswith(f"{name_of(sample)}::")], str(sample)


def test_what_is_said_to_run_runs(folder: Path) -> None:
    """On two nodes, and with its own fault the test that says so fails."""
    files = [name_of(one) for one in SUITES if "run" in one.said]
    few = ("--fabric-nodes=gpu[001-002]", "--fabric-no-reports", "--fabric-fault=old_kernel@gpu002")
    status, printed = lines(folder, "-q", *few, *files)

    assert files
    assert status == 1, printed[-20:]
    assert [line.split()[1] for line in printed if line.startswith("FAILED")] == [
        f"{files[0]}::test_kernel[gpu002]"
    ]


@pytest.mark.parametrize("sample", [one for one in SAMPLES if "module" in one.said], ids=str)
def test_a_module_is_right(sample: Sample, tmp_path: Path) -> None:
    """Its own assertions hold."""
    path = tmp_path / "sample.py"
    path.write_text(sample.text)

    assert "assert " in sample.text
    runpy.run_path(str(path))
