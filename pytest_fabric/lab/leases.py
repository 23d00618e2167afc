"""Exclusive leases on files, as `flock` gives them: freed when the holder's process ends."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Holder:
    """Who holds a lease: the node runner's holder, its command and process, and since when.

    Times are those of the node, which are simulated.
    """

    name: str
    command: str
    pid: int
    since: float

    def __str__(self) -> str:
        since = time.strftime("%H:%M:%S", time.gmtime(self.since))
        return f"held by lab, pid {self.pid}, since {since}: {self.command} for {self.name}"


class Leases:
    """Leases by node and file; not locked: the fabric's lock is held around every call."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], Holder] = {}

    def take(self, node: str, path: str, holder: Holder) -> Holder | None:
        """Take a lease and return None, or return who holds it."""
        present = self._held.setdefault((node, path), holder)
        return None if present is holder else present

    def free(self, node: str, path: str, holder: Holder) -> None:
        """Give a lease back; harmless when somebody else holds it."""
        if self._held.get((node, path)) is holder:
            del self._held[node, path]
