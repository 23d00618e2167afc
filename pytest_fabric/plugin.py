"""The plugin as pytest sees it: a table of contents that imports the rest when it is needed."""

from __future__ import annotations

import importlib
from collections.abc import Generator

import pytest

from pytest_fabric import fixtures, hookspecs, markers, options
from pytest_fabric.errors import ConfigError, FabricError

#: The name of parametrize.TARGET, without importing what it needs.
TARGET = "_fabric_target"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options."""
    options.add(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the hooks that others can have for us."""
    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register markers and fixtures."""
    if config.getoption("--fabric-plan") and config.pluginmanager.hasplugin("xdist"):
        config.option.dist, config.option.tx = "no", []  # a plan needs no workers
    for line in (*markers.LINES, *markers.layer_lines()):
        config.addinivalue_line("markers", line)
    config.pluginmanager.register(fixtures, "fabric-fixtures")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Load an inventory that the user named: its errors come before anything else.

    A session with workers needs our hooks before they are started.
    """
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
    if config.pluginmanager.hasplugin("dsession"):
        workers = importlib.import_module("pytest_fabric.workers").Workers(session)
        config.pluginmanager.register(workers, "fabric-workers")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise tests that rest on our fixtures; others see nothing of us."""
    if TARGET in metafunc.fixturenames:
        importlib.import_module("pytest_fabric.parametrize").generate(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let `-m` know the layers of suites, and tell wrong use that was met while parametrising."""
    for item in filter(_is_ours, items):
        markers.mark_layer(item)
    wrong = [
        f"{item.nodeid}: expected a test with a measure marker to ask for `result`"
        for item in items
        if not _is_ours(item) and markers.is_ours(item)
    ]
    if wrong or any(map(_is_ours, items)):
        importlib.import_module("pytest_fabric.parametrize").tell_problems(config, wrong)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the run when fabric tests are left after deselection."""
    is_ours = any(_is_ours(item) or markers.is_ours(item) for item in session.items)
    if session.config.option.collectonly or not is_ours:
        return
    if session.config.getoption("--fabric-prove"):
        importlib.import_module("pytest_fabric.prove.session").begin(session)
    elif hasattr(session.config, "workerinput"):
        importlib.import_module("pytest_fabric.worker").begin(session)
    else:
        importlib.import_module("pytest_fabric.activate").activate(session)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show an error of ours as one line: a traceback would be a bug."""
    report = yield
    if _is_ours(item) and call.excinfo is not None and call.excinfo.errisinstance(FabricError):
        importlib.import_module("pytest_fabric.outcome").as_error(call, report)
    return report


def _is_ours(item: pytest.Item) -> bool:
    return TARGET in getattr(item, "fixturenames", ())
