"""What is left to do when a measurement is over, kept out of the way of what goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: The ports are free then, and what starts on them goes first: its beginning costs time on a NIC,
#: the record of what is over does not.
SETTLE_S = 0.1


class Books:
    """Lets one thread at a time work on records: all at once they would only hold each other up."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Work on the record with the ports still in hand: what is next on them depends on it."""
        with self.lock:
            yield

    @contextmanager
    def after(self, free: Callable[[bool], bool]) -> Iterator[None]:
        """Give the ports back, and work on the record when others have started on them."""
        if free(True):
            time.sleep(SETTLE_S)
        with self.lock:
            yield
