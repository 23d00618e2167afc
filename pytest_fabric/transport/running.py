"""A job that was sent to a node runner, as those see it who wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from pytest_fabric.errors import TransportError
from pytest_fabric.transport.frames import Ended, Ready, Started
from pytest_fabric.transport.jobs import Outcome
from pytest_fabric.transport.sections import decoded

#: After its deadline a job has 5 s (`timeout -k 5`) to end; then its frame must come.
GRACE_S = 10.0
#: An end that is overdue while other frames still come may sit behind large ones; not for ever.
OVERDUE_S = 60.0
#: How often a waiting thread looks whether the node is still there.
_LOOK_S = 1.0


class Watch(Protocol):
    """What a waiting job asks of its session."""

    def look(self) -> None:
        """Give the node up when it has stopped answering."""

    def expect_end_by(self, limit: float) -> None:
        """Give the node up when the end of a job is overdue."""

    def send_cancel(self, number: int) -> None:
        """Ask the runner to end a job."""


class RunningJob:
    """A job that was sent to the runner."""

    def __init__(self, session: Watch, number: int, deadline_s: float) -> None:
        self._session = session
        self._number = number
        self._sent = time.monotonic()
        self._limit = self._sent + deadline_s + GRACE_S
        self._changed = threading.Condition()
        self._started = self._ready = self._cancelled = False
        self._ended: Ended | None = None
        self._error: TransportError | None = None
        self.duration_s = 0.0

    def ready(self, timeout_s: float) -> bool:
        """Wait for its port: True listens, False ended before; TimeoutError when neither."""
        until = time.monotonic() + timeout_s
        while not self._settled(lambda: self._ready, until):
            if time.monotonic() >= until:
                raise TimeoutError(f"not ready within {timeout_s:g} s")
        if not self._ready and self._error is not None:
            raise self._error.with_traceback(None)
        return self._ready

    def wait(self) -> Outcome:
        """Wait for its end; TransportError of kind `lost` when the node is gone."""
        ended = self.wait_raw()
        return Outcome(
            end=ended.why,
            status=ended.status,
            stdout=decoded(ended.stdout),
            stderr=decoded(ended.stderr),
            truncated=ended.cut,
            duration_s=self.duration_s,
        )

    def wait_raw(self) -> Ended:
        """Wait for its end and return it as it came."""
        while not self._settled(lambda: False, self._limit + OVERDUE_S):
            self._session.expect_end_by(self._limit)
        if self._ended is None:
            assert self._error is not None
            raise self._error.with_traceback(None)
        return self._ended

    def cancel(self) -> None:
        """Let it be ended: TERM, after 2 s KILL."""
        with self._changed:
            asked, self._cancelled = self._cancelled, True
            self._limit = min(self._limit, time.monotonic() + GRACE_S)
            # Before its start the runner could not tell the job from a shell that prepares it.
            due = self._started and not asked and self._ended is None
        if due:
            self._session.send_cancel(self._number)

    def on(self, event: Started | Ready | Ended) -> bool:
        """Take an event of the runner; True when a cancel that waited for the start is due."""
        with self._changed:
            if isinstance(event, Started):
                self._started = True
            elif isinstance(event, Ready):
                self._ready = True
            else:
                self._ended = event
                self.duration_s = time.monotonic() - self._sent
            self._changed.notify_all()
            return isinstance(event, Started) and self._cancelled

    def lose(self, error: TransportError) -> None:
        """Let everyone who waits know that the node is gone."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    def _settled(self, enough: Callable[[], bool], until: float) -> bool:
        """Wait a moment for the end or for what is `enough`; watch that the node is there."""
        self._session.look()
        pause = max(0.0, min(_LOOK_S, until - time.monotonic()))
        with self._changed:
            return self._changed.wait_for(
                lambda: enough() or self._ended is not None or self._error is not None, pause
            )
