"""The outcome policy: what a report of pytest becomes, and the verdict of each check.

Outside the limit is failed; what could not be measured or recognised is an error; what a profile
says does not apply is skipped; and a test that judged nothing must not pass. A failure that a
waiver stands over is waived: pytest shows it as an expected failure, and we never as nothing.
"""

from __future__ import annotations

import datetime
import time

import pytest

from pytest_fabric import beside
from pytest_fabric.errors import FabricError
from pytest_fabric.judge.ledger import Check
from pytest_fabric.judge.waivers import find
from pytest_fabric.ledgers import ledger_key, measured_key
from pytest_fabric.markers import declared
from pytest_fabric.measure.engine import STOPPED
from pytest_fabric.parametrize import loaded
from pytest_fabric.report import evidence, text
from pytest_fabric.report.clean import clean_line
from pytest_fabric.results import Verdict
from pytest_fabric.wants import planned, target_of

#: The attribute of a report that holds what a verdict says instead of source and traceback.
SHORT = "fabric_message"

#: The attribute of a report that says which waiver its failure falls under.
WAIVED = "fabric_waived"

#: How a unit ends the name of a JUnit property.
SUFFIXES = {
    "s": "_s",
    "b/s": "_bps",
    "T/s": "_tps",
    "B": "_bytes",
    "B/s": "_bytes_per_s",
    "/s": "_per_s",
}


def apply(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Turn a report of one of our items into what it means."""
    if report.passed:
        report.sections = []  # captured output of passes would make reports too large to open
    if report.when != "call":
        return
    fault = _fault_of_pass(item) if report.passed and not hasattr(report, "wasxfail") else None
    if fault is not None:
        report.outcome = "failed"
        report.when = "setup"
        report.longrepr = f"{target_of(item)}: {fault}"
    elif report.failed and call.excinfo is not None:
        setattr(report, SHORT, call.excinfo.exconly())
        if not call.excinfo.errisinstance((AssertionError, pytest.fail.Exception)):
            report.when = "setup"  # a slip of the test says nothing about the fabric
            return
        check = _failed_check(item)
        if check is not None and call.excinfo.errisinstance(AssertionError):
            report.longrepr = failure(item, check)
            setattr(report, SHORT, report.longrepr)
        _waive(item, report, check)


def _waive(item: pytest.Item, report: pytest.TestReport, check: Check | None) -> None:
    """Let a failure that is waived be expected, and one whose waiver has expired say so."""
    waivers = loaded(item.config).cluster.waivers
    one, metric = planned(item), check.metric if check is not None else None
    waived = find(waivers, one.check, one.target, metric, datetime.date.today())
    if waived is None:
        return
    told = f"{getattr(report, SHORT)}\n  {'waiver':<{text.LABEL_WIDTH}}  {clean_line(str(waived))}"
    report.longrepr = told
    setattr(report, SHORT, told)
    if not waived.expired:
        setattr(report, WAIVED, clean_line(str(waived)))
        report.outcome = "skipped"
        report.wasxfail = clean_line(str(waived))


def as_error(call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Show an exception of ours as one line, and as an error wherever it was raised."""
    if report.failed and call.excinfo is not None and call.excinfo.errisinstance(FabricError):
        report.longrepr = str(call.excinfo.value)
        if report.when == "call":
            report.when = "setup"


def _fault_of_pass(item: pytest.Item) -> str | None:
    """Return why a test that passed has shown nothing, or None when it has.

    A free-form test may assert on what a shell printed: having read something is enough there.
    """
    ledger = item.stash.get(ledger_key, None)
    checks = ledger.checks if ledger is not None else []
    has_read = ledger is not None and bool(ledger.reads) and declared(item) is None
    if not checks and not has_read:
        return (
            "expected the test to compare a value of its result with a limit, found that it read "
            "none: it would pass whatever was measured"
        )
    if checks and not checks[-1].passed:
        last = checks[-1]
        return (
            f"the test passed although its last comparison did not hold: {last.label} "
            f"{last.shown} {last.limit}: assert it plainly"
        )
    return None


def _failed_check(item: pytest.Item) -> Check | None:
    ledger = item.stash.get(ledger_key, None)
    return ledger.deciding(failed=True) if ledger is not None else None


def failure(item: pytest.Item, check: Check) -> str:
    """Return the text of a failure: subject, value, limit with its place, evidence."""
    measured = item.stash.get(measured_key, None)
    subject = check.metric.partition(".")[0]
    # The counters that grew are told by the evidence of the measurement.
    has_detail = not check.metric.endswith(".growth")
    details = [(subject, "\n".join(check.detail))] if has_detail else []
    details.extend(check.beside)
    if check.company:
        details.append(("measured", check.company))
    if measured is not None:
        place = check.repetition
        record = measured.record if place is None else measured.alone[place]
        details.extend(_merged(evidence.details(record), beside.details(item, record)))
    source = check.source or _place(item)
    return text.failure(
        str(target_of(item)),
        check.label,
        check.shown,
        check.limit,
        f"{source}, profile {check.profile}" if check.profile else source,
        details,
    )


def _merged(shown: list[tuple[str, str]], more: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what a measurement says, with what stands beside it before the commands."""
    last = [row for row in shown if row[0] == "by hand"]
    return [*(row for row in shown if row[0] != "by hand"), *more, *last]


def _place(item: pytest.Item) -> str:
    path, line, _ = item.location
    return f"{path}:{(line or 0) + 1}"


def properties(item: pytest.Item) -> list[tuple[str, object]]:
    """Return the values that a test compared, for JUnit."""
    ledger = item.stash.get(ledger_key, None)
    checks = ledger.checks if ledger is not None else []
    named = {
        f"fabric.{check.metric}{SUFFIXES.get(check.unit, '')}": check.value for check in checks
    }
    return list(named.items())


def verdict(item: pytest.Item, reports: list[pytest.TestReport]) -> Verdict:
    """Return the terminal state of a check from the reports of its phases."""
    check = planned(item)
    outcome, message = _state(reports)
    ledger = item.stash.get(ledger_key, None)
    has_failed = outcome in ("failed", "waived")
    deciding = ledger.deciding(has_failed) if ledger is not None else None
    duration = sum(report.duration for report in reports)
    return Verdict(
        nodeid=check.nodeid,
        check=check.check,
        target=check.target,
        layer=check.layer,
        outcome=outcome,
        metric=deciding.metric if deciding else None,
        value=deciding.value if deciding else None,
        unit=deciding.unit if deciding else None,
        limit=deciding.limit if deciding else None,
        limit_source=(deciding.source or _place(item)) if deciding else None,
        message=message,
        started=time.time() - duration,
        duration=duration,
        contention=_contention(item) if outcome == "passed" else None,
    )


def _contention(item: pytest.Item) -> str | None:
    """Return what a test that passed has missed under load, of whichever clause of its limits."""
    ledger = item.stash.get(ledger_key, None)
    checks = ledger.checks if ledger is not None else []
    return next((check.company for check in checks if check.passed and check.company), None)


def _state(reports: list[pytest.TestReport]) -> tuple[str, str | None]:
    """Return outcome and message; without a call that passed nothing has (`--setup-only`)."""
    failed = [report for report in reports if report.failed]
    if failed:
        first, *more = failed
        told = [getattr(first, SHORT, first.longreprtext), *(r.longreprtext for r in more)]
        if first.when != "call" and told[0].endswith(STOPPED):
            return "not run", STOPPED  # -x let a worker's test end that waited for its measurement
        return ("failed" if first.when == "call" else "error"), "\n".join(told)
    for report in reports:
        if hasattr(report, WAIVED):
            return "waived", f"{getattr(report, WAIVED)}\n{getattr(report, SHORT)}"
        if report.skipped:
            return "skipped", _reason(report)
    called = any(report.when == "call" and report.passed for report in reports)
    return ("passed", None) if called else ("not run", "the test itself was not run")


def _reason(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return f"expected to fail: {report.wasxfail}"
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
    return str(told).removeprefix("Skipped: ")
