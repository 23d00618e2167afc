"""The frame of a measurement: its clock, its trail, and its record, whatever happens within."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from pytest_fabric.errors import FabricError
from pytest_fabric.measure.context import Trail
from pytest_fabric.measure.record import explained, without_value
from pytest_fabric.measure.settings import Settings
from pytest_fabric.measure.window import Window
from pytest_fabric.results import Failure, Measurement

#: Makes what surrounds that which is left to do when the ports are free.
After = Callable[[], AbstractContextManager[None]]


@dataclass
class Frame:
    """One measurement on a target, from its start on; `error` says what went wrong."""

    target: str
    settings: Settings
    trail: Trail = field(default_factory=Trail)
    error: Failure | None = None
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.monotonic)
    ended: float | None = None

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Make an error of ours that is raised within a part of the record."""
        try:
            yield
        except FabricError as problem:
            self.error = explained(self.target, self.settings.tool, problem)

    def over(self, after: After = nullcontext) -> AbstractContextManager[None]:
        """Stop the clock: what is done in the context that is returned needs no port any more."""
        self.ended = time.monotonic()
        return after()

    def record(self) -> Measurement:
        """Return the record with its evidence; values are for who has made them to put in."""
        seen = self.trail.window or Window((), {}, 0.0)
        return replace(
            without_value(self.target, self.settings, self.error),
            commands=self.trail.commands,
            attempts=tuple(self.trail.attempts),
            growth=seen.growth,
            counter_errors=seen.problems,
            raw=self.trail.raw,
            started=self.started,
            duration=(self.ended or time.monotonic()) - self.clock,
        )
