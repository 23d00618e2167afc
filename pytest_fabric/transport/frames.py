"""Frames of the node runner: bytes in, in any cut, events out; noise between them is dropped."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: A frame larger than this was never announced by the runner, whatever the line looks like.
_MAX_BYTES = 2**30
#: Longer than any header; what is kept of noise that may hold the beginning of one.
_MAX_HEADER = 160


@dataclass(frozen=True)
class Hello:
    """The runner is there; `pid` is its process."""

    pid: int


@dataclass(frozen=True)
class Ready:
    """The port of a job listens."""

    job: int


@dataclass(frozen=True)
class Ended:
    """A job is over: why, with which status, and its two streams; `cut` says that more was said."""

    job: int
    why: str
    status: int | None
    stdout: bytes
    stderr: bytes
    cut: bool


Event = Hello | Ready | Ended

_ENDS = b"exit|deadline|cancelled|lease|port"


class Decoder:
    """Turns the runner's stream into events; until the hello of its token everything is noise."""

    def __init__(self, token: str) -> None:
        mark = re.escape(token.encode())
        self._mark = token.encode()
        self._hello = re.compile(mark + rb" hello (\d{1,10})\r?\n")
        self._header = re.compile(
            mark + rb" (?:ready (\d{1,10})"
            rb"|end (\d{1,10}) (" + _ENDS + rb") (\d{1,3}|-) (\d{1,10}) (\d{1,10}) ([01]))\n"
        )
        self._buffer = bytearray()
        self._greeted = False
        self._wanted = 0  # bytes that complete the frame whose header was read
        self._head: tuple[bytes, ...] | None = None

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that these bytes complete."""
        self._buffer += data
        events = []
        while (event := self._next()) is not None:
            events.append(event)
        return events

    def noise(self) -> str:
        """Return the end of what came instead of a frame, for a message."""
        return self._buffer[-_MAX_HEADER:].decode("utf-8", "replace").strip()

    def _next(self) -> Event | None:
        if self._head is not None:
            return self._ended(self._head) if len(self._buffer) >= self._wanted else None
        pattern = self._header if self._greeted else self._hello
        found = pattern.search(self._buffer)
        if found is None:
            self._forget()
            return None
        # A match looks into the buffer: take the groups before it changes.
        fields = tuple(bytes(group or b"") for group in found.groups())
        del self._buffer[: found.end()]
        return self._event(fields)

    def _event(self, fields: tuple[bytes, ...]) -> Event | None:
        if not self._greeted:
            self._greeted = True
            return Hello(int(fields[0]))
        ready, *ended = fields
        if ready:
            return Ready(int(ready))
        self._wanted = int(ended[3]) + int(ended[4])
        self._head = tuple(ended) if self._wanted <= _MAX_BYTES else None
        return self._next()

    def _ended(self, head: tuple[bytes, ...]) -> Ended:
        job, why, status, middle, _, cut = head
        stdout = bytes(self._buffer[: int(middle)])
        stderr = bytes(self._buffer[int(middle) : self._wanted])
        del self._buffer[: self._wanted]
        self._head = None
        return Ended(
            job=int(job),
            why=why.decode(),
            status=None if status == b"-" else int(status),
            stdout=stdout,
            stderr=stderr,
            cut=cut == b"1",
        )

    def _forget(self) -> None:
        """Drop noise, but not the beginning of a header that is still coming."""
        mark = self._buffer.rfind(self._mark)
        if mark >= 0 and len(self._buffer) - mark < _MAX_HEADER:
            del self._buffer[:mark]
        elif len(self._buffer) > _MAX_HEADER:
            del self._buffer[:-_MAX_HEADER]
