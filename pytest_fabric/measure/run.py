"""The two processes of a pair measurement: server, readiness, client, and the end of both."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue

from pytest_fabric.errors import TransportError
from pytest_fabric.measure import blame
from pytest_fabric.measure.blame import Ran
from pytest_fabric.measure.context import TOOL, Context, Trail, unwatched
from pytest_fabric.results import Attempt
from pytest_fabric.transport import Collecting, Job, Outcome

#: perftest starts to listen within tenths of a second; a slow guest was seen to need two.
READY_S = 15.0

#: After this the client either has its TCP connection or something on the way drops it.
CONNECT_S = 4.0

#: How often a run whose load may have to be ended is looked at while its tools are at work.
WATCH_S = 1.0

#: Tries before giving up: more taken ports mean a wrong range of control ports, and a clock that
#: perftest cannot calibrate five times (it prints rates of 0 then) means a busy machine.
TRIES = {"port_in_use": 10, "clock": 5}


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
        sections = server.wait()
        context.trail.keep("server", sections[TOOL])
        blame.require_started(context, "server", sections)
        raise context.error(
            "not_ready", f"{context.pair.server} did not listen within {READY_S:g} s"
        ) from None
    sections = server.wait()
    outcome = sections[TOOL]
    context.trail.keep("server", outcome)
    if outcome.end == "port" or blame.tool_error(outcome, context.find_error).kind == "port_in_use":
        return Obstacle("port_in_use", f"control port was taken on {context.pair.server.node}")
    if outcome.end == "lease":
        return Obstacle("lease", f"{context.pair.server} is in use: {outcome.stderr.strip()}")
    raise blame.failure(context, "server", sections)


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
            over.get(timeout=blame.GRACE_S)
    finally:
        client.cancel()
        server.cancel()
        _keep(context, client, server)
    return Ran(client.wait(), server.wait(), context.find_error)


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
    """Keep what both ends said, whatever became of the run: it is evidence."""
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
