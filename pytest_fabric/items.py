"""The hooks that work where tests are run: outcomes, and a verdict of each test."""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest

from pytest_fabric import outcome
from pytest_fabric.results import Verdict
from pytest_fabric.wants import target_of


class ItemHooks:
    """Applies the outcome policy; `done` is given the verdict of each test with its last report."""

    def __init__(self, done: Callable[[Verdict, pytest.TestReport], None]) -> None:
        self._done = done
        self._phases: dict[str, list[pytest.TestReport]] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Apply the outcome policy, and give the verdict when the item is done."""
        if target_of(item) is None:
            return (yield)
        if call.when == "call":
            item.user_properties.extend(outcome.properties(item))
        report = yield
        outcome.apply(item, call, report)
        self._phases.setdefault(item.nodeid, []).append(report)
        if call.when == "teardown":
            self._done(outcome.verdict(item, self._phases.pop(item.nodeid)), report)
        return report
