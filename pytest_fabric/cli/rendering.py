"""Renders a stored run with pytest-html: items that say what the run has said of them."""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.html_hooks import HtmlHooks
from pytest_fabric.report import atomic, context, summary, told
from pytest_fabric.report.clean import clean
from pytest_fabric.report.context import Context
from pytest_fabric.report.finished import Finished
from pytest_fabric.report.sections.record import RunRecord, kept
from pytest_fabric.report.summary import Run
from pytest_fabric.results import Verdict

#: What is said of a run without an end.
UNENDED = "this run has not ended: it goes on, or was killed"


class Shown:
    """A stored run, as the hooks of the HTML report ask for one."""

    def __init__(self, run: Finished) -> None:
        self.run = run
        self._verdicts = {check.nodeid: verdict for check, verdict in run.results}
        said = context.read(run.path) or Context()
        is_over = run.about.ended is not None
        self._context = said if is_over else replace(said, notes=(*said.notes, UNENDED))

    @property
    def name(self) -> str:
        """Return the name of the cluster."""
        return self.run.about.cluster

    def verdict_of(self, nodeid: str) -> Verdict | None:
        """Return the verdict of a check."""
        return self._verdicts.get(nodeid)

    def summary(self) -> list[str]:
        """Return what a reader needs to act."""
        said = self._context
        return summary.lines(self._run(), [*said.notes, *said.baseline])

    def record(self) -> RunRecord:
        """Return the whole run, as its own report showed it."""
        path = self.run.path
        said = (self._run(), self.run.about, self._context, path)
        return told.record_of(*said, kept("report", path))

    def _run(self) -> Run:
        run = self.run
        said = (run.planned, run.verdicts, self._context, run.path)
        return told.run_of(run.about, *said, has_tickets=True)


class _Item(pytest.Item):
    """A check of the stored run."""

    verdict: Verdict

    def runtest(self) -> None:
        """Do nothing: the reports are known."""

    def reportinfo(self) -> tuple[str, int | None, str]:
        """Return where the check stands, as far as it is known."""
        return self.nodeid.partition("::")[0], None, self.name


class _Stored:
    """Replaces collection, and running, by what is stored."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Take the planned checks for items."""
        for check, verdict in self._shown.run.results:
            item = _Item.from_parent(session, name=clean(check.nodeid), nodeid=check.nodeid)
            item.verdict = verdict
            session.items.append(item)
        session.testscollected = len(session.items)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Report what is known of an item."""
        assert isinstance(item, _Item)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in _reports(item):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_metadata(self, metadata: dict[str, object]) -> None:
        """Say what the run was, and not what renders it."""
        about = self._shown.run.about
        metadata.clear()
        for name in ("started", "ended", "user", "host", "version", "strategy", "inventory"):
            metadata[name.capitalize()] = clean(str(getattr(about, name)))


def _reports(item: _Item) -> list[pytest.TestReport]:
    """Return the reports of the phases, as the run's own pytest had them."""
    verdict = item.verdict
    message = clean(verdict.message or "").strip() or verdict.outcome
    if verdict.outcome == "passed":
        return [_report(item, "setup"), _report(item, "call"), _report(item, "teardown")]
    if verdict.outcome == "failed":
        failed = _report(item, "call", "failed", message)
        return [_report(item, "setup"), failed, _report(item, "teardown")]
    if verdict.outcome == "waived":  # what pytest calls an expected failure
        waived = _report(item, "call", "skipped", message)
        waived.wasxfail = message
        return [_report(item, "setup"), waived, _report(item, "teardown")]
    if verdict.outcome == "skipped":
        why = (item.nodeid.partition("::")[0], 0, f"Skipped: {message}")
        return [_report(item, "setup", "skipped", why), _report(item, "teardown")]
    return [_report(item, "setup", "failed", message), _report(item, "teardown")]


def _report(
    item: _Item,
    when: Literal["setup", "call", "teardown"],
    outcome: Literal["passed", "failed", "skipped"] = "passed",
    longrepr: str | tuple[str, int, str] | None = None,
) -> pytest.TestReport:
    is_main = when == "call" or outcome != "passed"
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome=outcome,
        longrepr=longrepr,
        when=when,
        duration=item.verdict.duration if is_main else 0.0,
        start=item.verdict.started,
        stop=item.verdict.started + item.verdict.duration,
    )


def html(shown: Shown, path: Path) -> None:
    """Write the HTML report in one step. Raises OSError, ConfigError."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        words = [
            *("-c", os.devnull, "--rootdir", folder, f"--html={file}", "--self-contained-html"),
            *("-p", "no:fabric", "-p", "no:xdist", "-p", "no:cacheprovider", "-q"),
        ]
        said = io.StringIO()
        options = os.environ.pop("PYTEST_ADDOPTS", None)  # those of the user's own runs
        try:
            with redirect_stdout(said), redirect_stderr(said):
                pytest.main(words, plugins=[_Stored(shown), HtmlHooks(shown)])
        finally:
            if options is not None:
                os.environ["PYTEST_ADDOPTS"] = options
        if not file.exists():
            told = said.getvalue().strip().splitlines() or ["nothing"]
            raise ConfigError(f"report: expected pytest-html to write it, it said: {told[-1]}")
        atomic.write(path, file.read_text(encoding="utf-8"))
