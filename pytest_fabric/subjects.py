"""What free-form tests hold: a pair to measure on, and a shell on a node."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pytest_fabric.declare import Declaration
from pytest_fabric.errors import MeasurementError
from pytest_fabric.judge.views import PairResult
from pytest_fabric.results import Pair
from pytest_fabric.transport import Outcome

#: A user's own command may take this long unless they say otherwise.
SHELL_S = 60.0


@dataclass(frozen=True)
class MeasurablePair:
    """A pair of ports; `measure` makes a measurement on it and returns its result."""

    pair: Pair
    _measure: Callable[[Declaration], PairResult]

    def __str__(self) -> str:
        return str(self.pair)

    def measure(self, declaration: Declaration) -> PairResult:
        """Return the result of a measurement, made now if the run does not have it yet."""
        if declaration.over != "pair":
            raise MeasurementError(
                str(self.pair), "declaration", f"expected a pair tool, found {declaration.tool}"
            )
        return self._measure(declaration)


class Shell(Protocol):
    """A node that takes a user's own commands."""

    @property
    def node(self) -> str:
        """Return the node's name in the inventory."""

    def shell(self, command: str, deadline_s: float) -> Outcome:
        """Run a command in the user's log-in shell."""


@dataclass(frozen=True)
class NodeShell:
    """A shell on a node, for a user's own commands: they are in the audit log and theirs to mind.

    Arguments fill the `%s` of the command, quoted: `ssh.run("ls -l -- %s", path)`.
    """

    session: Shell

    def run(self, command: str, *words: str, deadline_s: float = SHELL_S) -> Outcome:
        """Return how a command ended, whatever its exit status. Raises TransportError."""
        line = command % tuple(shlex.quote(word) for word in words) if words else command
        return self.session.shell(line, deadline_s)

    def check_output(self, command: str, *words: str, deadline_s: float = SHELL_S) -> str:
        """Return what a command printed. Raises MeasurementError unless it exits with 0."""
        outcome = self.run(command, *words, deadline_s=deadline_s)
        if outcome.end != "exit" or outcome.status != 0:
            found = f"status {outcome.status}" if outcome.end == "exit" else outcome.end
            raise MeasurementError(
                self.session.node,
                "command",
                f"{command!r}: expected status 0, found {found}: {outcome.stderr.strip()[:200]}",
            )
        return outcome.stdout.rstrip("\n")
