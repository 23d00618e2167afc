"""What became of both ends of a run, and which of them is to blame for what went wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from pytest_fabric.errors import MeasurementError, ToolError
from pytest_fabric.measure.context import TOOL, Context
from pytest_fabric.tools import perftest
from pytest_fabric.transport import Outcome

#: What one end may outlive the other: normally milliseconds, and for ever when the peer has died.
GRACE_S = 5.0

Sections = Mapping[str, Outcome]

#: Returns the error that a text of a tool tells, if it tells one.
FindError = Callable[[str], ToolError | None]


@dataclass(frozen=True)
class Ran:
    """Both ends of a try that got as far as starting the client: sections, tools, and errors."""

    client_sections: Sections
    server_sections: Sections
    find_error: FindError = perftest.find_error

    @property
    def client(self) -> Outcome:
        """Return what became of the client."""
        return self.client_sections[TOOL]

    @property
    def server(self) -> Outcome:
        """Return what became of the server."""
        return self.server_sections[TOOL]

    def sections(self, end: str) -> Sections:
        """Return what became of all that an end ran."""
        return self.client_sections if end == "client" else self.server_sections

    @cached_property
    def client_error(self) -> ToolError:
        """Return what the client told; kind `silent` when it told no error."""
        return tool_error(self.client, self.find_error)

    @cached_property
    def server_error(self) -> ToolError:
        """Return what the server told; kind `silent` when it told no error."""
        return tool_error(self.server, self.find_error)


def verdict(context: Context, ran: Ran) -> str:
    """Return what the client said when both ends ended well. Raises what went wrong first.

    Both streams of both ends are read: a wrapper may lose the exit status of a tool that failed.
    """
    if ran.client.truncated:
        raise context.error("output", f"client at {context.pair.client}: printed without end")
    if ran.client.end == "exit" and ran.client.status == 0:
        for end, outcome, told in (
            ("client", ran.client, ran.client_error),
            ("server", ran.server, ran.server_error),
        ):
            if outcome.end != "exit" or outcome.status != 0 or told.kind != "silent":
                raise failure(context, end, ran.sections(end))
        return ran.client.stdout
    server_failed = ran.server.end == "exit" and ran.server.status != 0
    first = "server" if server_failed and _is_secondary(ran) else "client"
    raise failure(context, first, ran.sections(first))


def _is_secondary(ran: Ran) -> bool:
    """Return whether the client only saw that its peer is gone, or saw nothing at all."""
    return ran.client.end == "cancelled" or ran.client_error.kind in ("peer_lost", "lost")


def tool_error(outcome: Outcome, find_error: FindError) -> ToolError:
    """Return the error that a tool's text tells; kind `silent` when it tells none."""
    text = f"{outcome.stdout}\n{outcome.stderr}" if outcome.stderr.strip() else outcome.stdout
    said = find_error(text)
    return said or ToolError("silent", "said nothing that is known")


def require_started(context: Context, end: str, sections: Sections) -> None:
    """Raise when what an end reads before its tool has not ended, so that the tool never began."""
    port = context.pair.client if end == "client" else context.pair.server
    for name in itertools.takewhile(lambda name: name != TOOL, sections):
        if sections[name].end in ("deadline", "cancelled", "killed", "cut"):
            raise context.error(
                "counters", f"{end} at {port}: {name} did not end, so the tool was not started"
            )


def failure(context: Context, end: str, sections: Sections) -> MeasurementError:
    """Return why the tool of an end failed. Raises MeasurementError where it never began."""
    require_started(context, end, sections)
    outcome = sections[TOOL]
    port = context.pair.client if end == "client" else context.pair.server
    told = tool_error(outcome, context.find_error)
    if outcome.end == "deadline":
        kind, text = "hang", f"did not end within {outcome.duration_s:.0f} s and was ended"
    elif outcome.end == "cancelled":
        kind, text = "hang", f"still ran {GRACE_S:g} s after its peer had ended and was ended"
    elif told.kind == "silent":
        kind, text = "tool_failed", f"ended with status {outcome.status} and {_said(outcome)}"
    elif told.kind == "version_mismatch":
        return context.error(told.kind, f"{_older(context)}: {told}")
    else:
        kind, text = told.kind, str(told)
    return context.error(kind, f"{end} at {port}: {text}")


def _older(context: Context) -> str:
    """Return which end has the older perftest: the newer one is that which complains."""
    ends = (context.client.end, context.server.end)
    old, new = sorted(ends, key=lambda end: _numbers(end.node.perftest))
    has = (end.node.perftest or "of an unknown version" for end in (old, new))
    return f"{old.port.node} has perftest {next(has)}, its peer {next(has)}"


def _numbers(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in (version or "").split(".") if part.isdigit())


def _said(outcome: Outcome) -> str:
    lines = [line.strip() for line in outcome.stderr.splitlines() if line.strip()]
    return f"said {lines[-1][:120]!r}" if lines else "no message"
