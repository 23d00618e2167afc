"""What carries a session: the two byte streams of a node runner."""

from __future__ import annotations

from typing import Protocol

from pytest_fabric.transport.jobs import Outcome


class Wire(Protocol):
    """The two byte streams of a runner, and what a connection offers besides."""

    def read(self) -> bytes | None:
        """Return what came; b"" at the end, None when nothing came for a while, seconds at most."""

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
