"""Sessions over SSH: one connection per node, one channel on it for the node runner."""

from __future__ import annotations

import contextlib
import threading
import time

import paramiko

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import runner
from pytest_fabric.transport.client import Audit, NodeSession
from pytest_fabric.transport.connection import Connection, connect
from pytest_fabric.transport.endpoint import Endpoint
from pytest_fabric.transport.hops import route
from pytest_fabric.transport.jobs import CAP_BYTES, Outcome
from pytest_fabric.transport.jumps import Jumps
from pytest_fabric.transport.pacing import Pacer
from pytest_fabric.transport.sections import decoded

#: A log-in shell that loads modules from a network file system takes its time.
_HELLO_S = 15.0
#: sshd allows 10 sessions per connection (MaxSessions), and the runner has one of them.
_SHELLS = 8
_SESSION_PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8)
_CHUNK = 2**16
#: Both streams share one event, which reading one of them may clear for the other.
_PAUSE_S = 0.05

#: What paramiko raises on a connection that is gone.
_BROKEN = (OSError, EOFError, paramiko.SSHException)


class SshWire:
    """The runner's channel, and the connection that it is on."""

    def __init__(self, connection: Connection, command: str) -> None:
        self._connection = connection
        self._channel = connection.channel(command)
        self._complaints = b""
        self._shells = threading.Semaphore(_SHELLS)
        self._closed = False

    def read(self) -> bytes | None:
        """Return what came; b"" at the end, None when nothing came for a while."""
        try:
            return self._received()
        except _BROKEN:
            return b""

    def _received(self) -> bytes | None:
        self._channel.settimeout(self._connection.patience_s())
        try:
            data: bytes | None = self._channel.recv(_CHUNK)
        except TimeoutError:
            data = None
            self._connection.ask_alive()
        if self._channel.recv_stderr_ready():
            # Log-in shells complain here; unread it would stop the channel.
            self._complaints = (self._complaints + self._channel.recv_stderr(_CHUNK))[-200:]
        return data

    def write(self, data: bytes) -> None:
        """Send all of it; OSError when that cannot be done."""
        while data:
            try:
                data = data[self._channel.send(data) :]
            except TimeoutError:
                if self._closed or (reason := self.stalled()) is not None:
                    raise OSError(reason or "closed") from None
            except _BROKEN as error:
                raise OSError(self._connection.ended()) from error

    def stalled(self) -> str | None:
        """Return what is known when the node has stopped answering."""
        return self._connection.stalled()

    def ended(self) -> str:
        """Return why the stream is at its end."""
        self._channel.status_event.wait(1.0)  # it follows the end of the stream
        status = self._channel.recv_exit_status() if self._channel.exit_status_ready() else -1
        if status < 0:
            return self._connection.ended()
        lines = [line.strip() for line in decoded(self._complaints).splitlines() if line.strip()]
        told = f": {lines[-1]}" if lines else ""
        return f"exit status {status} of the node runner{told}"

    def shell(self, command: str, deadline_s: float) -> Outcome:
        """Run a command in the user's log-in shell; OSError when the node does not answer."""
        with self._shells:
            channel = self._another_channel(command)
            try:
                return self._drained(channel, deadline_s)
            except (EOFError, paramiko.SSHException) as error:
                raise OSError(self._connection.ended()) from error
            finally:
                with contextlib.suppress(*_BROKEN):  # the connection may be gone
                    channel.close()

    def _another_channel(self, command: str) -> paramiko.Channel:
        """Start a command; sshd counts a session until it has reaped it, a moment after its end."""
        for pause_s in _SESSION_PAUSES_S:
            try:
                return self._connection.channel(command)
            except OSError:
                if not self._connection.active:
                    raise
                time.sleep(pause_s)
        return self._connection.channel(command)

    def _drained(self, channel: paramiko.Channel, deadline_s: float) -> Outcome:
        """Read both streams of a command to their ends, or until the deadline."""
        started = time.monotonic()
        channel.shutdown_write()
        streams = _Streams(channel)
        end = "exit"
        while streams.flow():
            if time.monotonic() - started > deadline_s:
                end = "deadline"
                break
            self._connection.ask_alive()
            if (reason := self.stalled()) is not None:
                raise OSError(reason)
        status = channel.recv_exit_status() if channel.exit_status_ready() else -1
        if status < 0 and not self._connection.active:
            raise OSError(self._connection.ended())
        return Outcome(
            end=end,
            status=None if status < 0 else status,
            stdout=decoded(bytes(streams.stdout)),
            stderr=decoded(bytes(streams.stderr)),
            truncated=streams.cut,
            duration_s=time.monotonic() - started,
        )

    def finish(self) -> None:
        """Let the runner's standard input end."""
        with contextlib.suppress(*_BROKEN):  # then it has ended already
            self._channel.shutdown_write()

    def close(self) -> None:
        """Close the connection, at once."""
        self._closed = True
        self._connection.close()


class _Streams:
    """Both streams of a channel, read as they come, each up to the cap."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self._channel = channel
        self._came = threading.Event()
        channel.in_buffer.set_event(self._came)
        channel.in_stderr_buffer.set_event(self._came)
        self.stdout, self.stderr = bytearray(), bytearray()
        self.cut = False

    def flow(self) -> bool:
        """Take what is there, else wait a moment; False when both are at their ends."""
        channel = self._channel
        over = channel.closed or (bool(channel.eof_received) and channel.exit_status_ready())
        came = False
        if channel.recv_ready():
            came = self._keep(self.stdout, channel.recv(_CHUNK))
        if channel.recv_stderr_ready():
            came = self._keep(self.stderr, channel.recv_stderr(_CHUNK))
        if not came and not over:
            self._came.wait(_PAUSE_S)
        return came or not over

    def _keep(self, stream: bytearray, data: bytes) -> bool:
        room = CAP_BYTES - len(stream)
        stream += data[:room]
        self.cut = self.cut or len(data) > room
        return True


class Logins:
    """Log-ins of a run: paced at each place, and one per jump host whatever is behind it."""

    def __init__(self, holder: str, audit: Audit) -> None:
        self._holder = holder
        self._audit = audit
        self._pacer = Pacer()
        self._jumps = Jumps(self._pacer)

    def session(self, endpoint: Endpoint) -> NodeSession:
        """Log in at a node and start its runner; TransportError says what failed, and where."""
        *before, hop = route(endpoint)
        try:
            over = self._jumps.reach(tuple(before))
        except TransportError as error:
            raise TransportError(endpoint.node, error.kind, f"jump host {error}") from error
        connection = self._pacer.log_in(hop.via or hop.host, lambda: connect(hop, over))
        token = runner.new_token()
        try:
            wire = SshWire(connection, runner.command(token, endpoint.path, self._holder))
        except OSError as error:
            connection.close()
            raise TransportError(hop.name, "no_shell", f"logged in, but {error}") from error
        session = NodeSession(endpoint.node, token, wire, self._audit)
        session.open(_HELLO_S)
        return session

    def close(self) -> None:
        """Leave the jump hosts."""
        self._jumps.close()
