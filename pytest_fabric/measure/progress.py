"""How far a run is, for those who wait for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Status:
    """What a dispatcher has to do: keys that run, counts, and the seconds that are left of it."""

    running: tuple[str, ...]
    waiting: int
    done: int
    left_s: float


@dataclass(frozen=True)
class Progress:
    """How far the engine is: what runs by name, counts, and seconds left if all go as so far."""

    running: tuple[str, ...]
    waiting: int
    done: int
    left_s: float
