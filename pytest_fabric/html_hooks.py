"""The hooks of pytest-html; registered only where pytest-html is."""

from __future__ import annotations

from typing import Protocol

import pytest

from pytest_fabric.report import html
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.results import Verdict


class Reported(Protocol):
    """A run that is reported: one that goes on, or one that is read from its directory."""

    @property
    def name(self) -> str:
        """Return the name of the cluster."""

    def verdict_of(self, nodeid: str) -> Verdict | None:
        """Return the verdict of a check, or None while there is none."""

    def record(self) -> RunRecord:
        """Return the whole run as its report shows it."""


class HtmlHooks:
    """Adds columns, title and summary to the HTML report of a run."""

    def __init__(self, run: Reported) -> None:
        self._run = run

    def pytest_html_report_title(self, report: object) -> None:
        """Name the fabric in the title."""
        report.title = html.title(self._run.name)  # type: ignore[attr-defined]

    def pytest_html_results_table_header(self, cells: list[str]) -> None:
        """Add the columns target, metric, value and limit."""
        cells[:] = html.header(cells)

    def pytest_html_results_table_row(self, report: pytest.TestReport, cells: list[str]) -> None:
        """Fill the columns from the verdict of the test."""
        cells[:] = html.row(cells, self._run.verdict_of(report.nodeid))

    def pytest_html_results_table_html(self, report: pytest.TestReport, data: list[str]) -> None:
        """Leave the log out of passed rows."""
        data[:] = html.log(report.outcome, data)

    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """Put verdict, pictures and tables above the results."""
        prefix.extend(html.summary(self._run.record()))
