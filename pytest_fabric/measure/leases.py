"""Waiting for ports that somebody else measures: try again later, tell it in the end."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace

from pytest_fabric.measure.dispatch import Again
from pytest_fabric.results import Attempt, Failure, Measurement

#: A lease that is held is tried again after this long, in seconds; at random, so that two runs that
#: wait for each other do not keep meeting.
PAUSE_S = (0.2, 2.0)


@dataclass(frozen=True)
class Wait:
    """Since when a measurement waits for a lease, and who held it."""

    since: float
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
        self._waits[key] = replace(wait, attempts=(*wait.attempts, *fresh))
        return None if now - wait.since >= self._patience_s else Again(random.uniform(*PAUSE_S))

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
