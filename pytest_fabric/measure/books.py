"""What is left to do when a measurement is over, kept out of the way of what goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: The ports are free then, and what starts on them goes first: its beginning costs time on a NIC,
#: the record of what is over does not. So it waits until no pair has started for SETTLE_S, and for
#: LONGEST_S at most.
SETTLE_S, LONGEST_S = 0.1, 1.0


class Books:
    """Lets one thread at a time work on records: all at once they would only hold each other up."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._started = 0.0

    def note_start(self) -> None:
        """Note that the traffic of a pair starts now."""
        self._started = time.monotonic()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Work on the record with the ports still in hand: what is next on them depends on it."""
        with self.lock:
            yield

    @contextmanager
    def after(self, free: Callable[[bool], bool]) -> Iterator[None]:
        """Give the ports back, and work on the record when others have started on them."""
        if free(True):
            self._let_start(time.monotonic())
        with self.lock:
            yield

    def _let_start(self, now: float) -> None:
        until, longest = now + SETTLE_S, now + LONGEST_S
        while now < until:
            time.sleep(until - now)
            now, until = time.monotonic(), min(self._started + SETTLE_S, longest)
