"""The two processes of a pair measurement: server, readiness, client, and the end of both."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from queue import Empty, SimpleQueue

from pytest_fabric.errors import MeasurementError, ToolError, TransportError
from pytest_fabric.measure.context import TOOL, Context, Trail, unwatched
from pytest_fabric.results import Attempt
from pytest_fabric.tools import perftest
from pytest_fabric.transport import Collecting, Job, Outcome

#: perftest starts to listen within tenths of a second; a slow guest was seen to need two.
READY_S = 15.0

#: After this the client either has its TCP connection or something on the way drops it.
CONNECT_S = 4.0

#: What one end may outlive the other: normally milliseconds, and for ever when the peer has died.
GRACE_S = 5.0

#: How often a run whose load may have to be ended is looked at while its tools are at work.
WATCH_S = 1.0

#: Tries before giving up: more taken ports mean a wrong range of control ports, and a clock that
#: perftest cannot calibrate five times (it prints rates of 0 then) means a busy machine.
TRIES = {"port_in_use": 10, "clock": 5}

Sections = Mapping[str, Outcome]

#: Returns the error that a text of a tool tells, if it tells one.
FindError = Callable[[str], ToolError | None]


def traffic(context: Context, ports: Iterator[int]) -> Ran:
    """Run server and client to their end and return what became of both.

    Only what leaves no value is tried again: a control port that is taken, a clock that perftest
    could not calibrate. A lease that somebody else holds is for the caller to wait for. Raises
    MeasurementError, TransportError.
    """
    met: Counter[str] = Counter()
    while True:
        control_port = next(ports)
        obstacle = attempt(context, control_port)
        if isinstance(obstacle, Ran):
            return obstacle
        context.trail.attempts.append(Attempt(control_port, obstacle.text))
        met[obstacle.kind] += 1
        if obstacle.kind == "lease":
            raise context.error("lease", obstacle.text)
        if met[obstacle.kind] >= TRIES[obstacle.kind]:
            raise context.error(obstacle.kind, f"{obstacle.text}, {TRIES[obstacle.kind]} times")


@dataclass(frozen=True)
class Obstacle:
    """Why a try ended without a value: `port_in_use`, `lease` or `clock`."""

    kind: str
    text: str


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

    @cached_property
    def client_error(self) -> ToolError:
        """Return what the client told; kind `silent` when it told no error."""
        return _tool_error(self.client, self.find_error)

    @cached_property
    def server_error(self) -> ToolError:
        """Return what the server told; kind `silent` when it told no error."""
        return _tool_error(self.server, self.find_error)


def attempt(context: Context, control_port: int) -> Ran | Obstacle:
    """Run server and client once. Raises MeasurementError, TransportError."""
    jobs = {end: context.job(end, control_port) for end in ("server", "client")}
    server = context.begin("server", jobs["server"])
    try:
        obstacle = _until_ready(context, server)
        if obstacle is not None:
            return obstacle
        context.gate()
        client = context.begin("client", jobs["client"])
        _note_times(context.trail, client)
        with context.watched(control_port):
            ran = _until_ended(context, client, server, control_port)
    finally:
        server.cancel()
        with contextlib.suppress(TransportError):
            server.wait()  # the next one on this port must not meet our own lock
    if ran.client.end == "lease":
        return Obstacle("lease", f"{context.pair.client} is in use: {ran.client.stderr.strip()}")
    if _is_over_well(ran.client) and _is_over_well(ran.server):
        context.trail.attempts.append(Attempt(control_port, "ran"))
        return ran
    if ran.server_error.kind == "port_in_use":
        return Obstacle("port_in_use", f"control port was taken on {context.pair.server.node}")
    for end, port, told in (
        ("client", context.pair.client, ran.client_error),
        ("server", context.pair.server, ran.server_error),
    ):
        if told.kind == "clock":
            return Obstacle("clock", f"{end} at {port}: {told}")
    context.trail.attempts.append(Attempt(control_port, "ran"))
    return ran


def _note_times(trail: Trail, client: Collecting) -> None:
    """Note when a client was told to start, and when it will be over."""
    trail.began, trail.ended = time.monotonic(), None

    def over() -> None:
        trail.ended = time.monotonic()

    client.when_ended(over)


def _is_over_well(outcome: Outcome) -> bool:
    """Return whether nothing calls for another try; what the tool told is read later."""
    return outcome.status == 0 and outcome.end == "exit" and not outcome.stderr.strip()


def _until_ready(context: Context, server: Collecting) -> Obstacle | None:
    """Wait for the listening socket of our server; return what stands in the way, if anything."""
    try:
        if server.ready(READY_S):
            return None
    except TimeoutError:
        server.cancel()
        context.trail.keep("server", server.wait()[TOOL])
        raise context.error(
            "not_ready", f"{context.pair.server} did not listen within {READY_S:g} s"
        ) from None
    outcome = server.wait()[TOOL]
    context.trail.keep("server", outcome)
    if outcome.end == "port" or _tool_error(outcome, context.find_error).kind == "port_in_use":
        return Obstacle("port_in_use", f"control port was taken on {context.pair.server.node}")
    if outcome.end == "lease":
        return Obstacle("lease", f"{context.pair.server} is in use: {outcome.stderr.strip()}")
    raise _failure(context, "server", outcome)


def _until_ended(
    context: Context, client: Collecting, server: Collecting, control_port: int
) -> Ran:
    over: SimpleQueue[Collecting] = SimpleQueue()
    for end in (client, server):
        end.when_ended(partial(over.put, end))
    try:
        first = _watch(context, over, control_port)
        if first is client and client.wait()[TOOL].end == "lease":
            server.cancel()  # nobody will come, and its port can be used by whoever has the other
        with contextlib.suppress(Empty):
            over.get(timeout=GRACE_S)
    except MeasurementError:
        client.cancel()
        server.cancel()
        _keep(context, client, server)
        raise
    finally:
        client.cancel()
        server.cancel()
    ran = Ran(client.wait(), server.wait(), context.find_error)
    context.trail.keep("client", ran.client)
    context.trail.keep("server", ran.server)
    return ran


def _watch(context: Context, over: SimpleQueue[Collecting], control_port: int) -> Collecting:
    """Return the first end that is over; raise when the client is not let in, or load must end."""
    connected_by = time.monotonic() + CONNECT_S
    is_asked = False
    every_s = CONNECT_S if context.watch is unwatched else WATCH_S
    while True:
        with contextlib.suppress(Empty):
            return over.get(timeout=every_s)
        if not is_asked and time.monotonic() >= connected_by:
            is_asked = True
            _require_connection(context, control_port)
        context.watch()


def _keep(context: Context, client: Collecting, server: Collecting) -> None:
    """Keep what both ends said although the run is given up: it is evidence."""
    for name, end in (("client", client), ("server", server)):
        with contextlib.suppress(TransportError):  # a node that is lost says nothing more
            context.trail.keep(name, end.wait()[TOOL])


def _require_connection(context: Context, control_port: int) -> None:
    """Raise when the client still waits for an answer to its SYN: it would do so for minutes."""
    waiting = f":{control_port:04X} 02 "
    tables = ("/proc/net/tcp", "/proc/net/tcp6")
    outcome = context.client.session.run(Job(("grep", "-E", waiting, *tables), deadline_s=10.0))
    if outcome.stdout.strip():
        raise context.error(
            "control_unreachable",
            f"{context.pair.client} gets no answer from {context.server.address}:{control_port}: "
            "a firewall drops it, or the address is wrong (see oob in cluster.yaml)",
        )


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
                raise _failure(context, end, outcome)
        return ran.client.stdout
    server_failed = ran.server.end == "exit" and ran.server.status != 0
    first = "server" if server_failed and _is_secondary(ran) else "client"
    raise _failure(context, first, ran.server if first == "server" else ran.client)


def _is_secondary(ran: Ran) -> bool:
    """Return whether the client only saw that its peer is gone, or saw nothing at all."""
    return ran.client.end == "cancelled" or ran.client_error.kind in ("peer_lost", "lost")


def _tool_error(outcome: Outcome, find_error: FindError) -> ToolError:
    """Return the error that a tool's text tells; kind `silent` when it tells none."""
    text = f"{outcome.stdout}\n{outcome.stderr}" if outcome.stderr.strip() else outcome.stdout
    said = find_error(text)
    return said or ToolError("silent", "said nothing that is known")


def _failure(context: Context, end: str, outcome: Outcome) -> MeasurementError:
    port = context.pair.client if end == "client" else context.pair.server
    told = _tool_error(outcome, context.find_error)
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
