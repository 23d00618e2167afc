"""A job that was sent to a node runner, as those see it who wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from pytest_fabric.errors import TransportError
from pytest_fabric.transport.frames import Ended, Ready
from pytest_fabric.transport.jobs import Outcome
from pytest_fabric.transport.sections import decoded

#: After its deadline a job has 5 s (`timeout -k 5`) to end; then its frame must come.
GRACE_S = 10.0
#: An end that is overdue while other frames still come may sit behind large ones; not for ever.
OVERDUE_S = 60.0


class Commands(Protocol):
    """What a job asks of its session."""

    def send_cancel(self, number: int) -> None:
        """Ask the runner to end a job."""


class RunningJob:
    """A job that was sent to the runner; its session watches that it ends in time.

    `limit` is when its end is overdue.
    """

    def __init__(self, session: Commands, number: int, deadline_s: float) -> None:
        self._session = session
        self._number = number
        self._sent = time.monotonic()
        self.limit = self._sent + deadline_s + GRACE_S
        self._changed = threading.Condition()
        self._ready = self._cancelled = False
        self._ended: Ended | None = None
        self._error: TransportError | None = None
        self._when_ended: list[Callable[[], None]] = []
        self.duration_s = 0.0

    def ready(self, timeout_s: float) -> bool:
        """Wait for its port: True listens, False ended before; TimeoutError when neither."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._ready or self._is_over(), timeout_s):
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
        with self._changed:
            self._changed.wait_for(self._is_over)
        if self._ended is None:
            assert self._error is not None
            raise self._error.with_traceback(None)
        return self._ended

    def cancel(self) -> None:
        """Let it be ended: TERM, after 2 s KILL."""
        with self._changed:
            asked, self._cancelled = self._cancelled, True
            self.limit = min(self.limit, time.monotonic() + GRACE_S)
            due = not asked and not self._is_over()
        if due:
            self._session.send_cancel(self._number)

    def on(self, event: Ready | Ended) -> None:
        """Take an event of the runner."""
        with self._changed:
            if isinstance(event, Ready):
                self._ready = True
            else:
                self._ended = event
                self.duration_s = time.monotonic() - self._sent
            self._changed.notify_all()
            calls = self._calls()
        for call in calls:
            call()

    def lose(self, error: TransportError) -> None:
        """Let everyone who waits know that the node is gone."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()
            calls = self._calls()
        for call in calls:
            call()

    def when_ended(self, call: Callable[[], None]) -> None:
        """Make a call that does not block, once it has ended or its node is gone."""
        with self._changed:
            self._when_ended.append(call)
            calls = self._calls()
        for each in calls:
            each()

    def _calls(self) -> list[Callable[[], None]]:
        """Return the calls that are due now, each once."""
        if not self._is_over():
            return []
        calls, self._when_ended = self._when_ended, []
        return calls

    def _is_over(self) -> bool:
        return self._ended is not None or self._error is not None
