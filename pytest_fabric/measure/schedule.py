"""Which task is next: phases one after another, and in each the next in order that fits."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pytest_fabric.measure.claims import Claims, Occupied

#: A resource is waited for while its end is expected within this share of a task's own time, sooner
#: or later than now. To start another task instead would part the partners of a round: a full mesh
#: of 16 ports then takes a seventh longer (simulated, with an overhead of 5 %).
PATIENCE = 0.3

#: More measurements than these, with ports free again and records still to be written, show that
#: this machine cannot keep up (or that hundreds end in the second for which their records wait):
#: nothing is started until it has, or nodes would be taken for dead.
UNSETTLED = 256

#: How fast the expectation of a phase follows what its tasks really took.
LEARNING = 0.2


@dataclass(frozen=True)
class Task:
    """Something to measure: what it claims, in which phase, and how long it should take.

    Tasks of a phase all end before another phase begins, the lowest first; within it, `order`.
    """

    key: str
    phase: int
    order: int
    claims: Claims
    expected_s: float


@dataclass
class Phase:
    """The tasks of a phase that wait, by each resource that they hold, in order.

    Resources that are awake may have a task that fits; one that is asleep is woken by the end of
    whoever has what its task needs. `found` is a heap of those that had one when they were looked
    at, by its order: whether it still fits is seen at its turn.
    """

    tasks: dict[str, dict[str, Task]] = field(default_factory=lambda: defaultdict(dict))
    awake: set[str] = field(default_factory=set)
    found: list[tuple[int, str]] = field(default_factory=list)
    asleep: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    alarms: list[tuple[float, str]] = field(default_factory=list)
    waiting: int = 0
    pace: float | None = None


class Schedule:
    """The tasks that wait and those that run; it is told the time, and is not locked."""

    def __init__(self, places: Mapping[str, int], at_once: int) -> None:
        self._occupied = Occupied(places)
        self._at_once = at_once
        self._phases: dict[int, Phase] = {}
        self._began: dict[str, float] = {}
        self._holders: dict[str, Task] = {}
        self._later: list[tuple[float, int, Task]] = []
        self._number = itertools.count()
        self.running: dict[str, Task] = {}
        self.settling: dict[str, Task] = {}

    @property
    def waiting(self) -> int:
        """Return how many tasks have not started, those that were put off included."""
        return sum(phase.waiting for phase in self._phases.values()) + len(self._later)

    def has_waiting(self, phase: int) -> bool:
        """Return whether tasks of a phase wait to start, without those that were put off."""
        return phase in self._phases and self._phases[phase].waiting > 0

    def add(self, task: Task) -> None:
        """Let a task wait for its turn."""
        phase = self._phases.setdefault(task.phase, Phase())
        for name in task.claims.held:
            phase.tasks[name][task.key] = task
        phase.awake.update(task.claims.held)
        phase.waiting += 1

    def put_off(self, task: Task, until: float) -> None:
        """Let a task that ran in vain wait until a time before its next turn."""
        heapq.heappush(self._later, (until, next(self._number), task))

    def start(self, now: float) -> list[Task]:
        """Return the tasks that start now; they keep their claims until `free` or `end`."""
        while self._later and self._later[0][0] <= now:
            self.add(heapq.heappop(self._later)[2])
        phase = self._current()
        return [] if phase is None else list(self._started(phase, now))

    def free(self, task: Task, now: float, is_usual: bool = True) -> None:
        """Give back what a task had; until its `end` it is settling, and its phase goes on.

        How long it took tells what to expect of others if it was a `usual` one.
        """
        self.settling[task.key] = self.running.pop(task.key)
        self._occupied.free(task.claims)
        own = self._phases[task.phase]
        took = (now - self._began.pop(task.key)) / task.expected_s
        if is_usual:
            own.pace = took if own.pace is None else own.pace + LEARNING * (took - own.pace)
        for name in task.claims.names():
            self._holders.pop(name, None)
            for phase in self._phases.values():
                phase.awake.update({name} & phase.tasks.keys(), phase.asleep.pop(name, ()))

    def end(self, task: Task, now: float) -> None:
        """Let go of a task, with all that it still had."""
        if task.key in self.running:
            self.free(task, now, is_usual=False)
        del self.settling[task.key]

    def drop(self, keys: set[str]) -> list[Task]:
        """Forget tasks that wait, and return them."""
        gone = {
            task.key: task
            for phase in self._phases.values()
            for tasks in phase.tasks.values()
            for task in tasks.values()
            if task.key in keys
        }
        for task in gone.values():
            self._remove(self._phases[task.phase], task)
        late = [entry for entry in self._later if entry[2].key in keys]
        self._later = [entry for entry in self._later if entry[2].key not in keys]
        heapq.heapify(self._later)
        return [*gone.values(), *(task for _, _, task in late)]

    def next_look(self) -> float | None:
        """Return when `start` may find more although no task has ended, or None for never."""
        times = [self._later[0][0]] if self._later else []
        phase = self._current()
        if phase is not None and phase.alarms:
            times.append(phase.alarms[0][0])
        return min(times) if times else None

    def left_s(self, now: float) -> float:
        """Return the seconds that are left: a phase takes what its busiest resource has to do."""
        seconds = 0.0
        paces = [phase.pace for phase in self._phases.values() if phase.pace is not None]
        usual = sum(paces) / len(paces) if paces else 1.0
        for phase in self._phases.values():
            pace = phase.pace or usual
            ends = [0.0]
            ends.extend(
                sum(task.expected_s for task in tasks.values()) * pace
                for tasks in phase.tasks.values()
            )
            seconds += max(ends)
        now_running = [
            self._began[key] + task.expected_s * (self._phases[task.phase].pace or usual) - now
            for key, task in self.running.items()
        ]
        return seconds + max([0.0, *now_running])

    def _current(self) -> Phase | None:
        """Return the phase that goes on: what runs is finished before another begins."""
        for task in itertools.chain(self.running.values(), self.settling.values()):
            return self._phases[task.phase]
        waiting = [number for number, phase in self._phases.items() if phase.waiting]
        return self._phases[min(waiting)] if waiting else None

    def _started(self, phase: Phase, now: float) -> Iterator[Task]:
        while phase.alarms and phase.alarms[0][0] <= now:
            phase.awake.add(heapq.heappop(phase.alarms)[1])
        if not self._has_room():
            return
        for name in phase.awake:
            task = self._first(phase, name, now)
            if task is not None:
                heapq.heappush(phase.found, (task.order, name))
        phase.awake.clear()
        while phase.found and self._has_room():
            order, name = heapq.heappop(phase.found)
            task = self._first(phase, name, now)
            if task is not None and task.order == order:
                self._begin(phase, task, now)
                yield task
            elif task is not None:
                heapq.heappush(phase.found, (task.order, name))

    def _has_room(self) -> bool:
        """Return whether one more may run; where settling falls behind, it is waited for."""
        most = min(self._at_once, UNSETTLED)
        return len(self.running) < self._at_once and len(self.settling) <= most

    def _first(self, phase: Phase, name: str, now: float) -> Task | None:
        """Return the first task of a resource that fits; None when it has to wait for another."""
        if self._occupied.has(name):
            return None  # its end wakes it
        for task in phase.tasks.get(name, {}).values():
            obstacle = self._occupied.obstacle(task.claims)
            if obstacle is None:
                return task
            phase.asleep[obstacle].add(name)
            until = self._worth_waiting(phase, obstacle, now)
            if until is not None:
                heapq.heappush(phase.alarms, (until, name))
                return None
        return None

    def _worth_waiting(self, phase: Phase, name: str, now: float) -> float | None:
        """Return until when a resource is worth waiting for, or None when it is not."""
        holder = self._holders.get(name)
        if holder is None or phase.pace is None:
            return None
        usual = holder.expected_s * phase.pace
        end, patience = self._began[holder.key] + usual, PATIENCE * usual
        return end + patience if abs(end - now) < patience else None

    def _begin(self, phase: Phase, task: Task, now: float) -> None:
        self._remove(phase, task)
        self._occupied.take(task.claims)
        self.running[task.key] = task
        self._began[task.key] = now
        for name in task.claims.held:
            self._holders[name] = task

    def _remove(self, phase: Phase, task: Task) -> None:
        for name in task.claims.held:
            del phase.tasks[name][task.key]
            if not phase.tasks[name]:
                del phase.tasks[name]
                phase.awake.discard(name)
        phase.waiting -= 1


def simulate(tasks: Iterable[Task], schedule: Schedule) -> Iterator[tuple[Task, float, float]]:
    """Yield each task with start and end, in seconds, as they would run if all took as expected."""
    for task in tasks:
        schedule.add(task)
    now = 0.0
    ends: list[tuple[float, int, Task]] = []
    number = itertools.count()
    while True:
        for task in schedule.start(now):
            heapq.heappush(ends, (now + task.expected_s, next(number), task))
            yield task, now, now + task.expected_s
        if not ends:
            return
        now, _, ended = heapq.heappop(ends)
        over = [ended]
        while ends and ends[0][0] <= now:
            over.append(heapq.heappop(ends)[2])
        for task in over:
            schedule.free(task, now)
            schedule.end(task, now)
