"""Waiting for ports that somebody else measures: try again later, tell it in the end."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace

from pytest_fabric.measure.dispatch import Again
from pytest_fabric.results import Attempt, Failure, Measurement

#: Pauses before a lease that is held is tried again, in seconds: the first, doubled each time, up
#: to the longest. Each is cut at random, so that two runs that wait for each other do not keep
#: meeting.
PAUSE_S, LONGEST_S = 0.1, 2.0


@dataclass(frozen=True)
class Wait:
    """Since when a measurement waits for a lease, and who held it."""

    since: float
    tries: int = 0
    attempts: tuple[Attempt, ...] = ()


class LeaseWaits:
    """The measurements that wait for a lease; `patience_s` is how long each of them does."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._waits: dict[str, Wait] = {}

    def again(self, key: str, record: Measurement) -> Again | None:
        """Return when to try again what a lease has kept from starting; None for all else."""
        if record.error is None or record.error.kind != "lease":
            return None
        now = time.monotonic()
        wait = self._waits.get(key, Wait(now))
        # The same holder again tells nothing new.
        known = {attempt.outcome for attempt in wait.attempts}
        fresh = tuple(a for a in record.attempts if a.outcome not in known)
        attempts = (*wait.attempts, *fresh)
        self._waits[key] = replace(wait, tries=wait.tries + 1, attempts=attempts)
        if now - wait.since >= self._patience_s:
            return None
        pause = min(LONGEST_S, PAUSE_S * 2**wait.tries)
        return Again(pause * random.uniform(0.3, 1.0))

    def told(self, key: str, record: Measurement) -> Measurement:
        """Return the record of a measurement that waits no longer, with what it has met."""
        wait = self._waits.pop(key, None)
        if wait is None:
            return record
        error = record.error
        if error is not None and error.kind == "lease":
            seconds = time.monotonic() - wait.since
            error = Failure("lease", f"{error.message}; waited {seconds:.0f} s")
            return replace(record, attempts=wait.attempts, error=error)
        return replace(record, attempts=(*wait.attempts, *record.attempts))
