"""Every planned check ends in exactly one state, and nothing that happened is left out."""

from __future__ import annotations

import pytest

from pytest_fabric.report.planned import terminal

from .examples import planned, verdict

PORT = "gpu001:rail0"


def test_a_planned_check_without_verdict_is_not_run() -> None:
    """An interrupted run leaves no check without a state."""
    passed, lost = verdict(PORT), verdict("gpu002:rail0")

    states = terminal([planned(passed), planned(lost)], [passed])

    assert [(c.target, v.outcome) for c, v in states] == [
        (PORT, "passed"),
        ("gpu002:rail0", "not run"),
    ]


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (["passed", "error"], "error"),
        (["failed", "error"], "failed"),
        (["passed", "skipped"], "skipped"),
        (["nonsense", "passed"], "nonsense"),
    ],
)
def test_the_worse_of_two_verdicts_counts(outcomes: list[str], expected: str) -> None:
    """A teardown error after a pass is no pass, whichever came first."""
    reports = [verdict(PORT, outcome) for outcome in outcomes]

    for order in (reports, reports[::-1]):
        [(_, state)] = terminal([planned(reports[0])] * 2, order)
        assert state.outcome == expected


def test_a_verdict_that_nobody_planned_is_kept() -> None:
    """It appears under the node of its target."""
    [(check, state)] = terminal([], [verdict("gpu003:rail0..gpu004:rail0", "failed")])

    assert (check.node, state.outcome) == ("gpu003", "failed")
