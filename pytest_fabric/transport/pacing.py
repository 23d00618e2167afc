"""Pacing of log-ins: sshd drops new ones at random when too many are under way."""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

from pytest_fabric.errors import TransportError

T = TypeVar("T")

#: sshd starts dropping at 10 unauthenticated connections (MaxStartups 10:30:100), whoever made
#: them; two places are left for others.
AT_ONCE = 8
#: Pauses before the next try, in seconds, each stretched or shortened by up to a half.
PAUSES_S = (0.25, 0.5, 1.0, 2.0)


class Pacer:
    """Lets a bounded number of log-ins at one place be under way, and tries dropped ones again."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._slots: defaultdict[str, threading.Semaphore] = defaultdict(
            lambda: threading.Semaphore(at_once)
        )
        self._lock = threading.Lock()

    def log_in(self, place: str, attempt: Callable[[], T]) -> T:
        """Return what an attempt returns; one that is dropped at the banner is made again."""
        with self._lock:
            slot = self._slots[place]
        started = time.monotonic()
        for pause_s in (*PAUSES_S, None):
            try:
                with slot:
                    return attempt()
            except TransportError as error:
                if error.kind != "banner" or pause_s is None:
                    raise self._in_the_end(error, time.monotonic() - started) from error
            time.sleep(pause_s * random.uniform(0.5, 1.5))
        raise AssertionError("the last attempt returns or raises")

    def _in_the_end(self, error: TransportError, seconds: float) -> TransportError:
        if error.kind != "banner":
            return error
        told = str(error).removeprefix(f"{error.node}: ")
        message = (
            f"{told}, {len(PAUSES_S) + 1} times in {seconds:.0f} s; its sshd drops log-ins "
            "(MaxStartups 10:30:100) or is stopped behind a port forward"
        )
        return TransportError(error.node, "banner", message)
