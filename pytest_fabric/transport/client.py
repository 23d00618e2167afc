"""A session with a node runner over any two byte streams."""

from __future__ import annotations

import itertools
import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from pytest_fabric.errors import TransportError
from pytest_fabric.transport.frames import Decoder, Ended, Event, Hello
from pytest_fabric.transport.jobs import Collect, Job, Outcome
from pytest_fabric.transport.running import GRACE_S, OVERDUE_S, RunningJob
from pytest_fabric.transport.sections import marks, split
from pytest_fabric.transport.wire import Wire

#: The runner ends its jobs within 2 s of TERM, and what is left of them within two more.
_CLOSE_S = 6.0
#: How often the end of jobs is looked for while data comes.
_LOOK_S = 1.0
#: Ends the group of each child of the parent of process $1 that runs `SHELL -c $2`.
_END_SHELL = (
    "read -r s </proc/$1/stat; c=$2; set -- ${s##*) }; "
    'for f in $(grep -lsE "^[0-9]+ [(].*[)] . $2 " /proc/[0-9]*/stat); do '
    "p=${f#/proc/}; p=${p%/stat}; "
    'a=$(tr "\\0\\n" "\\n " </proc/$p/cmdline | tail -n +3); '
    '[ "$a" = "$c" ] && kill -KILL -$p; done'
)


class Audit(Protocol):
    """Who is told of commands before they are sent to a node."""

    def __call__(self, node: str, /, *commands: str) -> None:
        """Take note of them."""


@dataclass(frozen=True)
class RunningCollect:
    """Sections that were sent to the runner."""

    mark: re.Pattern[str]
    collect: Collect
    running: RunningJob

    def ready(self, timeout_s: float) -> bool:
        """Wait for their port: True listens, False ended before; TimeoutError when neither."""
        return self.running.ready(timeout_s)

    def wait(self) -> dict[str, Outcome]:
        """Wait for them; one that was not reached ended as the job did."""
        return self._outcomes

    @cached_property  # both ends are waited for again when one of them is ended
    def _outcomes(self) -> dict[str, Outcome]:
        ended = self.running.wait_raw()
        return split(self.mark, ended, self.collect.sections, self.running.duration_s)

    def cancel(self) -> None:
        """Let them be ended: TERM, after 2 s KILL."""
        self.running.cancel()

    def when_ended(self, call: Callable[[], None]) -> None:
        """Make a call that does not block, once they have ended or their node is gone."""
        self.running.when_ended(call)


class NodeSession:
    """Jobs on one node; a thread reads the frames and tells each job what became of it.

    `token` begins every frame, and is in the names of the runner's files.
    """

    def __init__(self, node: str, token: str, wire: Wire, audit: Audit) -> None:
        self.node = node
        self.token = token
        self._mark = marks(token)
        self._wire = wire
        self._audit = audit
        self._decoder = Decoder(token)
        self._numbers = itertools.count(1)
        self._jobs: dict[int, RunningJob] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._greeted = threading.Event()
        self._error: TransportError | None = None
        self._runner = 0
        self._heard = self._looked = time.monotonic()
        self._reader = threading.Thread(target=self._read, name=f"fabric {node}", daemon=True)

    def open(self, timeout_s: float) -> None:
        """Wait for the runner's hello; TransportError of kind `no_shell` when none comes."""
        self._reader.start()
        if self._greeted.wait(timeout_s) and self._error is None:
            return
        noise = self._decoder.noise()
        told = f"; it said: {noise.splitlines()[-1]}" if noise else ""
        why = f"did not start within {timeout_s:g} s"
        if self._error is not None:
            why = f"ended ({self._wire.ended()})"
        self.close()
        raise TransportError(
            self.node,
            "no_shell",
            f"logged in, but the node runner {why}{told}; expected a log-in shell that runs `sh`",
        )

    def start(self, job: Job) -> RunningJob:
        """Start a job."""
        self._audit(self.node, job.command())
        return self._submit(job.request, job.deadline_s)

    def run(self, job: Job) -> Outcome:
        """Start a job and wait for its end; it is ended when the wait is interrupted."""
        running = self.start(job)
        try:
            return running.wait()
        except KeyboardInterrupt:
            running.cancel()
            raise

    def begin(self, collect: Collect) -> RunningCollect:
        """Start the sections."""
        self._audit(self.node, *collect.commands.values())
        running = self._submit(collect.request, collect.deadline_s)
        return RunningCollect(self._mark, collect, running)

    def collect(self, collect: Collect) -> dict[str, Outcome]:
        """Run the sections; one that was not reached ended as the job did."""
        return self.begin(collect).wait()

    def shell(self, command: str, deadline_s: float) -> Outcome:
        """Run a command in the user's log-in shell, on a channel of its own."""
        self._audit(self.node, command)
        if self._error is not None:
            raise self._error.with_traceback(None)
        try:
            outcome = self._wire.shell(command, deadline_s)
        except OSError as error:
            raise TransportError(self.node, "lost", f"the connection is lost: {error}") from error
        if outcome.end == "deadline":
            self._end_shell(command)
        return outcome

    def _end_shell(self, command: str) -> None:
        """End a command on another channel: closing that does not, and sshd's signals not always.

        It is the process with that command line whose parent, sshd, is the runner's parent too.
        """
        words = ("sh", "-c", _END_SHELL, "sh", str(self._runner), command.replace("\n", " "))
        self._submit(Job(words, GRACE_S).request, GRACE_S).wait_raw()

    @property
    def is_lost(self) -> bool:
        """Return whether the node can no longer be asked."""
        return self._error is not None

    def close(self) -> None:
        """End what still runs, and leave the node."""
        self._lose("the session was closed", finish=True)
        if self._reader.is_alive():
            self._reader.join(_CLOSE_S)
        self._wire.close()
        if self._reader.ident is not None:
            self._reader.join()

    def send_cancel(self, number: int) -> None:
        """Ask the runner to end a job."""
        self._send(f"cancel {number}\n")

    def _submit(self, request: Callable[[int], str], deadline_s: float) -> RunningJob:
        with self._lock:
            if self._error is not None:
                raise self._error.with_traceback(None)
            number = next(self._numbers)
            running = self._jobs[number] = RunningJob(self, number, deadline_s)
        self._send(request(number) + "\n")
        return running

    def _send(self, line: str) -> None:
        """Send a line; those of other threads that wait for their turn travel with it."""
        self._lines.append(line.encode("utf-8", "surrogateescape"))
        try:
            with self._writing:
                # Empty when another thread has sent ours; when it could not, it told our job.
                if data := b"".join(self._taken()):
                    self._wire.write(data)
        except OSError as error:
            self._lose(str(error) or "the connection ended")

    def _taken(self) -> Iterator[bytes]:
        while self._lines:
            yield self._lines.popleft()

    def _read(self) -> None:
        try:
            while (data := self._wire.read()) != b"":
                self._look(quiet=data is None)
                if data is not None:
                    self._heard = time.monotonic()
                    for event in self._decoder.feed(data):
                        self._dispatch(event)
        finally:  # whatever happened, nobody may wait for ever
            self._lose(self._wire.ended())
            self._greeted.set()

    def _look(self, quiet: bool) -> None:
        """Give the node up when it has stopped answering, or when the end of a job is overdue."""
        now = time.monotonic()
        if not quiet and now - self._looked < _LOOK_S:
            return
        self._looked = now
        reason = self._wire.stalled() if quiet else None
        with self._lock:
            first = min((job.limit for job in self._jobs.values()), default=math.inf)
        if now > first + (0 if now - self._heard > GRACE_S / 2 else OVERDUE_S):
            reason = reason or "the node runner did not report the end of a job"
        if reason is not None:
            self._lose(reason)
            self._wire.close()

    def _dispatch(self, event: Event) -> None:
        if isinstance(event, Hello):
            self._runner = event.pid
            self._greeted.set()
            return
        with self._lock:
            ended = isinstance(event, Ended)
            running = self._jobs.pop(event.job, None) if ended else self._jobs.get(event.job)
        if running is not None:
            running.on(event)

    def _lose(self, reason: str, finish: bool = False) -> None:
        error = TransportError(self.node, "lost", f"the connection is lost: {reason}")
        with self._lock:
            self._error = self._error or error
            jobs = [] if finish else list(self._jobs.values())
        if finish:
            self._wire.finish()
        for running in jobs:
            running.lose(self._error)
