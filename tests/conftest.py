"""For every test of the project: a warning is an error, as `filterwarnings = error` has it.

It is not in pyproject.toml, since that file also counts when `pytest suites/` runs from here: a
deprecation in a library must not fail a cable.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent

# Machines are shared: how long one example takes says nothing about the code.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")

# Hundreds of tests start a pytest or a lab: without bytecode each compiles the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that is not interactive lets its background jobs ignore Ctrl-C, and so would every child.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


#: Folders whose tests start processes: a file of these takes minutes, the others seconds.
SLOW = ("plugin", "docs", "cli", "examples", "transport")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests below this folder, and let those that take longest begin first."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.filterwarnings("error"))
    items.sort(key=_is_quick)


def _is_quick(item: pytest.Item) -> bool:
    return not any(item.path.is_relative_to(HERE / folder) for folder in SLOW)
