"""The fixture that boots the two virtual machines, once per session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .image import Unavailable
from .machines import Machine, two_machines


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "real: runs against virtual machines with a real RDMA stack (slow)"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("real")


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Machine]]:
    """Two booted machines, fab1 and fab2; a test that breaks one puts it back with `restored`."""
    with ExitStack() as stack:
        try:
            booted = stack.enter_context(two_machines(tmp_path_factory.mktemp("machines")))
        except Unavailable as error:
            # Continuous integration must not go green because nothing was tried.
            give_up = pytest.fail if os.environ.get("CI") else pytest.skip
            give_up(f"no virtual machines: {error}")
        yield booted
