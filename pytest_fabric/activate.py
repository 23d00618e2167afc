"""From collected tests to a running session: late, so that other runs see nothing of us."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_fabric import endpoints, planning
from pytest_fabric.active import Active, PlanOnly
from pytest_fabric.answers import Answers
from pytest_fabric.errors import ConfigError, RecordError
from pytest_fabric.fixtures import answers_key
from pytest_fabric.history import history_of
from pytest_fabric.html_hooks import HtmlHooks
from pytest_fabric.inventory import user_path
from pytest_fabric.items import ItemHooks
from pytest_fabric.live import LiveLine
from pytest_fabric.parametrize import loaded
from pytest_fabric.policy import policy_of, require_confirmed
from pytest_fabric.prove import catalogue
from pytest_fabric.run import FabricRun
from pytest_fabric.selection import Selection
from pytest_fabric.soak_windows import lines_of, windows_of
from pytest_fabric.soaking import asked_of
from pytest_fabric.sources import without_baseline


def activate(session: pytest.Session) -> None:
    """Start a run whose tests are run in this process. Raises UsageError."""
    config = session.config
    if config.getoption("--fabric-plan"):
        _show_plan(config, session.items)
        return
    run = begin(session, Selection.of(session.items))
    hooks = ItemHooks(lambda verdict, report: run.keep(verdict))
    config.pluginmanager.register(hooks, "fabric-items")
    live = LiveLine(config, run.engine.progress)
    without = without_baseline(config)
    windows = windows_of(config, run.inventory, run.source, run.engine.forget)
    config.stash[answers_key] = Answers(run.inventory, run.source, live, without, windows)


def begin(session: pytest.Session, selection: Selection) -> FabricRun:
    """Start the run: lab, run directory, reports. Raises UsageError."""
    config = session.config
    if not __debug__ and config.getoption("assertmode") == "plain":
        raise pytest.UsageError(
            "expected assertions to be on, found python -O with --assert=plain: nothing would fail"
        )
    try:
        inventory = loaded(config)
        policy = policy_of(config, inventory)
        _require_writable(config)
        require_confirmed(config, inventory)
        out = user_path(config, config.getoption("--fabric-out"))
        checks = [check.nodeid for check in selection.planned]
        history = history_of(config, inventory, policy, checks)
        faults = config.getoption("--fabric-fault")
        files = catalogue.sources(config.pluginmanager) if faults else ()
        follows = config.getoption("--fabric-localise")
        run = FabricRun(inventory, policy, faults, out, history, files, follows)
    except ConfigError as error:
        raise pytest.UsageError("\n".join(error.lines)) from None
    except (OSError, RecordError) as error:
        raise pytest.UsageError(f"--fabric-out: cannot write there: {error}") from None
    config.pluginmanager.register(Active(config, run, selection), "fabric-active")
    with suppress(RecordError):  # told at the end: such a run is not whole
        run.plan(selection)
    if config.pluginmanager.hasplugin("html"):
        config.pluginmanager.register(HtmlHooks(run), "fabric-html")
    _start_reports(session, run.directory.path)
    return run


def _show_plan(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Print what would be measured, and let no test run. Raises UsageError."""
    try:
        inventory = loaded(config)
        policy = policy_of(config, inventory)
        asked = asked_of(config)
        soak = lines_of(asked, policy, inventory) if asked else []
        if faults := config.getoption("--fabric-fault"):  # what a run would refuse
            files = catalogue.sources(config.pluginmanager)
            endpoints.Lab(inventory.cluster, faults, files).close()
    except ConfigError as error:
        raise pytest.UsageError("\n".join(error.lines)) from None
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    shown = planning.lines(inventory, policy, items, config.get_verbosity() > 0, soak)
    if reporter is not None:
        reporter.section("fabric plan")
        for line in shown:
            reporter.line(line)
    config.pluginmanager.register(PlanOnly(), "fabric-plan")


def _require_writable(config: pytest.Config) -> None:
    """Raise UsageError for a JUnit file that could not be written after hours of measuring."""
    named = config.getoption("--fabric-junit")
    if not named:
        return
    path = user_path(config, named)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
    except OSError as error:
        raise pytest.UsageError(f"--fabric-junit: cannot write there: {error}") from None


def _start_reports(session: pytest.Session, directory: Path) -> None:
    """Let the JUnit and HTML plugins begin now: they read their paths before collection."""
    option, manager = session.config.option, session.config.pluginmanager
    is_wanted = not option.fabric_no_reports
    if is_wanted and manager.hasplugin("junitxml") and not option.xmlpath:
        option.xmlpath = str(directory / "junit.xml")
        _configure_late(session, "junitxml")
    if not manager.hasplugin("html"):
        return
    if option.htmlpath:
        _begin_again(session)
    elif is_wanted:
        option.htmlpath = str(directory / "report.html")
        option.self_contained_html = True
        _configure_late(session, "html")


def _begin_again(session: pytest.Session) -> None:
    """Let an HTML reporter that has begun without our columns write its header anew."""
    for plugin in session.config.pluginmanager.get_plugins():
        if type(plugin).__module__.startswith("pytest_html."):
            plugin.pytest_sessionstart(session)


def _configure_late(session: pytest.Session, name: str) -> None:
    """Run the plugin's own configure and what its reporter has missed of the session."""
    manager = session.config.pluginmanager
    before = set(manager.get_plugins())
    plugin = manager.get_plugin(name)
    assert plugin is not None
    plugin.pytest_configure(session.config)
    for reporter in set(manager.get_plugins()) - before:
        if "session" in reporter.pytest_sessionstart.__code__.co_varnames:
            reporter.pytest_sessionstart(session)
            reporter.pytest_collection_finish(session)
        else:
            reporter.pytest_sessionstart()
