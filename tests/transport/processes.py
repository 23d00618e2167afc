"""Looking at the processes of this machine, to see what is left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

#: Runs of these tests side by side tell what they have started apart by this end of a number.
OWN = f".{os.getpid()}"


def parents(zombies: bool = False) -> dict[int, int]:
    """Return the parent of each process; of zombies instead of the living, if asked."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if (state == "Z") is zombies:
                found[int(entry.name)] = int(parent)
    return found


def descendants(pid: int) -> list[int]:
    """Return all living processes below one, parents first."""
    tree = parents()
    found = [pid]
    for known in found:
        found += [child for child, parent in tree.items() if parent == known]
    return found[1:]


def command_of(pid: int) -> str:
    """Return the command line of a process, empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def running(*marks: str) -> list[int]:
    """Return the processes whose command line holds any of these texts, this one excepted."""
    own = os.getpid()
    return [
        pid for pid in parents() if pid != own and any(mark in command_of(pid) for mark in marks)
    ]


def switches(pid: int) -> int:
    """Return how often a process has gone to sleep and come back."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt"))


def wait_until(true: Callable[[], object], seconds: float = 5.0) -> None:
    """Wait until a function returns something true; AssertionError when it does not."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, f"not true within {seconds:g} s"
        time.sleep(0.02)
