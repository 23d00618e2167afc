"""The HTML report, as pytest-html really writes it with our parts."""

from __future__ import annotations

import html as stdlib_html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_fabric.report import html

from .examples import HOSTILE, verdict

pytest_plugins = "pytester"

CELLS = [
    '<td class="col-result">Passed</td>',
    '<td class="col-testId">suites/a.py::b</td>',
    '<td class="col-duration">3 ms</td>',
    '<td class="col-links"></td>',
]

CONFTEST = """
import sys
sys.path.insert(0, {root!r})
from pytest_fabric.report import html
from tests.report.examples import HOSTILE, planned, verdict
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.summary import Run

BAD = verdict("gpu001:rail0..gpu002:rail0", "failed", message=HOSTILE)
RECORD = RunRecord(Run([planned(BAD)], [BAD], ["gpu001:rail0"], {{}}), notes=["a note " + HOSTILE])

def pytest_html_report_title(report):
    report.title = html.title("pod-a " + HOSTILE)

def pytest_html_results_table_header(cells):
    cells[:] = html.header(cells)

def pytest_html_results_table_row(report, cells):
    cells[:] = html.row(cells, verdict("gpu001:rail0..gpu002:rail0", report.outcome))

def pytest_html_results_table_html(report, data):
    data[:] = html.log(report.outcome, data)

def pytest_html_results_summary(prefix, summary, postfix, session):
    prefix.extend(html.summary(RECORD))
"""


def report(pytester: pytest.Pytester, tests: str) -> tuple[str, dict[str, Any]]:
    """Return the report of a run, as text and as the data that its script shows."""
    pytester.makeconftest(CONFTEST.format(root=str(Path(__file__).parents[2])))
    pytester.makepyfile(**{"suites/test_4_pair": tests})
    pytester.runpytest("--html=report.html", "--self-contained-html", "-p", "no:cacheprovider")
    text = (pytester.path / "report.html").read_text(encoding="utf-8")
    blob = re.search(r'data-jsonblob="([^"]*)"', text)
    assert blob is not None
    return text, json.loads(stdlib_html.unescape(blob.group(1)))


def test_our_columns_stand_between_test_and_duration() -> None:
    """Header and rows agree."""
    header = html.header(
        ["<th>Result</th>", "<th>Test</th>", "<th>Duration</th>", "<th>Links</th>"]
    )
    row = html.row(CELLS, verdict("gpu001:rail0", "failed"))

    assert [re.sub("<.*?>", "", cell) for cell in header] == [
        *("Result", "Test", "Target", "Metric", "Value", "Limit", "Duration", "Links")
    ]
    assert [re.sub("<.*?>", "", cell) for cell in row] == [
        "Passed",
        "suites/a.py::b",
        "gpu001:rail0",
        "ib_write_lat.4.p99",
        "18 us",
        "&lt;= 5 us (cluster.yaml:41)",
        "3 ms",
        "",
    ]


def test_a_test_without_verdict_has_empty_cells() -> None:
    """An ordinary test in the same run does not shift the columns."""
    assert html.row(CELLS, None)[2:6] == ["<td class=col-target></td>", *["<td></td>"] * 3]


def test_a_passed_row_has_all_cells_in_few_bytes() -> None:
    """Where its limit stands is told above the results, and cells that nobody sorts by are one."""
    cells = html.row(CELLS, verdict("gpu001:rail0", "passed"))

    assert len(cells) == 4
    assert re.sub("<.*?>", "|", cells[-1]) == "|ib_write_lat.4.p99||2.1 us||&lt;= 5 us||3 ms|||"


def test_hostile_text_becomes_text() -> None:
    """No tag, no control character from a node reaches the page."""
    hostile = verdict(HOSTILE, "failed", message=HOSTILE, value=HOSTILE, limit=HOSTILE)
    shown = "".join([*html.row([], hostile), html.title(HOSTILE), *html.log("failed", ["\x1b"])])

    assert "<script>" not in shown.replace(html.title(HOSTILE), "")  # pytest-html escapes it
    assert not set(shown) & set("\x1b\x00\x9b\ud800\ufffe")


def test_only_what_did_not_pass_keeps_its_log() -> None:
    """Logs of passed tests made reports of a hundred megabytes."""
    assert html.log("passed", ["long log"]) == []
    assert html.log("failed", ["long log"]) == ["long log"]


def test_pytest_html_shows_our_parts(pytester: pytest.Pytester) -> None:
    """Columns are sorted by, logs kept for failures only, title and summary escaped."""
    text, data = report(
        pytester,
        """
        def test_good(): print("noise")
        def test_bad(): assert 0, "reason"
        """,
    )

    [good], [bad] = data["tests"].values()
    assert good["target"] == "gpu001:rail0..gpu002:rail0"
    assert ["".join(row["resultsTableRow"]).count("<td") for row in (good, bad)] == [8, 8]
    assert good["log"] == ""
    assert "reason" in bad["log"]
    assert "alert('x')" not in text.replace(html.title(HOSTILE), "")
    assert "a note red ]]&gt;" in text
    assert text.index("Not fit: 1 check is") < text.index('id="results-table"')
    assert 'data-column-type="limit"' in text


def test_ten_thousand_passes_stay_below_ten_megabytes(pytester: pytest.Pytester) -> None:
    """A report has to open in a browser: measured on 100 rows with names of usual length."""
    text, _ = report(
        pytester,
        """
        import pytest
        PAIRS = [f"gpu{n:03}:rail0..gpu{n + 1:03}:rail0" for n in range(100)]
        @pytest.mark.parametrize("pair", PAIRS)
        def test_small_write_p99(pair): print("noise" * 100)
        """,
    )
    blob = re.search(r'data-jsonblob="([^"]*)"', text)

    assert blob is not None
    assert len(blob.group(1)) < 100 * 1000
