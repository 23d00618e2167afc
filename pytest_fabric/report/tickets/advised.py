"""Suspects with what to do next about each: what the ticket of the same place says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_fabric.report.places import nodes_of
from pytest_fabric.report.ran import Run
from pytest_fabric.report.suspects import Suspect
from pytest_fabric.report.tickets import action
from pytest_fabric.report.tickets.action import Scene
from pytest_fabric.report.tickets.parts import Part, parts_of


def with_advice(run: Run) -> list[Suspect]:
    """Return the suspects of a run in their order, none without something to do."""
    suspected = run.suspected
    parts = parts_of(run) if suspected else []
    declared = {node for port in run.declared for node in nodes_of(port)}
    return [replace(one, advice=_advice(one, parts, declared)) for one in suspected]


def _look_at(place: str, declared: set[str]) -> str:
    """Return what to do where nothing better is known; limits are told where nodes are declared."""
    if not declared.issuperset(nodes_of(place)):
        return f"look at {place} as a whole: what its failed checks have in common"
    return f"look at {place}; pytest-fabric explain {place} tells its limits"


def _advice(suspect: Suspect, parts: Sequence[Part], declared: set[str]) -> str:
    if len(suspect.places) > 1 and suspect.advice:
        return suspect.advice  # it tells them apart
    part = _part_of(suspect, parts)
    if part is None:
        return suspect.advice or _look_at(suspect.place, declared)
    step = action.next_of(Scene(part, None, None, None, _light(part), None), 0)
    return suspect.advice if step.step == "swap" and suspect.advice else step.words


def _part_of(suspect: Suspect, parts: Sequence[Part]) -> Part | None:
    """Return the part that a suspect is about: at its place, best with what it explains."""
    places = set(suspect.places)
    own = [part for part in parts if places.intersection(part.places)]
    inside = [part for part in parts if places & {n for p in part.places for n in nodes_of(p)}]
    explained = set(suspect.explained)

    def rank(part: Part) -> int:
        return sum((v.check, v.target) in explained for v in part.failed.values())

    found = own or inside
    return max(found, key=rank) if found else None


def _light(part: Part) -> float | None:
    """Return the light that arrives, where a check of it failed."""
    values = [v.value for v in part.failed.values() if v.metric == "module.rx_power_min"]
    return next((float(v) for v in values if isinstance(v, (int, float))), None)
