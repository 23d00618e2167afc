"""One SSH connection: who may log in, and what its channels run."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable

import paramiko
from paramiko.common import (
    AUTH_FAILED,
    AUTH_SUCCESSFUL,
    OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED,
    OPEN_SUCCEEDED,
)

from pytest_fabric.lab import console, script, shell
from pytest_fabric.lab.commands import COMMANDS, SONIC, start
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.commands.id import USER
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.model import Node
from pytest_fabric.lab.process import Result
from pytest_fabric.lab.protocol import Greeting, Runner, greeting

#: How often a waiting shell looks whether its client is still there.
LOOK_S = 0.2

#: How long a slow log-in takes, in real seconds: longer than anybody waits.
SLOW_S = 60.0

#: What a log-in shows that ends before a command is run.
BANNER = (
    "*" * 70
    + "\n* This system is under maintenance until Monday. Ask the help desk. *\n"
    + "*" * 70
    + "\n"
)


class Login(paramiko.ServerInterface):
    """Lets the one key in and runs what exec channels ask for."""

    def __init__(
        self, fabric: Fabric, node: Node, key: paramiko.PKey, transport: paramiko.Transport
    ) -> None:
        self._fabric = fabric
        self._name = node.name
        self._key = key
        self._transport = transport
        self._one_at_a_time = threading.Lock()
        self._terminals: set[int] = set()

    @property
    def _node(self) -> Node:
        """Return the node as it is now: faults come and go while a connection lives."""
        return self._fabric.nodes[self._name]

    def get_allowed_auths(self, username: str) -> str:
        """Offer public keys only."""
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        """Accept the lab's user with the lab's key."""
        if self._node.ssh == "slow":
            time.sleep(SLOW_S)
        is_known = username == USER and key.asbytes() == self._key.asbytes()
        return AUTH_SUCCESSFUL if is_known else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        """Open sessions and nothing else."""
        if kind == "session":
            return OPEN_SUCCEEDED
        return OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        """Run a node runner, or a command line of the lab's shell."""
        # The key exchange is over: paramiko would cancel its timer again with each message.
        self._transport.packetizer.complete_handshake = _nothing  # type: ignore[method-assign]
        text = command.decode("utf-8", "replace")
        if self._node.ssh == "banner":
            _in_thread(lambda: self._answer(channel, Result(1, BANNER)))
            return True
        given = greeting(text)
        if given is None:
            _in_thread(lambda: self._shell(channel, text))
        else:
            _in_thread(lambda: self._runner(channel, given))
        return True

    def check_channel_pty_request(
        self,
        channel: paramiko.Channel,
        term: bytes,
        width: int,
        height: int,
        pixelwidth: int,
        pixelheight: int,
        modes: bytes,
    ) -> bool:
        """Give a person at a terminal one that echoes."""
        self._terminals.add(channel.get_id())
        return True

    def check_channel_shell_request(self, channel: paramiko.Channel) -> bool:
        """Let a person type commands, one after another."""
        has_terminal = channel.get_id() in self._terminals
        prompt = f"{USER}@{self._name}:~$ " if has_terminal else ""
        _in_thread(lambda: console.serve(channel, prompt, lambda line: self._run(channel, line)))
        return True

    def _runner(self, channel: paramiko.Channel, given: Greeting) -> None:
        frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        writer = _in_thread(lambda: _write(channel, frames))
        runner = Runner(self._fabric, self._node, given, frames.put)
        try:
            while data := channel.recv(2**16):
                runner.feed(data)
        finally:
            runner.close()
            frames.put(b"")
        writer.join()
        channel.send_exit_status(0)
        channel.close()

    def _shell(self, channel: paramiko.Channel, line: str) -> None:
        self._answer(channel, self._run(channel, line))

    def _answer(self, channel: paramiko.Channel, result: Result) -> None:
        # The answer to the exec request is sent by the transport's own thread after our check has
        # returned. A client that sees the end before that answer takes it for a lost channel; one
        # round trip through that thread makes sure of the order.
        with self._one_at_a_time:
            self._transport.global_request("keepalive@lab", wait=True)
        channel.sendall(result.stdout.encode("utf-8", "surrogateescape"))
        channel.sendall_stderr(result.stderr.encode("utf-8", "surrogateescape"))
        channel.send_exit_status(result.status)
        channel.close()

    def _run(self, channel: paramiko.Channel, line: str) -> Result:
        """Run the commands of a line one after another; the last one's status counts."""

        def run(words: list[shell.Word], stdin: str | None) -> Result:
            return Result() if channel.closed else self._wait(channel, words, stdin)

        try:
            return script.carry_out(line, run)
        except shell.ShellError as error:
            return Result(2, stderr=f"bash: line 1: {error}\n")

    def _wait(
        self, channel: paramiko.Channel, words: list[shell.Word], stdin: str | None
    ) -> Result:
        results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        with self._fabric.lock:
            view = self._fabric.view(self._node)
            argv = shell.expand(words, view)
            node = self._node
            known = SONIC if node.os == "sonic" else COMMANDS
            call = Call(self._fabric, node, argv, view, stdin=stdin, path=node.path, known=known)
            process = start(call)
            process.when_ended(results.put)
        while True:
            try:
                return results.get(timeout=LOOK_S)
            except queue.Empty:
                if channel.closed:
                    with self._fabric.lock:
                        process.kill()


def _nothing() -> None:
    pass


def _in_thread(call: Callable[[], None]) -> threading.Thread:
    """Make a call in a thread of its own; that its client goes away is no error."""

    def guarded() -> None:
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            call()

    thread = threading.Thread(target=guarded, name="lab-exec", daemon=True)
    thread.start()
    return thread


def _write(channel: paramiko.Channel, frames: queue.SimpleQueue[bytes]) -> None:
    """Send frames until an empty one comes; those that wait travel together."""
    while frame := frames.get():
        batch = [frame]
        while not frames.empty() and batch[-1]:
            batch.append(frames.get())
        channel.sendall(b"".join(batch))
        if not batch[-1]:
            return
