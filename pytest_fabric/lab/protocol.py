"""The node runner's protocol, spoken natively: requests are lines, answers are framed results.

A request is `run ID DEADLINE CAP LEASE PORT WORDS...`, `collect` with the same fields and
`section NAME WORDS... ; ...`, or `cancel ID`. An answer is a line `TOKEN hello|ready|end ...`;
`end` carries why, the exit status, and as many bytes of both streams as it says.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from pytest_fabric.lab import shell
from pytest_fabric.lab.commands import start
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.commands.installed import runner_path
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.leases import Holder
from pytest_fabric.lab.model import Node
from pytest_fabric.lab.process import Process, Result, ended
from pytest_fabric.lab.sections import Sections

#: The word that tells a node runner from any other command; three more words follow it.
PROGRAM = "pytest-fabric-runner"

_FIELDS = re.compile(
    r"(?P<ident>\d+) (?P<deadline>\d+) (?P<cap>\d+) (?P<lease>\S+) (?P<port>\d+|-) "
    r"(?P<words>\S.*)"
)

#: Exit status of a job that its deadline ended, as `timeout` gives it.
TIMED_OUT = 124


@dataclass(frozen=True)
class Greeting:
    """What the controller started the runner with."""

    token: str
    path: str
    holder: str


def greeting(command: str) -> Greeting | None:
    """Return the runner's parameters when a command starts a runner, else None."""
    start = command.rfind(PROGRAM)
    try:
        words = shlex.split(command[max(0, start) :])  # the script before it has thousands of words
    except ValueError:
        return None
    return Greeting(*words[1:]) if len(words) == 4 and words[0] == PROGRAM else None


@dataclass
class Job:
    """One job of a runner, and why it ends: by itself, unless something else comes first."""

    process: Process
    why: str = "exit"


class Runner:
    """One node runner; `send` takes whole frames and does not block."""

    def __init__(
        self, fabric: Fabric, node: Node, given: Greeting, send: Callable[[bytes], None]
    ) -> None:
        self._fabric = fabric
        self._name = node.name
        self._given = given
        self._send = send
        self._rest = b""
        self._answers: list[bytes] | None = None
        self._jobs: dict[str, Job] = {}
        self._pid = fabric.pid()
        self._frame(f"hello {self._pid}")

    @property
    def _node(self) -> Node:
        """Return the node as it is now: faults come and go while a runner lives."""
        return self._fabric.nodes[self._name]

    def feed(self, data: bytes) -> None:
        """Take what came in; whole lines are carried out, in order."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        with self._fabric.lock:
            self._answers = []
            for line in lines:
                self._request(line.decode("utf-8", "replace"))
            answers, self._answers = self._answers, None
            for frame in answers:
                self._send(frame)

    def close(self) -> None:
        """End every job: the controller has gone."""
        with self._fabric.lock:
            for job in list(self._jobs.values()):
                job.process.kill()

    def _request(self, line: str) -> None:
        kind, _, rest = line.partition(" ")
        fields = _FIELDS.fullmatch(rest)
        if kind == "cancel":
            self._stop(rest.strip(), "cancelled")
        elif kind in ("run", "collect") and fields is not None:
            self._run(kind, **fields.groupdict())
        else:
            message = f"pytest-fabric-runner: cannot understand {line[:80]!r}\n"
            self._end(rest.partition(" ")[0] or "-", "exit", Result(2, stderr=message), str(2**16))

    def _run(
        self,
        kind: str,
        ident: str,
        deadline: str,
        cap: str,
        lease: str,
        port: str,
        words: str,
    ) -> None:
        node, fabric = self._node, self._fabric
        if port != "-" and fabric.network.is_listening(node.name, int(port)):
            self._end(ident, "port", Result(), cap)
            return
        holder = Holder(self._given.holder, words, fabric.pid(), fabric.clock.wall())
        if lease != "-":
            present = fabric.leases.take(node.name, lease, holder)
            if present is not None:
                self._end(ident, "lease", Result(stderr=f"{lease} is {present}\n"), cap)
                return
        process = self._process(kind, words, lease)
        process.when_ended(lambda _: fabric.leases.free(node.name, lease, holder))
        self._launch(ident, deadline, cap, process)
        if port != "-" and process.result is None:
            process.when_listening(lambda: self._frame(f"ready {ident}"))

    def _process(self, kind: str, words: str, lease: str) -> Process:
        """Start what a job is, or what fails before it: its lease file, its words."""
        view = self._fabric.view(self._node)
        if lease != "-" and not view.exists(lease):
            message = f"pytest-fabric: cannot open {lease}, so no lease can be taken\n"
            return ended(Result(126, stderr=message))
        try:
            commands = shell.parse(words)
        except shell.ShellError as error:
            return ended(Result(2, stderr=f"sh: 1: {error}\n"))
        if kind == "collect":
            return Sections(self._fabric, self._node, self._given.token, commands)
        if len(commands) != 1:
            return ended(Result(2, stderr="sh: 1: expected one command\n"))
        argv = shell.expand(commands[0], view)
        return start(Call(self._fabric, self._node, argv, view, path=runner_path(self._node)))

    def _launch(self, ident: str, deadline: str, cap: str, process: Process) -> None:
        job = Job(process)
        self._jobs[ident] = job
        timer = self._fabric.clock.after(int(deadline), lambda: self._late(ident))

        def finish(result: Result) -> None:
            timer.cancel()
            self._jobs.pop(ident, None)
            self._end(ident, job.why, result, cap)

        process.when_ended(finish)

    def _late(self, ident: str) -> None:
        with self._fabric.lock:
            self._stop(ident, "deadline")

    def _stop(self, ident: str, why: str) -> None:
        job = self._jobs.get(ident)
        if job is not None:
            job.why = why
            job.process.kill()

    def _end(self, ident: str, why: str, result: Result, cap: str) -> None:
        """Send the result of a job; one whose lease or port is taken never had a status."""
        out, err = (
            stream.encode("utf-8", "surrogateescape") for stream in (result.stdout, result.stderr)
        )
        status = str(TIMED_OUT if why == "deadline" else result.status)
        status = "-" if why in ("lease", "port") else status
        most = int(cap)
        cut = int(len(out) > most or len(err) > most)
        out, err = out[:most], err[:most]
        self._frame(f"end {ident} {why} {status} {len(out)} {len(err)} {cut}", out + err)

    def _frame(self, header: str, payload: bytes = b"") -> None:
        """Send a frame; what is answered within one `feed` goes out at its end, together."""
        frame = f"{self._given.token} {header}\n".encode() + payload
        if self._answers is None:
            self._send(frame)
        else:
            self._answers.append(frame)
