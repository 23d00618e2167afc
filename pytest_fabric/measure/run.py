"""The two processes of a pair measurement: server, readiness, client, and the end of both."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_any
from dataclasses import dataclass, field

from pytest_fabric.errors import MeasurementError, NotRecognisedError, ToolError
from pytest_fabric.measure import placement
from pytest_fabric.measure.fabric import CheckedSession, End
from pytest_fabric.measure.settings import Settings
from pytest_fabric.results import Attempt, Gid, Pair
from pytest_fabric.tools import perftest
from pytest_fabric.transport import Job, Outcome, Running

#: perftest starts to listen within tenths of a second; a slow guest was seen to need two.
READY_S = 15.0

#: After this the client either has its TCP connection or something on the way drops it.
CONNECT_S = 4.0

#: What one end may outlive the other: normally milliseconds, and for ever when the peer has died.
GRACE_S = 5.0

#: Beside the traffic itself: start, memory registration, calibration of the clock, exchange.
OVERHEAD_S = 20.0

#: A lease of somebody else is waited for, then told.
LEASE_S = 30.0

#: Tries before giving up: more taken ports mean a wrong range of control ports, and a clock that
#: perftest cannot calibrate three times (it prints rates of 0 then) means a busy machine.
TRIES = {"port_in_use": 10, "clock": 3}


@dataclass(frozen=True)
class Side:
    """One end of a pair, ready to run: its session, what it is, and where its tool goes."""

    session: CheckedSession
    end: End
    gid: Gid | None
    core: int | None
    address: str


@dataclass
class Trail:
    """What was tried so far: it becomes part of the record, whatever happens."""

    attempts: list[Attempt] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)

    def keep(self, end: str, outcome: Outcome) -> None:
        """Keep the text of an end as evidence."""
        self.raw[f"{end}.stdout"] = outcome.stdout
        self.raw[f"{end}.stderr"] = outcome.stderr


@dataclass(frozen=True)
class Context:
    """What the steps of one run share."""

    pair: Pair
    settings: Settings
    client: Side
    server: Side
    prefix: tuple[str, ...]
    trail: Trail

    def job(self, end: str, control_port: int) -> Job:
        """Return the process of an end; the command is kept for the report."""
        side = self.client if end == "client" else self.server
        settings = self.settings
        argv = perftest.command(
            settings.tool,
            device=side.end.rdma.device,
            ib_port=side.end.rdma.number,
            control_port=control_port,
            size=settings.size,
            iterations=settings.iterations,
            duration_s=settings.duration_s,
            qps=settings.qps,
            gid_index=side.gid.index if side.gid else None,
            traffic_class=settings.traffic_class,
            service_level=settings.service_level,
            peer=self.server.address if end == "client" else None,
            disable_numa=_binds_itself(side.end.node.perftest),
        )
        pin = ("taskset", "-c", str(side.core)) if side.core is not None else ()
        self.trail.commands[end] = shlex.join((*self.prefix, *pin, *argv))
        rdma = side.end.rdma
        return Job(
            (*self.prefix, *argv),
            deadline_s=settings.expected_s + OVERHEAD_S,
            lease=f"/sys/class/infiniband/{rdma.device}/ports/{rdma.number}/state",
            listen=control_port if end == "server" else None,
            core=side.core,
        )

    def error(self, kind: str, message: str) -> MeasurementError:
        """Return an error about this pair."""
        return MeasurementError(str(self.pair), kind, f"{self.settings.tool}: {message}")


def _binds_itself(version: str | None) -> bool:
    """Return whether perftest moves itself to a NUMA node: the default since 26.01 (6.28)."""
    numbers = (version or "0").split(".")
    return tuple(int(number) for number in numbers if number.isdigit()) >= (6, 28)


def traffic(context: Context, ports: Iterator[int], sleep: Callable[[float], None]) -> str:
    """Run server and client to their end and return what the client printed.

    Only what leaves no value is tried again: a control port that is taken, a lease that somebody
    else holds, a clock that perftest could not calibrate. Raises MeasurementError, TransportError.
    """
    patience = time.monotonic() + LEASE_S
    met: Counter[str] = Counter()
    while True:
        control_port = next(ports)
        obstacle = _attempt(context, control_port)
        if isinstance(obstacle, Ran):
            return _verdict(context, obstacle)
        context.trail.attempts.append(Attempt(control_port, obstacle.text))
        met[obstacle.kind] += 1
        if obstacle.kind == "lease":
            if time.monotonic() > patience:
                raise context.error("lease", f"{obstacle.text}, waited {LEASE_S:g} s")
            sleep(1.0)
        elif met[obstacle.kind] >= TRIES[obstacle.kind]:
            raise context.error(obstacle.kind, f"{obstacle.text}, {TRIES[obstacle.kind]} times")


@dataclass(frozen=True)
class Obstacle:
    """Why a try ended without a value: `port_in_use`, `lease` or `clock`."""

    kind: str
    text: str


@dataclass(frozen=True)
class Ran:
    """Both ends of a try that got as far as starting the client."""

    client: Outcome
    server: Outcome


def _attempt(context: Context, control_port: int) -> Ran | Obstacle:
    server = context.server.session.start(context.job("server", control_port))
    try:
        obstacle = _until_ready(context, server)
        if obstacle is not None:
            return obstacle
        client = context.client.session.start(context.job("client", control_port))
        ran = _until_ended(context, client, server, control_port)
    finally:
        server.cancel()
    context.trail.keep("client", ran.client)
    context.trail.keep("server", ran.server)
    if ran.client.end == "lease":
        return Obstacle("lease", f"{context.pair.client} is in use: {ran.client.stderr.strip()}")
    if _port_taken(ran.server):
        return Obstacle("port_in_use", f"control port was taken on {context.pair.server.node}")
    told = _tool_error(ran.client)
    if told.kind == "clock":
        return Obstacle("clock", f"client at {context.pair.client}: {told}")
    context.trail.attempts.append(Attempt(control_port, "ran"))
    return ran


def _port_taken(server: Outcome) -> bool:
    return _tool_error(server).kind == "port_in_use"


def _until_ready(context: Context, server: Running) -> Obstacle | None:
    """Wait for the listening socket of our server; return what stands in the way, if anything."""
    try:
        if server.ready(READY_S):
            return None
    except TimeoutError:
        raise context.error(
            "not_ready", f"{context.pair.server} did not listen within {READY_S:g} s"
        ) from None
    outcome = server.wait()
    context.trail.keep("server", outcome)
    if outcome.end == "port" or _port_taken(outcome):
        return Obstacle("port_in_use", f"control port was taken on {context.pair.server.node}")
    if outcome.end == "lease":
        return Obstacle("lease", f"{context.pair.server} is in use: {outcome.stderr.strip()}")
    raise _failure(context, "server", outcome)


def _until_ended(context: Context, client: Running, server: Running, control_port: int) -> Ran:
    with ThreadPoolExecutor(2) as threads:
        ends = [threads.submit(client.wait), threads.submit(server.wait)]
        try:
            wait_any(ends, timeout=CONNECT_S, return_when=FIRST_COMPLETED)
            _require_connection(context, ends, control_port)
            wait_any(ends, return_when=FIRST_COMPLETED)
            wait_any(ends, timeout=GRACE_S)
        finally:
            client.cancel()
            server.cancel()
    return Ran(client=ends[0].result(), server=ends[1].result())


def _require_connection(context: Context, ends: list[Future[Outcome]], control_port: int) -> None:
    """Raise when the client still waits for an answer to its SYN: it would do so for minutes."""
    if any(end.done() for end in ends):
        return
    waiting = f":{control_port:04X} 02 "
    tables = ("/proc/net/tcp", "/proc/net/tcp6")
    outcome = context.client.session.run(Job(("grep", "-E", waiting, *tables), deadline_s=10.0))
    if outcome.stdout.strip():
        raise context.error(
            "control_unreachable",
            f"{context.pair.client} gets no answer from {context.server.address}:{control_port}: "
            "a firewall drops it, or the address is wrong (see oob in cluster.yaml)",
        )


def _verdict(context: Context, ran: Ran) -> str:
    """Return the client's text when both ends ended well. Raises what went wrong first."""
    if ran.client.truncated:
        raise context.error("output", f"client at {context.pair.client}: printed without end")
    if ran.client.end == "exit" and ran.client.status == 0:
        if ran.server.end == "exit" and ran.server.status == 0:
            return ran.client.stdout
        raise _failure(context, "server", ran.server)
    server_failed = ran.server.end == "exit" and ran.server.status != 0
    first = "server" if server_failed and _is_secondary(ran.client) else "client"
    raise _failure(context, first, ran.server if first == "server" else ran.client)


def _is_secondary(client: Outcome) -> bool:
    """Return whether the client only saw that its peer is gone, or saw nothing at all."""
    return client.end == "cancelled" or _tool_error(client).kind == "peer_lost"


def _tool_error(outcome: Outcome) -> ToolError:
    """Return the error that a tool's text tells; kind `silent` when it tells none."""
    try:
        perftest.parse(f"{outcome.stdout}\n{outcome.stderr}")
    except ToolError as error:
        return error
    except NotRecognisedError:
        return ToolError("silent", "said nothing that is known")
    return ToolError("silent", "printed a result")


def _failure(context: Context, end: str, outcome: Outcome) -> MeasurementError:
    port = context.pair.client if end == "client" else context.pair.server
    told = _tool_error(outcome)
    if outcome.end == "deadline":
        kind, text = "hang", f"did not end within {outcome.duration_s:.0f} s and was ended"
    elif outcome.end == "cancelled":
        kind, text = "hang", f"still ran {GRACE_S:g} s after its peer had ended and was ended"
    elif told.kind == "silent":
        kind, text = "tool_failed", f"ended with status {outcome.status} and {_said(outcome)}"
    else:
        kind, text = told.kind, str(told)
    return context.error(kind, f"{end} at {port}: {text}")


def _said(outcome: Outcome) -> str:
    lines = [line.strip() for line in outcome.stderr.splitlines() if line.strip()]
    return f"said {lines[-1][:120]!r}" if lines else "no message"


def side(session: CheckedSession, end: End, oob: str, management: str, turn: int) -> Side:
    """Return an end made ready to run. Raises MeasurementError for what facts rule out."""
    name = str(end.port)
    if end.rdma.state != "ACTIVE":
        raise MeasurementError(
            name,
            "port_down",
            f"expected port {end.rdma.device} to be ACTIVE, found {end.rdma.state} "
            f"({end.rdma.physical_state})",
        )
    gid = placement.choose_gid(name, end.rail, end.rdma)
    core = placement.choose_core(end.node, end.rdma, turn)
    return Side(session, end, gid, core, placement.control_address(oob, management, gid))
