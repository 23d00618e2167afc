"""Which waiver stands over a failure: its check, its target, its metric, and until when."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_fabric.config import Waiver
from pytest_fabric.config.nodesets import expand


@dataclass(frozen=True)
class Waived:
    """A waiver that a failure falls under; it holds until the end of its last day."""

    waiver: Waiver
    expired: bool

    def __str__(self) -> str:
        one = self.waiver
        if self.expired:
            return f"waiver of {one.owner} expired {one.until}: {one.reason}"
        return f"waived by {one.owner} until {one.until}: {one.reason}"


def find(
    waivers: Sequence[Waiver], check: str, target: str, metric: str | None, today: datetime.date
) -> Waived | None:
    """Return the waiver of a failure, one that still holds before one that has expired."""
    found = [
        Waived(one, one.until < today)
        for one in waivers
        if covers(one, check, target) and _is_about(one, metric)
    ]
    return min(found, key=lambda one: one.expired, default=None)


def covers(waiver: Waiver, check: str, target: str) -> bool:
    """Return whether a waiver is about a check on a target.

    A port stands for itself and for every pair with an end there, a node for its ports too; a pair
    stands for that direction only.
    """
    if waiver.check != check:
        return False
    if waiver.target == target:
        return True
    places = _places(waiver.target)
    return any(
        place in places for end in target.split("..") for place in (end, end.partition(":")[0])
    )


def _is_about(waiver: Waiver, metric: str | None) -> bool:
    """Return whether a waiver is about a metric, with or without its message size."""
    if waiver.metric is None or metric == waiver.metric:
        return True
    return re.sub(r"^(ib_\w+)\.[0-9]+\.", r"\1.", metric or "") == waiver.metric


@lru_cache(maxsize=4096)
def _places(target: str) -> frozenset[str]:
    """Return the nodes or ports of a waiver's target; none of a pair, which must match whole."""
    if ".." in target:
        return frozenset()
    nodes, colon, rail = target.partition(":")
    return frozenset(f"{node}{colon}{rail}" for node in expand(nodes))


def unused(waivers: Iterable[Waiver], ended: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the waivers that no failure fell under, each with what may be the reason.

    `ended` are all checks of a run: name, target and outcome.
    """
    known = list(ended)
    told = []
    for one in waivers:
        outcomes = {outcome for check, target, outcome in known if covers(one, check, target)}
        if not outcomes & {"failed", "waived"}:
            why = "mended?" if "passed" in outcomes else "not judged in this run"
            told.append(f"{one.check} {one.target} ({one.owner}: {why})")
    return told
