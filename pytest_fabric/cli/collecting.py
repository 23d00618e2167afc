"""Collects suites as pytest does, without its words."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout

import pytest

from pytest_fabric.errors import ConfigError

#: So many lines of what pytest said are shown where it could not collect.
SHOWN = 10


class _Planner:
    """Takes the plan of what was collected."""

    def __init__(self, verbose: bool) -> None:
        self._verbose = verbose
        self.lines: list[str] | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Make the plan. Raises UsageError."""
        # Once `pytest_fabric.measure` is loaded, it hides the marker that suites import.
        from pytest_fabric import planning
        from pytest_fabric.parametrize import loaded
        from pytest_fabric.policy import policy_of

        config = session.config
        try:
            inventory = loaded(config)
            policy = policy_of(config, inventory)
        except ConfigError as error:
            raise pytest.UsageError("\n".join(error.lines)) from None
        self.lines = planning.lines(inventory, policy, session.items, self._verbose)


def plan(words: Sequence[str], verbose: bool) -> tuple[list[str], list[str] | None]:
    """Return the plan of what words of pytest select, or the problem in lines."""
    planner = _Planner(verbose)
    said, problems = io.StringIO(), io.StringIO()
    quiet = ["--collect-only", "-q", "-p", "no:cacheprovider", "--no-header"]
    with redirect_stdout(said), redirect_stderr(problems):
        status = pytest.main([*quiet, *words], plugins=[planner])
    if planner.lines is not None and status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return planner.lines, None
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        return [], ["plan: expected tests that rest on the fabric, found none"]
    told = [line for line in problems.getvalue().splitlines() if line.strip()]
    errors = [line for line in said.getvalue().splitlines() if line.startswith(("E ", "ERROR"))]
    refused = [line.partition("error: ")[2] for line in told if "error: " in line]
    lines = refused or [line.removeprefix("ERROR: ") for line in told] or errors[:SHOWN]
    return [], lines or [f"plan: pytest could not collect them (exit status {int(status)})"]
