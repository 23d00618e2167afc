"""Runs the tasks of a schedule, each in a thread of its own, and hands out their results."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Generic, TypeVar

from pytest_fabric.measure.progress import Status
from pytest_fabric.measure.schedule import Schedule, Task

T = TypeVar("T")

#: How often whoever waits for the end of all tasks looks up, in seconds.
LOOK_S = 0.25

#: Gives back what a task claims, unless that was done before; told whether it went as usual, and
#: tells whether others of its phase still wait to start.
Free = Callable[[bool], bool]


@dataclass(frozen=True)
class Again:
    """Says that a task ran in vain and what it needs may be free in `after_s` seconds."""

    after_s: float


class Company:
    """The tasks that ran while another did, by key; complete when that has ended."""

    def __init__(self) -> None:
        self.keys: set[str] = set()


class Dispatcher(Generic[T]):
    """Starts tasks as soon as they may start; a result or an error comes out of each, always.

    `perform` runs in a thread that it has for itself meanwhile. It calls what it is given once it
    no longer needs what its task claims, and goes on to make a result while others start. What it
    raises becomes a result by `failed`, so does what never runs. Nothing is printed, warned or
    logged from these threads.
    """

    def __init__(
        self,
        schedule: Schedule,
        perform: Callable[[Task, Company, Free], T | Again],
        failed: Callable[[Task, BaseException], T],
    ) -> None:
        self._schedule = schedule
        self._perform = perform
        self._failed = failed
        self._changed = threading.Condition()
        self._tasks: dict[str, Task] = {}
        self._results: dict[str, Future[T]] = {}
        self._company: dict[str, Company] = {}
        self._given: set[str] = set()
        self._turns: SimpleQueue[tuple[Task, Company] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._end: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="fabric engine", daemon=True)

    def start(self) -> None:
        """Begin to run what has been added."""
        self._thread.start()

    def add(self, tasks: Iterable[Task]) -> None:
        """Add tasks; one that is known already is not run twice."""
        with self._changed:
            for task in tasks:
                if task.key in self._results:
                    continue
                self._tasks[task.key] = task
                self._results[task.key] = Future()
                if self._end is not None:
                    self._settle(task, self._failed(task, self._end))
                else:
                    self._schedule.add(task)
            self._changed.notify_all()

    def put(self, key: str, outcome: T) -> None:
        """Take in what is known already: its task is not run."""
        with self._changed:
            self._results[key] = Future()
            self._results[key].set_result(outcome)

    def forget(self, key: str, slim: Callable[[T], T]) -> None:
        """Keep less of a task that has ended, as `slim` returns of its outcome."""
        with self._changed:
            if key in self._results and self._results[key].done():
                self._tasks.pop(key, None)
                outcome = slim(self._results[key].result())
                self._results[key] = Future()
                self._results[key].set_result(outcome)

    def has(self, key: str) -> bool:
        """Return whether a task is known."""
        with self._changed:
            return key in self._results

    def result(self, key: str) -> Future[T]:
        """Return what comes out of a task. Raises KeyError for one that was never added."""
        with self._changed:
            return self._results[key]

    def status(self) -> Status:
        """Return how far the tasks are."""
        with self._changed:
            running = tuple(self._schedule.running)
            waiting = self._schedule.waiting
            done = len(self._results) - len(running) - len(self._schedule.settling) - waiting
            return Status(running, waiting, done, self._schedule.left_s(time.monotonic()))

    def rest(self) -> None:
        """Wait until every task that is known has its result."""
        with self._changed:
            known = self._schedule
            while known.running or known.settling or known.waiting:
                self._changed.wait(LOOK_S)

    def give_up(self, which: Callable[[Task], bool], reason: BaseException) -> None:
        """Let tasks that have not started fail for a reason."""
        with self._changed:
            open_tasks = [
                task for key, task in self._tasks.items() if not self._results[key].done()
            ]
            for task in self._schedule.drop({task.key for task in open_tasks if which(task)}):
                self._settle(task, self._failed(task, reason))
            self._changed.notify_all()

    def stop(self, reason: BaseException) -> None:
        """Start nothing more; what has not started fails for the reason."""
        with self._changed:
            self._end = self._end or reason
            for _ in self._threads:
                self._turns.put(None)
            self._changed.notify_all()
        self.give_up(lambda task: True, reason)

    def join(self, timeout_s: float) -> None:
        """Wait until every thread has ended, for so long."""
        until = time.monotonic() + timeout_s
        with self._changed:
            threads = [thread for thread in (self._thread, *self._threads) if thread.ident]
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        reason: BaseException = RuntimeError("the engine ended")
        try:
            with self._changed:
                while self._end is None:
                    now = time.monotonic()
                    started = self._schedule.start(now)
                    if started:
                        self._launch(started)
                        continue  # a thread that could not be started leaves room for others
                    look = self._schedule.next_look()
                    self._changed.wait(None if look is None else max(0.0, look - now))
        except BaseException as error:
            reason = error
        finally:
            self.stop(reason)
            self._give_back(reason)

    def _give_back(self, reason: BaseException) -> None:
        """Settle what was begun and is with no thread, if the engine itself broke."""
        with self._changed:
            for task in list(self._schedule.running.values()):
                if task.key not in self._given:
                    self._settle(task, self._failed(task, reason))

    def _launch(self, tasks: list[Task]) -> None:
        for task in tasks:
            self._company[task.key] = Company()
        for task in tasks:
            mine = self._company[task.key]
            mine.keys.update(key for key in self._schedule.running if key != task.key)
            for key in mine.keys:
                self._company[key].keys.add(task.key)
            try:
                self._give(task, mine)
            except RuntimeError as error:  # no more threads to be had
                self._over(task, self._failed(task, error))

    def _give(self, task: Task, company: Company) -> None:
        """Let a thread that has nothing to do perform a task, or a new one."""
        if self._idle:
            self._idle -= 1
        else:
            thread = threading.Thread(target=self._work, name="fabric measure", daemon=True)
            thread.start()
            self._threads.append(thread)
        self._given.add(task.key)
        self._turns.put((task, company))

    def _work(self) -> None:
        while (turn := self._turns.get()) is not None:
            self._one(*turn)

    def _one(self, task: Task, company: Company) -> None:
        outcome: T | Again
        try:
            outcome = self._perform(task, company, partial(self._free, task))
        except BaseException as error:
            outcome = self._failed(task, error)
        with self._changed:
            self._over(task, outcome)
            self._idle += 1

    def _free(self, task: Task, is_usual: bool) -> bool:
        """Let others have what a task claims; nothing runs beside it from now on."""
        with self._changed:
            is_awaited = self._schedule.has_waiting(task.phase)
            if task.key in self._schedule.running:
                self._schedule.free(task, time.monotonic(), is_usual)
                del self._company[task.key]
                self._changed.notify_all()
            return is_awaited

    def _over(self, task: Task, outcome: T | Again) -> None:
        self._schedule.end(task, time.monotonic())
        self._company.pop(task.key, None)
        if not isinstance(outcome, Again):
            self._settle(task, outcome)
        elif self._end is not None:
            self._settle(task, self._failed(task, self._end))
        else:
            self._schedule.put_off(task, time.monotonic() + outcome.after_s)
        self._changed.notify_all()

    def _settle(self, task: Task, outcome: T) -> None:
        result = self._results[task.key]
        if not result.done():
            result.set_result(outcome)
