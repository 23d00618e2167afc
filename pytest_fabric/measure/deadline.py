"""The end of a run that has been given only so much time."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Deadline:
    """Makes a call `seconds` after its start, or never for None."""

    def __init__(self, seconds: float | None, call: Callable[[], None]) -> None:
        self._timer = None if seconds is None else threading.Timer(seconds, call)

    def start(self) -> None:
        """Let the time run."""
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def cancel(self) -> None:
        """Make no call any more."""
        if self._timer is not None:
            self._timer.cancel()
