"""The hooks of a session that has fabric tests: start and end, reports, summary, exit status."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from pytest_fabric.inventory import user_path
from pytest_fabric.report.clean import clean_line
from pytest_fabric.run import FabricRun
from pytest_fabric.selection import Selection

#: Nothing failed, but something could not be measured: CI must be able to tell the two apart.
EXIT_INCOMPLETE = 10

#: Where GitHub's runner (and those made alike) takes Markdown for the page of the job.
CI_SUMMARY = "GITHUB_STEP_SUMMARY"


class Active:
    """Registered once fabric tests have been collected, in the process that reports."""

    def __init__(self, config: pytest.Config, run: FabricRun, selection: Selection) -> None:
        self._config = config
        self._run = run
        self._selection = selection
        self._ours = frozenset(check.nodeid for check in selection.planned)
        self._others_failed = False
        self._lost: list[str] = []
        self._notes: list[str] = []

    @property
    def directory(self) -> Path:
        """Return the directory of the run."""
        return self._run.directory.path

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Begin to measure before the first test, and end everything after the last one.

        With workers this session is past it when it becomes active: see `workers`.
        """
        previous = signal.signal(signal.SIGTERM, interrupt)
        try:
            if not session.testsfailed:  # collection errors: pytest stops before the first test
                self._run.start(self._selection)
            result = yield
            self._run.follow_up()
            return result
        finally:
            signal.signal(signal.SIGTERM, previous)
            self._run.close()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of failures that are not ours."""
        if report.failed and report.nodeid not in self._ours:
            self._others_failed = True

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Write the JUnit file that was asked for, and set the exit status.

        Innermost, so that reports of other plugins that cannot be written end in a line, too.
        """
        path = self._config.getoption("--fabric-junit")
        if path:
            group = self._config.getoption("--fabric-junit-group")
            with self._told("--fabric-junit", self._lost):
                self._run.write_junit(user_path(self._config, path), group)
        if os.environ.get(CI_SUMMARY):
            with self._told(CI_SUMMARY, self._notes):  # a page of CI is no record
                self._run.append_markdown(Path(os.environ[CI_SUMMARY]))
        session.exitstatus = status = self._exit_status(session.exitstatus)
        self._run.ended(int(status))
        if not self._config.getoption("--fabric-no-reports"):
            with self._told("tickets and signoff", self._lost):
                self._run.write_papers()
        with self._told("reports", self._lost):
            yield
        session.exitstatus = self._exit_status(status)
        if session.exitstatus != status:
            self._run.ended(int(session.exitstatus))

    @contextmanager
    def _told(self, what: str, lines: list[str]) -> Iterator[None]:
        """Keep in a line what could not be written."""
        try:
            yield
        except OSError as error:
            place = f" {error.filename}" if error.filename else ""
            lines.append(clean_line(f"{what}: cannot write{place}: {error.strerror or error}"))

    def _exit_status(self, status: int) -> int:
        """Return EXIT_INCOMPLETE where pytest would say failed or passed, and neither is true."""
        states = {verdict.outcome for verdict in self._run.verdicts}
        nothing_failed = "failed" not in states and not self._others_failed
        if status == pytest.ExitCode.TESTS_FAILED and nothing_failed and "error" in states:
            return EXIT_INCOMPLETE
        nothing_measured = states.isdisjoint({"passed", "failed", "waived"})
        is_short = nothing_measured or self._run.is_coverage_short()
        is_lacking = is_short or bool(self._lost) or not self._run.is_whole
        return EXIT_INCOMPLETE if status == pytest.ExitCode.OK and is_lacking else status

    def pytest_unconfigure(self) -> None:
        """Close the run, also when it was interrupted before its first test."""
        self._run.close()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, None, None]:
        """Print last what a reader needs to act."""
        yield
        terminalreporter.section("fabric")
        for line in [*self._lost, *self._notes, *self._run.summary()]:
            terminalreporter.line(line)


class PlanOnly:
    """Registered instead of a run when only its plan is wanted."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool:
        """Run no test."""
        return True


def interrupt(number: int, frame: FrameType | None) -> None:
    """End the session as Ctrl-C does: reports are written then."""
    raise KeyboardInterrupt(f"signal {number}")
