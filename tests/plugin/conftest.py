"""A folder as a user has it: the shipped suites and the lab's inventory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def site(pytester: pytest.Pytester) -> pytest.Pytester:
    """Return a pytester whose folder holds suites/ and cluster.yaml of this repository."""
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider -p no:hypothesispytest\n")
    shutil.copytree(REPOSITORY / "suites", pytester.path / "suites")
    for name in ("cluster.yaml", "cables.csv"):
        shutil.copy(REPOSITORY / name, pytester.path)
    return pytester
