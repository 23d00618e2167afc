"""The fixture that boots the two virtual machines, and boots others when one has died."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from .image import Unavailable
from .machines import Machine, has_ended, two_machines


class Fleet:
    """The machines of a session."""

    def __init__(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self._tmp_path_factory = tmp_path_factory
        self._stack = ExitStack()
        self._machines: tuple[Machine, Machine] | None = None

    def machines(self) -> tuple[Machine, Machine]:
        """Return two machines that run. Raises Unavailable when they do not boot."""
        if self.has_died():
            self.close()
        if self._machines is None:
            folder = self._tmp_path_factory.mktemp("machines")
            self._machines = self._stack.enter_context(two_machines(folder))
        return self._machines

    def has_died(self) -> bool:
        """Return whether a machine that was booted runs no longer."""
        return self._machines is not None and any(map(has_ended, self._machines))

    def close(self) -> None:
        """End the machines."""
        self._machines = None
        self._stack.close()


FLEET = pytest.StashKey[Fleet]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "real: runs against virtual machines with a real RDMA stack (slow)"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("real")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test once more when a machine died under it: emulated kernels were seen to panic."""
    if item.get_closest_marker("real") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    fleet = item.session.stash.get(FLEET, None)
    if fleet is not None and fleet.has_died() and any(report.failed for report in reports):
        assert isinstance(item, pytest.Function)
        item._initrequest()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="session")
def fleet(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    made = request.session.stash[FLEET] = Fleet(tmp_path_factory)
    yield made
    made.close()


@pytest.fixture
def machines(fleet: Fleet) -> tuple[Machine, Machine]:
    """Two booted machines, fab1 and fab2; a test that breaks one puts it back with `restored`."""
    try:
        return fleet.machines()
    except Unavailable as error:
        # Continuous integration must not go green because nothing was tried.
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(f"no virtual machines: {error}")
