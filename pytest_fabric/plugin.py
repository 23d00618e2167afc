"""The plugin as pytest sees it: a table of contents that imports the rest when it is needed."""

from __future__ import annotations

import importlib
from collections.abc import Generator

import pytest

from pytest_fabric import fixtures, markers, options
from pytest_fabric.errors import ConfigError, FabricError

#: The name of parametrize.TARGET, without importing what it needs.
TARGET = "_fabric_target"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options."""
    options.add(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register markers and fixtures."""
    if config.getoption("--fabric-plan") and config.pluginmanager.hasplugin("xdist"):
        config.option.dist, config.option.tx = "no", []  # a plan needs no workers
    for line in markers.LINES:
        config.addinivalue_line("markers", line)
    config.pluginmanager.register(fixtures, "fabric-fixtures")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Load an inventory that the user named: its errors come before anything else."""
    config = session.config
    wrong = options.conflict(config)
    if wrong is not None:
        raise pytest.UsageError(wrong)
    named = config.getoption("--fabric-cluster") or config.getini("fabric_cluster")
    if named and not hasattr(config, "workerinput"):
        try:
            importlib.import_module("pytest_fabric.parametrize").loaded(config)
        except ConfigError as error:
            raise pytest.UsageError(*error.lines) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise tests that rest on our fixtures; others see nothing of us."""
    if TARGET in metafunc.fixturenames:
        importlib.import_module("pytest_fabric.parametrize").generate(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tell wrong use that was met while parametrising."""
    for item in items:
        if TARGET not in getattr(item, "fixturenames", ()) and markers.is_ours(item):
            raise pytest.UsageError(
                f"{item.nodeid}: expected a test with a measure marker to ask for `result`"
            )
    if any(TARGET in getattr(item, "fixturenames", ()) for item in items):
        activate = importlib.import_module("pytest_fabric.activate")
        activate.tell_problems(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the run when fabric tests are left after deselection."""
    ours = [item for item in session.items if TARGET in getattr(item, "fixturenames", ())]
    if ours and not session.config.option.collectonly:
        importlib.import_module("pytest_fabric.activate").activate(session, ours)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show an error of ours as one line: a traceback would be a bug."""
    report = yield
    is_ours = TARGET in getattr(item, "fixturenames", ())
    if is_ours and call.excinfo is not None and call.excinfo.errisinstance(FabricError):
        importlib.import_module("pytest_fabric.outcome").as_error(call, report)
    return report
