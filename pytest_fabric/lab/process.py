"""A program that runs on a lab node: it may listen, it ends once, it can be killed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

TERM = 15


@dataclass(frozen=True)
class Result:
    """What a program leaves behind; the streams may hold surrogates for undecodable bytes."""

    status: int = 0
    stdout: str = ""
    stderr: str = ""


class Process:
    """A running program; all calls are made under the fabric's lock."""

    def __init__(self) -> None:
        self.result: Result | None = None
        self.listening = False
        self._ended: list[Callable[[Result], None]] = []
        self._listened: list[Callable[[], None]] = []

    def when_ended(self, call: Callable[[Result], None]) -> None:
        """Call with the result when the program ends, at once if it has ended."""
        if self.result is not None:
            call(self.result)
        else:
            self._ended.append(call)

    def when_listening(self, call: Callable[[], None]) -> None:
        """Call when the program listens on its port, at once if it does."""
        if self.listening:
            call()
        else:
            self._listened.append(call)

    def listen(self) -> None:
        """Note that the program's port is open."""
        self.listening = True
        for call in self._listened:
            call()

    def end(self, result: Result) -> None:
        """End with a result; whatever ends it later changes nothing."""
        if self.result is not None:
            return
        self.result = result
        self.released()
        for call in self._ended:
            call(result)

    def kill(self, signal: int = TERM) -> None:
        """End by a signal; what was written and not flushed is lost, as through a pipe."""
        self.end(Result(128 + signal))

    def released(self) -> None:
        """Give back what the program held; called once, when it ends."""


def ended(result: Result) -> Process:
    """Return a program that has already ended."""
    process = Process()
    process.end(result)
    return process
