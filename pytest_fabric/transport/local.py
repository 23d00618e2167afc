"""Sessions on this machine: the same node runner, in a shell that we start."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import runner
from pytest_fabric.transport.client import Audit, NodeSession
from pytest_fabric.transport.endpoint import Endpoint
from pytest_fabric.transport.jobs import CAP_BYTES, Outcome
from pytest_fabric.transport.sections import decoded

#: The shell of a machine under load starts within this time.
_HELLO_S = 15.0
_CHUNK = 2**16


class LocalWire:
    """The runner's standard input and output."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us; the runner ends when its input does
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._coming = select.poll()
        self._coming.register(self._output, select.POLLIN)

    def read(self) -> bytes | None:
        """Return what came; b"" at the end, None when nothing came for a second."""
        if not self._coming.poll(1000):
            return None
        data = os.read(self._output.fileno(), _CHUNK)
        if not data:
            self._output.close()
        return data

    def write(self, data: bytes) -> None:
        """Send all of it; OSError when the runner has ended."""
        if self._input.closed:
            raise BrokenPipeError("the node runner has ended")
        view = memoryview(data)
        while view:
            view = view[os.write(self._input.fileno(), view) :]

    def stalled(self) -> str | None:
        """Return nothing: a pipe has no other side that could be lost."""
        return None

    def ended(self) -> str:
        """Return why the stream is at its end."""
        return f"exit status {self._process.wait()} of the node runner"

    def shell(self, command: str, deadline_s: float) -> Outcome:
        """Run a command in `sh`."""
        started = time.monotonic()
        with subprocess.Popen(
            ["sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            end = "exit"
            try:
                stdout, stderr = process.communicate(timeout=deadline_s)
            except subprocess.TimeoutExpired:
                _kill_group(process)
                end = "deadline"
                stdout, stderr = process.communicate()
        status = process.returncode
        return Outcome(
            end=end,
            status=status if status >= 0 else 128 - status,
            stdout=decoded(stdout[:CAP_BYTES]),
            stderr=decoded(stderr[:CAP_BYTES]),
            truncated=max(len(stdout), len(stderr)) > CAP_BYTES,
            duration_s=time.monotonic() - started,
        )

    def finish(self) -> None:
        """Let the runner's standard input end."""
        self._input.close()

    def close(self) -> None:
        """End the runner, at once."""
        self._input.close()
        if self._process.poll() is None:
            _kill_group(self._process)
        self._process.wait()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
        os.killpg(process.pid, signal.SIGKILL)


def open_session(
    endpoint: Endpoint, holder: str, audit: Audit, shell: Sequence[str] = ("sh",)
) -> NodeSession:
    """Start a runner in a shell of this machine; TransportError when it does not come up."""
    token = runner.new_token()
    try:
        wire = LocalWire([*shell, *runner.words(token, endpoint.path, holder)])
    except OSError as error:
        message = f"{shell[0]} cannot be started ({error.strerror})"
        raise TransportError(endpoint.node, "no_shell", message) from error
    session = NodeSession(endpoint.node, token, wire, audit)
    session.open(_HELLO_S)
    return session
