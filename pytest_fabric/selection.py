"""What a session has selected: the checks that it plans, and what they want measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from pytest_fabric.markers import declared
from pytest_fabric.measure.plan import Want
from pytest_fabric.report.planned import Planned
from pytest_fabric.wants import Target, planned, target_of, wants_of


@dataclass(frozen=True)
class Selection:
    """The checks of a session in their order, and the targets of their measurements and facts."""

    planned: tuple[Planned, ...]
    wants: tuple[Want, ...]
    others: tuple[Target, ...]

    @classmethod
    def of(cls, items: Sequence[pytest.Item]) -> Selection:
        """Return what is selected by the items that were left after deselection."""
        wants, others = wants_of(items)
        checks = tuple(planned(item) for item in items if target_of(item) is not None)
        return cls(checks, tuple(wants), tuple(others))


@dataclass(frozen=True)
class Collected:
    """What a worker has collected.

    `problems` are lines for the user; `groups` tells by index of an item which others rest on the
    same measurement, None for an item that is not ours.
    """

    selection: Selection
    groups: tuple[str | None, ...]
    problems: tuple[str, ...]


def group_of(item: pytest.Item) -> str | None:
    """Return what items share that rest on the same measurement."""
    target = target_of(item)
    return None if target is None else f"{target} {declared(item)}"
