"""The exceptions of pytest-fabric: each is one line for the person at the keyboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class FabricError(Exception):
    """Root of every error that pytest-fabric raises on purpose; its text is one line."""


class ConfigError(FabricError):
    """`cluster.yaml` is wrong; `lines` holds one `file:line: path: expected ..., got ...` each."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class UnitError(FabricError):
    """Two quantities of different units met, or a text is no quantity of the wanted unit."""


class ToolError(FabricError):
    """A tool ran and reported an error; `kind` is a word of the table in `tools/perftest.py`.

    `before` are plain records of what the tool printed wholly before it failed.
    """

    def __init__(
        self, kind: str, message: str, before: Sequence[Mapping[str, object]] = ()
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.before = tuple(before)


class NotRecognisedError(FabricError):
    """Text that is not, or not completely, the output of the tool it is said to come from."""


class RefusedCommandError(FabricError):
    """A command that is not on the read-only allow-list was about to be sent to a node."""


class CounterError(FabricError):
    """A counter is missing, unreadable, saturated or was reset, so no growth can be said."""


class RecordError(FabricError):
    """The run directory cannot be written: what is not in it was not measured."""


class MissingValueError(FabricError):
    """A test asked for a value that the measurement does not hold."""


class TransportError(FabricError):
    """A node could not be reached, or was lost; `kind` is a stable word for reports."""

    def __init__(self, node: str, kind: str, message: str) -> None:
        super().__init__(f"{node}: {message}")
        self.node = node
        self.kind = kind


#: The kind of the error that a node has no port as the inventory describes it.
PORT_NOT_FOUND = "port_not_found"


class MeasurementError(FabricError):
    """A measurement could not be made, or what it produced cannot be trusted."""

    def __init__(self, target: str, kind: str, message: str) -> None:
        super().__init__(f"{target}: {message}")
        self.target = target
        self.kind = kind
        self.told = message
