"""The `collect` request: commands one after another, their outputs bracketed in both streams."""

from __future__ import annotations

from pytest_fabric.lab import shell
from pytest_fabric.lab.commands import start
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.commands.installed import runner_path
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.model import Node
from pytest_fabric.lab.process import Process, Result


class Sections(Process):
    """All sections of one request; killed, it leaves what it has come to."""

    def __init__(
        self, fabric: Fabric, node: Node, token: str, commands: list[list[shell.Word]]
    ) -> None:
        super().__init__()
        self._fabric = fabric
        self._node = node
        self._token = token
        self._left = commands
        self._out = ""
        self._err = ""
        self._current: Process | None = None
        self._next()

    def kill(self, signal: int = 15) -> None:
        """End the present section's command, and with it the request."""
        self.end(Result(128 + signal, self._out, self._err))
        if self._current is not None:
            self._current.kill(signal)

    def _next(self) -> None:
        """Run sections until one takes its time, or none is left."""
        while self.result is None:
            self._current = self._section()
            if self._current is None:
                return
            if self._current.result is None:
                self._current.when_ended(self._resume)
                return
            self._add(self._current.result)

    def _section(self) -> Process | None:
        """Start the next section; None, and the request is over, when there is none."""
        if not self._left:
            self.end(Result(0, self._out, self._err))
            return None
        command = self._left.pop(0)
        if len(command) < 3 or command[0].text != "section":
            self.end(Result(2, self._out, self._err + "sh: 1: expected: section NAME WORDS\n"))
            return None
        mark = f"\n{self._token} section {command[1].text}\n"
        self._out += mark
        self._err += mark
        view = self._fabric.view(self._node)
        argv = shell.expand(command[2:], view)
        path = runner_path(self._node)
        process = start(Call(self._fabric, self._node, argv, view, path=path))
        process.when_listening(self.listen)
        return process

    def _resume(self, result: Result) -> None:
        if self.result is None:
            self._add(result)
            self._next()

    def _add(self, result: Result) -> None:
        self._out += f"{result.stdout}\n{self._token} status {result.status}\n"
        self._err += result.stderr
