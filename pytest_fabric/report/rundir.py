"""The run directory: the record of a run, written as things happen by one process.

run.json             what the run is: without it, a directory is not a run's
plan.json            what was to be measured
facts/NODE.json      what was read from each node
readings/T-NODE.json what a node said about a topic T, where a test asked for it
measurements.jsonl   one line per measurement
raw/N.txt            what the tools of one measurement printed, verbatim, stream by stream
verdicts.jsonl       one line per check and target
followup.jsonl       one line per pair that --fabric-localise measured, and why
audit.jsonl          every command that was sent to a node
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from io import FileIO
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from pytest_fabric.errors import RecordError
from pytest_fabric.report import atomic, records
from pytest_fabric.report.about import About
from pytest_fabric.report.clean import clean, clean_line
from pytest_fabric.report.context import FILE as CONTEXT
from pytest_fabric.report.context import Context
from pytest_fabric.results import Measurement, Reading, Verdict

#: The line above each stream of a raw file; so many bytes and one more newline follow.
_HEAD = re.compile(rb"==> (\S{1,80}), ([0-9]{1,12}) bytes <==\n")


def nothing(directory: RunDirectory) -> None:
    """Begin with an empty directory."""


class RunDirectory:
    """Where one run writes; safe to use from many threads.

    Every method raises RecordError, in one line, where that cannot be done: a full disk, a folder
    that is gone.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock
        self._lock = Lock()
        self._streams: dict[str, FileIO] = {}
        self._sizes: dict[str, int] = {}
        self._numbers = itertools.count(1)
        self._lost: dict[str, None] = {}

    @classmethod
    def create(
        cls, root: Path, now: datetime, begin: Callable[[RunDirectory], None] = nothing
    ) -> RunDirectory:
        """Make `root/<YYYYmmdd-HHMMSS>/`, unique, and let `root/latest` point to it.

        `begin` fills it before anything points to it. Raises OSError as well.
        """
        root.mkdir(parents=True, exist_ok=True)
        path = _make(root, now.strftime("%Y%m%d-%H%M%S"))
        (path / "raw").mkdir()
        (path / "facts").mkdir()
        (path / "readings").mkdir()
        directory = cls(path)
        try:
            begin(directory)
        except BaseException:
            directory.close()
            raise
        _point(root / "latest", path.name)
        return directory

    @property
    def lost(self) -> list[str]:
        """Return what could not be written, and why, a line each: the first few files."""
        return list(self._lost)[:4]

    def about(self, about: About) -> None:
        """Store what the run is, whole or not at all."""
        self._store("run.json", records.dumps(about, indent=1))

    def context(self, context: Context) -> None:
        """Store what the run knows at its end, whole or not at all."""
        self._store(CONTEXT, records.dumps(context, indent=1))

    def measurement(self, measurement: Measurement) -> None:
        """Store a measurement and, apart from it, its raw text."""
        name = f"raw/{next(self._numbers):06d}.txt"
        names = dict.fromkeys(measurement.raw, name)
        line = records.measurement_line(measurement, names)
        if measurement.raw:
            self._create(name, _joined(measurement.raw))
        self._append("measurements.jsonl", line)

    def verdict(self, verdict: Verdict) -> None:
        """Store a verdict."""
        self._append("verdicts.jsonl", records.dumps(verdict))

    def followup(self, asked: object) -> None:
        """Store why a pair was measured beyond the plan, and its verdict."""
        self._append("followup.jsonl", records.dumps(asked))

    def audit(self, node: str, *commands: str) -> None:
        """Store that commands are about to be sent to `node`, one line each; the time is UTC."""
        moment = datetime.fromtimestamp(self._clock(), timezone.utc)
        head = f'{{"time": "{moment.isoformat(timespec="milliseconds")}", "node": {_quoted(node)}'
        lines = [f'{head}, "command": {_quoted(command)}}}' for command in commands]
        self._append("audit.jsonl", "\n".join(lines))

    def facts(self, node: str, facts: Mapping[str, object]) -> Path:
        """Store what was read from a node, whole or not at all, and return the file."""
        return self._store(f"facts/{safe_name(node)}.json", records.dumps(facts, indent=1))

    def reading(self, reading: Reading) -> None:
        """Store what a node says about a topic, whole or not at all."""
        name = f"readings/{reading.topic}-{safe_name(reading.node)}.json"
        self._store(name, records.dumps(reading, indent=1))

    def plan(self, plan: Sequence[object]) -> None:
        """Store what is planned: records, mappings or texts, whole or not at all."""
        self._store("plan.json", records.dumps(plan, indent=1))

    def close(self) -> None:
        """Close the files; a later write opens its file again."""
        with self._lock:
            while self._streams:
                self._streams.popitem()[1].close()

    def _store(self, name: str, text: str) -> Path:
        path = self.path / name
        with self._writing(name):
            atomic.write(path, text + "\n")
        return path

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            told = f"{self.path}: cannot write {name}: {error.strerror or error}"
            self._lost[clean_line(told)] = None
            raise RecordError(clean_line(told)) from None

    def _append(self, name: str, line: str) -> None:
        data = line.encode("utf-8") + b"\n"
        with self._lock, self._writing(name):
            stream = self._streams.get(name)
            if stream is None:
                stream = self._streams[name] = FileIO(self.path / name, "ab")
                os.fchmod(stream.fileno(), atomic.MODE)
                self._sizes[name] = os.fstat(stream.fileno()).st_size
            left = data
            try:
                while left:
                    left = left[stream.write(left) :]
            except OSError:
                # A full disk leaves no half line behind.
                os.ftruncate(stream.fileno(), self._sizes[name])
                raise
            self._sizes[name] += len(data)

    def _create(self, name: str, content: bytes) -> None:
        with self._writing(name):
            descriptor = os.open(f"{self.path}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                os.fchmod(descriptor, atomic.MODE)
                while content:
                    content = content[os.write(descriptor, content) :]
            finally:
                os.close(descriptor)


@lru_cache(maxsize=16_384)  # nearly all commands are sent again and again
def _quoted(text: str) -> str:
    return records.dumps(text)


def _joined(raw: Mapping[str, str]) -> bytes:
    """Return streams as one; only what UTF-8 cannot hold is not as the tool printed it."""
    parts = []
    for stream, text in raw.items():
        data = text.encode("utf-8", errors="replace")
        parts.append(b"==> %b, %d bytes <==\n%b\n" % (stream.encode(), len(data), data))
    return b"".join(parts)


def read_raw(path: Path) -> dict[str, str]:
    """Return the streams of a raw file by name, up to where it is whole. Raises OSError."""
    data, place = path.read_bytes(), 0
    streams: dict[str, str] = {}
    while (head := _HEAD.match(data, place)) is not None:
        place = head.end() + int(head[2]) + 1
        if place > len(data):
            break
        name, text = head[1], data[head.end() : place - 1]
        streams[name.decode(errors="replace")] = text.decode(errors="replace")
    return streams


def safe_name(node: str) -> str:
    """Return a file name of letters, digits and `-._~%` for a node, different for each node."""
    name = quote(clean(node), safe="")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    if len(name) > 200:  # a file name has at most 255 bytes
        return f"{name[:180]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return name


def _make(root: Path, name: str) -> Path:
    path, number = root / name, 1
    while True:
        try:
            path.mkdir()
        except FileExistsError:  # another run started in the same second
            number += 1
            path = root / f"{name}-{number}"
        else:
            return path


def _point(link: Path, target: str) -> None:
    if link.is_symlink() or not link.exists():
        # File systems refuse links in many ways, and no run fails for the want of a convenience.
        with contextlib.suppress(OSError):
            atomic.symlink(link, target)
