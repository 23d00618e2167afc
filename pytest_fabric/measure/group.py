"""One measurement of several pairs at once, from facts to record.

All servers listen before the first client starts, and all clients start at the same moment: what
perftest counts, the middle of its run, is then traffic beside that of all others.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from pytest_fabric.errors import FabricError, MeasurementError
from pytest_fabric.measure import group_window, pair, run, storms
from pytest_fabric.measure.blame import Ran
from pytest_fabric.measure.context import Context, Side, Trail, unwatched
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.frame import Frame
from pytest_fabric.measure.group_window import Part
from pytest_fabric.measure.job import Job
from pytest_fabric.measure.record import explained
from pytest_fabric.measure.window import Window
from pytest_fabric.results import Attempt, Bandwidth, Failure, Measurement, Member, Port

#: How long a pair waits for the servers of the others: ten taken control ports each, at most.
GATE_S = 60.0

#: A group is made so often when a client finds its port taken, or no clock, at its start, and when
#: its values are in doubt.
TRIES = 3

#: What a pair says that was not begun since another one could not be: it explains nothing.
WAITED = "group"


class Start:
    """The moment at which all clients start; whoever fails before lets the others know."""

    def __init__(self, pairs: int) -> None:
        self._barrier = threading.Barrier(pairs)
        self.is_over = False

    def wait(self) -> None:
        """Return when all servers listen. Raises MeasurementError when one never will."""
        try:
            self._barrier.wait(GATE_S)
        except threading.BrokenBarrierError:
            message = "not begun, since another pair of the group could not be"
            raise MeasurementError("run", WAITED, message) from None
        self.is_over = True

    def give_up(self) -> None:
        """Let nobody wait any more."""
        self._barrier.abort()


@dataclass(frozen=True)
class Values:
    """What a group produced."""

    parts: tuple[Part, ...] = ()
    doubts: tuple[str, ...] = ()


def measure(fabric: Fabric, job: Job, ports: Iterator[int]) -> Measurement:
    """Return one measurement; a pair without a value is in its `error`, by name.

    One in doubt has no value, neither a good nor a bad one, and is made again: of clients that did
    not start together, the first has the line for itself for a while.
    """
    frame = Frame(job.target, job.settings)
    trails = [Trail() for _ in job.members]
    values, versions = Values(), dict[str, str]()
    with frame.caught():
        contexts = _contexts(fabric, job, trails)
        versions.update(_versions(contexts))
        values = undoubted(
            lambda: _values(fabric, contexts, run_all(contexts, ports)), trails[0].attempts
        )
        frame.over()
    seen = group_window.merged([one.window for one in trails if one.window is not None])
    return replace(
        frame.record(),
        commands=_commands(job, trails),
        versions=versions,
        attempts=_attempts(trails),
        mtu=min((part.mtu for part in values.parts if part.mtu), default=None),
        growth=seen.growth,
        counter_errors=seen.problems,
        doubts=values.doubts,
        members=_members(values.parts),
        raw=_raw(trails),
        error=None if frame.error is None else _named(job, frame.error),
    )


def undoubted(make: Callable[[], Values], attempts: list[Attempt]) -> Values:
    """Return the first values that nothing speaks against, or the last; what was in vain is noted.

    Raises FabricError.
    """
    for _ in range(TRIES - 1):
        values = make()
        if not values.doubts:
            return values
        attempts.append(Attempt(0, values.doubts[0]))
    return make()


def _named(job: Job, told: Failure) -> Failure:
    """Return what went wrong with the group before it: it may name the pair only, or the node."""
    start = f"{job.target}: {job.settings.tool}: "
    return Failure(told.kind, f"{start}{told.message.removeprefix(start)}")


def _contexts(fabric: Fabric, job: Job, trails: Sequence[Trail]) -> list[Context]:
    """Return both ends of each pair made ready; the first that uses a port takes its lease."""
    held: set[Port] = set()
    receiver = job.target if job.settings.senders else None
    found = []
    for member, trail in zip(job.members, trails, strict=True):
        ends = (member.pair.client, member.pair.server)
        client, server = (
            replace(pair.side_of(fabric, port, member.settings), holds=port not in held)
            for port in ends
        )
        held.update(ends)
        watch = _watch(job, member, (client, server), receiver)
        prefix = fabric.cluster.tools.prefix
        found.append(Context(member.pair, member.settings, client, server, prefix, trail, watch))
    return found


def _watch(
    job: Job, member: Job, sides: Sequence[Side], receiver: str | None
) -> Callable[[], None]:
    if job.load != "disruptive":
        return unwatched
    own = [side for side in sides if side.holds]
    return storms.Watch(str(member.pair), own, receiver)


def run_all(contexts: Sequence[Context], ports: Iterator[int]) -> list[Ran]:
    """Run all pairs at once. Raises MeasurementError, TransportError of one that failed."""
    for _ in range(TRIES - 1):
        try:
            return _at_once(contexts, ports)
        except MeasurementError as error:
            if error.kind not in run.TRIES:
                raise
    return _at_once(contexts, ports)


def _at_once(contexts: Sequence[Context], ports: Iterator[int]) -> list[Ran]:
    start = Start(len(contexts))
    with ThreadPoolExecutor(len(contexts), "fabric group") as threads:
        futures = [
            threads.submit(_one, replace(context, gate=start.wait), ports, start)
            for context in contexts
        ]
    problem = _first_problem(futures)
    if problem is not None:
        raise problem
    return [future.result() for future in futures]


def _first_problem(futures: Sequence[Future[Ran]]) -> BaseException | None:
    """Return the first error that explains the others, or None."""
    problems = [error for future in futures if (error := future.exception()) is not None]
    own = [p for p in problems if not (isinstance(p, MeasurementError) and p.kind == WAITED)]
    return next(iter((*own, *problems)), None)


def _one(context: Context, ports: Iterator[int], start: Start) -> Ran:
    """Run one pair; before the start it tries other control ports. Raises FabricError."""
    met: Counter[str] = Counter()
    try:
        while True:
            control_port = next(ports)
            obstacle = run.attempt(context, control_port)
            if isinstance(obstacle, Ran):
                return obstacle
            context.trail.attempts.append(Attempt(control_port, obstacle.text))
            met[obstacle.kind] += 1
            most = run.TRIES.get(obstacle.kind, 1)
            if start.is_over or met[obstacle.kind] >= most:
                raise context.error(obstacle.kind, obstacle.text)
    except BaseException:
        start.give_up()
        raise


def _values(fabric: Fabric, contexts: Sequence[Context], ran: Sequence[Ran]) -> Values:
    """Return what the clients printed, and what speaks against it. Raises FabricError."""
    parts = []
    for context, one in zip(contexts, ran, strict=True):
        row, mtu, seen = _read(fabric, context, one)
        line = fabric.cluster.line_rate_bps(context.pair.client, context.pair.server)
        drivers = {
            str(side.end.port): side.end.rdma.driver for side in (context.client, context.server)
        }
        began, ended = context.trail.began or 0.0, context.trail.ended or 0.0
        parts.append(
            Part(context.pair, context.settings, row, mtu, seen, line, drivers, began, ended)
        )
    return Values(tuple(parts), group_window.doubts(parts))


def _read(fabric: Fabric, context: Context, one: Ran) -> tuple[Bandwidth, int | None, Window]:
    """Return what one pair of the group produced. Raises MeasurementError, which names it."""
    try:
        row, mtu, seen = pair.read(fabric, context, one)
    except FabricError as problem:
        target = str(context.pair)
        told = explained(target, context.settings.tool, problem)
        message = told.message.removeprefix(f"{target}: ")
        raise MeasurementError(target, told.kind, message) from None
    assert isinstance(row, Bandwidth)  # the table of a bandwidth tool
    return row, mtu, seen


def _members(parts: Sequence[Part]) -> tuple[Member, ...]:
    first = min((part.began for part in parts), default=0.0)
    return tuple(
        Member(
            str(part.pair),
            part.row,
            part.mtu,
            round(part.began - first, 3),
            round(part.ended - first, 3),
        )
        for part in parts
    )


def _versions(contexts: Sequence[Context]) -> dict[str, str]:
    sides = (side for context in contexts for side in (context.client, context.server))
    return {side.end.port.node: side.end.node.perftest or "unknown" for side in sides}


def _commands(job: Job, trails: Sequence[Trail]) -> dict[str, str]:
    """Return the commands of both ends of each pair, by `PAIR END`."""
    return {
        f"{member.pair} {end}": command
        for member, trail in zip(job.members, trails, strict=True)
        for end, command in trail.commands.items()
    }


def _attempts(trails: Sequence[Trail]) -> tuple[Attempt, ...]:
    """Return what was tried in vain, and that the group ran; one pair tells it for all."""
    tried = [attempt for trail in trails for attempt in trail.attempts]
    vain = tuple(attempt for attempt in tried if attempt.outcome != "ran")
    return (*vain, *[attempt for attempt in tried if attempt.outcome == "ran"][:1])


def _raw(trails: Sequence[Trail]) -> dict[str, str]:
    """Return the text of each end, by the place of its pair in the group."""
    return {
        f"{place}.{stream}": text
        for place, trail in enumerate(trails)
        for stream, text in trail.raw.items()
    }
