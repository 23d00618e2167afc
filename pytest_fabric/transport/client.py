"""A session with a node runner over any two byte streams."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Protocol

from pytest_fabric.errors import TransportError
from pytest_fabric.transport.frames import Decoder, Ended, Event, Hello, Ready, Started
from pytest_fabric.transport.jobs import Collect, Job, Outcome, quoted
from pytest_fabric.transport.sections import decoded, split

#: After its deadline a job has 5 s (`timeout -k 5`) to end; then its frame must come.
GRACE_S = 10.0
#: An end that is overdue while other frames still come may sit behind large ones; not for ever.
_OVERDUE_S = 60.0
#: How often a waiting thread looks whether the node is still there.
_LOOK_S = 1.0
#: The runner ends its jobs within 2 s of TERM, and what is left of them within two more.
_CLOSE_S = 6.0
#: Ends the group of each child of the parent of process $1 that runs `SHELL -c $2`.
_END_SHELL = (
    "read -r s </proc/$1/stat; c=$2; set -- ${s##*) }; "
    'for f in $(grep -lsE "^[0-9]+ [(].*[)] . $2 " /proc/[0-9]*/stat); do '
    "p=${f#/proc/}; p=${p%/stat}; "
    'a=$(tr "\\0\\n" "\\n " </proc/$p/cmdline | tail -n +3); '
    '[ "$a" = "$c" ] && kill -KILL -$p; done'
)

Audit = Callable[[str, str], None]


class Wire(Protocol):
    """The two byte streams of a runner, and what a connection offers besides."""

    def read(self) -> bytes | None:
        """Return what came; b"" at the end, None when nothing came for a second."""

    def write(self, data: bytes) -> None:
        """Send all of it; OSError when that cannot be done."""

    def stalled(self) -> str | None:
        """Return what is known when the other side has stopped answering."""

    def ended(self) -> str:
        """Return why the stream is at its end."""

    def shell(self, command: str, deadline_s: float) -> Outcome:
        """Run a command in the user's log-in shell."""

    def finish(self) -> None:
        """Let the runner's standard input end."""

    def close(self) -> None:
        """Release everything, at once."""


class RunningJob:
    """A job that was sent to the runner."""

    def __init__(self, session: NodeSession, number: int, deadline_s: float) -> None:
        self._session = session
        self._number = number
        self._sent = time.monotonic()
        self._limit = self._sent + deadline_s + GRACE_S
        self._changed = threading.Condition()
        self._started = self._ready = self._cancelled = False
        self._ended: Ended | None = None
        self._error: TransportError | None = None
        self.duration_s = 0.0

    def ready(self, timeout_s: float) -> bool:
        """Wait for its port: True listens, False ended before; TimeoutError when neither."""
        until = time.monotonic() + timeout_s
        while not self._settled(lambda: self._ready, until):
            if time.monotonic() >= until:
                raise TimeoutError(f"not ready within {timeout_s:g} s")
        if not self._ready and self._error is not None:
            raise self._error
        return self._ready

    def wait(self) -> Outcome:
        """Wait for its end; TransportError of kind `lost` when the node is gone."""
        ended = self.wait_raw()
        return Outcome(
            end=ended.why,
            status=ended.status,
            stdout=decoded(ended.stdout),
            stderr=decoded(ended.stderr),
            truncated=ended.cut,
            duration_s=self.duration_s,
        )

    def wait_raw(self) -> Ended:
        """Wait for its end and return it as it came."""
        while not self._settled(lambda: False, self._limit + _OVERDUE_S):
            self._session.expect_end_by(self._limit)
        if self._ended is None:
            assert self._error is not None
            raise self._error
        return self._ended

    def cancel(self) -> None:
        """Let it be ended: TERM, after 2 s KILL."""
        with self._changed:
            asked, self._cancelled = self._cancelled, True
            self._limit = min(self._limit, time.monotonic() + GRACE_S)
            # Before its start the runner could not tell the job from a shell that prepares it.
            due = self._started and not asked and self._ended is None
        if due:
            self._session.send_cancel(self._number)

    def on(self, event: Started | Ready | Ended) -> bool:
        """Take an event of the runner; True when a cancel that waited for the start is due."""
        with self._changed:
            if isinstance(event, Started):
                self._started = True
            elif isinstance(event, Ready):
                self._ready = True
            else:
                self._ended = event
                self.duration_s = time.monotonic() - self._sent
            self._changed.notify_all()
            return isinstance(event, Started) and self._cancelled

    def lose(self, error: TransportError) -> None:
        """Let everyone who waits know that the node is gone."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    def _settled(self, enough: Callable[[], bool], until: float) -> bool:
        """Wait a moment for the end or for what is `enough`; watch that the node is there."""
        self._session.look()
        pause = max(0.0, min(_LOOK_S, until - time.monotonic()))
        with self._changed:
            return self._changed.wait_for(
                lambda: enough() or self._ended is not None or self._error is not None, pause
            )


class NodeSession:
    """Jobs on one node; a thread reads the frames and tells each job what became of it."""

    def __init__(self, node: str, token: str, wire: Wire, audit: Audit) -> None:
        self.node = node
        self._token = token
        self._wire = wire
        self._audit = audit
        self._decoder = Decoder(token)
        self._numbers = itertools.count(1)
        self._jobs: dict[int, RunningJob] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._greeted = threading.Event()
        self._error: TransportError | None = None
        self._runner = 0
        self._heard = time.monotonic()
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

    def collect(self, collect: Collect) -> dict[str, Outcome]:
        """Run the sections; one that was not reached ended with the deadline."""
        for words in collect.sections.values():
            self._audit(self.node, quoted(words))
        running = self._submit(collect.request, collect.deadline_s)
        ended = running.wait_raw()
        return split(self._token, ended, collect.sections, running.duration_s)

    def shell(self, command: str, deadline_s: float) -> Outcome:
        """Run a command in the user's log-in shell, on a channel of its own."""
        self._audit(self.node, command)
        if self._error is not None:
            raise self._error
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

    def close(self) -> None:
        """End what still runs, and leave the node."""
        self._lose("the session was closed", finish=True)
        if self._reader.is_alive():
            self._reader.join(_CLOSE_S)
        self._wire.close()
        if self._reader.ident is not None:
            self._reader.join()

    def look(self) -> None:
        """Give the node up when it has stopped answering."""
        reason = self._wire.stalled()
        if reason is not None:
            self._lose(reason)
            self._wire.close()

    def expect_end_by(self, limit: float) -> None:
        """Give the node up when the end of a job is overdue."""
        now = time.monotonic()
        quiet = now - self._heard > GRACE_S / 2
        if now > limit + (0 if quiet else _OVERDUE_S):
            self._lose("the node runner did not report the end of a job")
            self._wire.close()

    def send_cancel(self, number: int) -> None:
        """Ask the runner to end a job."""
        self._send(f"cancel {number}\n")

    def _submit(self, request: Callable[[int], str], deadline_s: float) -> RunningJob:
        with self._lock:
            if self._error is not None:
                raise self._error
            number = next(self._numbers)
            running = self._jobs[number] = RunningJob(self, number, deadline_s)
        self._send(request(number) + "\n")
        return running

    def _send(self, line: str) -> None:
        try:
            with self._writing:
                self._wire.write(line.encode("utf-8", "surrogateescape"))
        except OSError as error:
            self._lose(str(error) or "the connection ended")

    def _read(self) -> None:
        try:
            while (data := self._wire.read()) != b"":
                if data is not None:
                    self._heard = time.monotonic()
                    for event in self._decoder.feed(data):
                        self._dispatch(event)
        finally:  # whatever happened, nobody may wait for ever
            self._lose(self._wire.ended())
            self._greeted.set()

    def _dispatch(self, event: Event) -> None:
        if isinstance(event, Hello):
            self._runner = event.pid
            self._greeted.set()
            return
        with self._lock:
            ended = isinstance(event, Ended)
            running = self._jobs.pop(event.job, None) if ended else self._jobs.get(event.job)
        if running is not None and running.on(event):
            self.send_cancel(event.job)

    def _lose(self, reason: str, finish: bool = False) -> None:
        error = TransportError(self.node, "lost", f"the connection is lost: {reason}")
        with self._lock:
            self._error = self._error or error
            jobs = [] if finish else list(self._jobs.values())
        if finish:
            self._wire.finish()
        for running in jobs:
            running.lose(self._error)
