"""Jobs: what can be asked of a node, the line that asks it, and what comes back."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

#: Output kept per stream of a job; measuring tools print kilobytes.
CAP_BYTES = 10 * 2**20

_GLOB = re.compile(r"[A-Za-z0-9_./*?:@+,=\[\]-]+")
#: The name of a section of a collecting job.
SECTION = re.compile(r"[a-z0-9_-]+")
#: Words of which each stands for itself: nearly all are.
_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+(?: [A-Za-z0-9_@%+=:,./-]+)*")
#: Bytes that the runner's line-by-line reading cannot carry.
_UNSENDABLE = re.compile(r"[\0\n]")


class Glob(str):
    """A word that the node's shell expands; ValueError for anything but letters of a path."""

    __slots__ = ()

    def __new__(cls, text: str) -> Glob:
        if not _GLOB.fullmatch(text):
            raise ValueError(f"expected a path with * ? [], got {text!r}")
        return super().__new__(cls, text)


Word = str | Glob


def quoted(words: Sequence[Word]) -> str:
    """Return words as the shell takes them back; ValueError for none, a NUL or a newline."""
    return _quoted(*words)


@lru_cache(maxsize=4096, typed=True)  # counters are read with the same words again and again
def _quoted(*words: Word) -> str:
    if not words:
        raise ValueError("expected a command, got no word")
    line = " ".join(words)
    if _SAFE.fullmatch(line) and line.count(" ") == len(words) - 1:
        return line
    for word in words:
        if _UNSENDABLE.search(word):
            raise ValueError(f"expected words without NUL and newline, got {word!r}")
    return " ".join(word if isinstance(word, Glob) else shlex.quote(word) for word in words)


def _seconds(deadline_s: float) -> int:
    """Return a deadline as timeout(1) takes it: whole seconds, at least 1."""
    return max(1, math.ceil(deadline_s))


@dataclass(frozen=True)
class Job:
    """One process on a node: its words, its bounds, and what must hold while it runs.

    `lease` is a file of the node that is locked for as long as the process lives, `listen` the
    TCP port that makes it ready; `cap_bytes` counts per stream.
    """

    argv: tuple[Word, ...]
    deadline_s: float
    lease: str | None = None
    listen: int | None = None
    cap_bytes: int = CAP_BYTES

    def __post_init__(self) -> None:
        _ = self._quoted
        _require_path(self.lease)

    def command(self) -> str:
        """Return the command line that runs on the node."""
        return self._quoted

    @cached_property
    def _quoted(self) -> str:
        return quoted(self.argv)

    def request(self, number: int) -> str:
        """Return the line that asks the runner for this job."""
        return f"run {_fields(number, self)} {self._quoted}"


@dataclass(frozen=True)
class Collect:
    """Several commands one after another as one job, their outputs told apart by name.

    `lease` and `listen` as for a job: the lock is kept until the last command has ended.
    """

    sections: Mapping[str, tuple[Word, ...]]
    deadline_s: float
    lease: str | None = None
    listen: int | None = None
    cap_bytes: int = CAP_BYTES

    def __post_init__(self) -> None:
        _require_path(self.lease)
        for name in self.commands:
            if not SECTION.fullmatch(name):
                raise ValueError(f"expected a section name of [a-z0-9_-], got {name!r}")

    @cached_property
    def commands(self) -> dict[str, str]:
        """Return the command line of each section."""
        return {name: quoted(words) for name, words in self.sections.items()}

    def request(self, number: int) -> str:
        """Return the line that asks the runner for all sections."""
        sections = (f"section {name} {command}" for name, command in self.commands.items())
        return f"collect {_fields(number, self)} {' ; '.join(sections)}"


def _fields(number: int, job: Job | Collect) -> str:
    """Return what stands before the words of a request; `-` is nothing."""
    optional = ("-" if field is None else field for field in (job.lease, job.listen))
    return " ".join(map(str, (number, _seconds(job.deadline_s), job.cap_bytes, *optional)))


def _require_path(lease: str | None) -> None:
    if lease is not None and not re.fullmatch(r"/\S+", lease):
        raise ValueError(f"expected an absolute path without blanks, got {lease!r}")


@dataclass(frozen=True)
class Outcome:
    """How a job ended, and what it said.

    `end` is `exit`, `deadline`, `cancelled`, `lease` (held by somebody else; `stderr` says by
    whom), `port` (something listened before the start) or, of a section, `killed` or `cut`.
    `status` is 128 + the signal's number for a signal, and None when there is none.
    """

    end: str
    status: int | None
    stdout: str
    stderr: str
    truncated: bool
    duration_s: float


class Running(Protocol):
    """A job that was started."""

    def ready(self, timeout_s: float) -> bool:
        """Wait for its port: True listens, False ended before; TimeoutError when neither."""

    def wait(self) -> Outcome:
        """Wait for its end; TransportError of kind `lost` when the node is gone."""

    def cancel(self) -> None:
        """Let it be ended: TERM, after 2 s KILL."""

    def when_ended(self, call: Callable[[], None]) -> None:
        """Make a call that does not block, once it has ended or its node is gone."""


class Collecting(Protocol):
    """Sections that were started."""

    def ready(self, timeout_s: float) -> bool:
        """Wait for their port: True listens, False ended before; TimeoutError when neither."""

    def wait(self) -> dict[str, Outcome]:
        """Wait for them; one that was not reached ended as the job did."""

    def cancel(self) -> None:
        """Let them be ended: TERM, after 2 s KILL."""

    def when_ended(self, call: Callable[[], None]) -> None:
        """Make a call that does not block, once they have ended or their node is gone."""


class Session(Protocol):
    """A node that jobs can be sent to, from any thread."""

    @property
    def node(self) -> str:
        """Return the node's name in the inventory."""

    def start(self, job: Job) -> Running:
        """Start a job."""

    def run(self, job: Job) -> Outcome:
        """Start a job and wait for its end."""

    def begin(self, collect: Collect) -> Collecting:
        """Start the sections."""

    def collect(self, collect: Collect) -> dict[str, Outcome]:
        """Run the sections; one that was not reached ended as the job did."""

    def shell(self, command: str, deadline_s: float) -> Outcome:
        """Run a command in the user's log-in shell, on a channel of its own."""

    def close(self) -> None:
        """End what still runs, and leave the node."""
