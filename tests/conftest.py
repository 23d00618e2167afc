"""For every test of the project: a warning is an error, as `filterwarnings = error` has it.

It is not in pyproject.toml, since that file also counts when `pytest suites/` runs from here: a
deprecation in a library must not fail a cable.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent

# Machines are shared: how long one example takes says nothing about the code.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests below this folder."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.filterwarnings("error"))
