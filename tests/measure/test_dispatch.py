"""A result comes out of every task, whatever happens in its thread or to the engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from pytest_fabric.measure.claims import Claims
from pytest_fabric.measure.dispatch import Again, Company, Dispatcher, Free
from pytest_fabric.measure.schedule import Schedule, Task

WAIT_S = 10.0


def tasks(*held: str) -> list[Task]:
    return [Task(str(n), 0, n, Claims(held=(name,)), 0.01) for n, name in enumerate(held)]


def dispatcher(
    perform: Callable[[Task, Company, Free], str | Again], at_once: int = 10
) -> Dispatcher[str]:
    return Dispatcher(Schedule({}, at_once), perform, lambda task, error: f"failed: {error!r}")


def test_results_come_out_by_key_and_company_is_told() -> None:
    """Two that run at the same time each name the other; a third that comes later none."""
    both = threading.Barrier(2)
    seen: dict[str, Company] = {}

    def perform(task: Task, company: Company, free: Free) -> str:
        seen[task.key] = company
        if task.key in "01":
            both.wait(WAIT_S)
        return f"done {task.key}"

    made = dispatcher(perform)
    made.add(tasks("a", "b"))
    made.start()
    assert [made.result(key).result(WAIT_S) for key in "01"] == ["done 0", "done 1"]
    made.add([Task("2", 1, 2, Claims(held=("a",)), 0.01)])
    assert made.result("2").result(WAIT_S) == "done 2"
    assert [company.keys for company in (seen["0"], seen["1"], seen["2"])] == [{"1"}, {"0"}, set()]
    made.stop(RuntimeError("over"))
    made.join(WAIT_S)


@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit(3), KeyboardInterrupt()])
def test_what_a_task_raises_becomes_its_result(error: BaseException) -> None:
    """Nobody waits for ever for a thread that died, and the next task runs."""

    def perform(task: Task, company: Company, free: Free) -> str:
        if task.key == "0":
            raise error
        return "done"

    made = dispatcher(perform)
    made.add(tasks("a", "a"))
    made.start()
    assert made.result("0").result(WAIT_S) == f"failed: {error!r}"
    assert made.result("1").result(WAIT_S) == "done"
    made.stop(RuntimeError("over"))


def test_a_task_that_ran_in_vain_is_run_again() -> None:
    """And its place is free for others meanwhile."""
    turns: list[str] = []

    def perform(task: Task, company: Company, free: Free) -> str | Again:
        turns.append(task.key)
        return Again(0.2) if turns == ["0"] else "done"

    made = dispatcher(perform)
    made.add(tasks("a", "a"))
    made.start()
    assert made.result("0").result(WAIT_S) == "done"
    assert turns == ["0", "1", "0"]
    made.stop(RuntimeError("over"))


def test_stop_ends_what_has_not_started_and_lets_the_rest_finish() -> None:
    """`-x` stops measuring: nothing new begins, and every result is there."""
    begun, go_on = threading.Event(), threading.Event()

    def perform(task: Task, company: Company, free: Free) -> str:
        begun.set()
        go_on.wait(WAIT_S)
        return "done"

    made = dispatcher(perform)
    made.add(tasks("a", "a", "b"))
    made.start()
    assert begun.wait(WAIT_S)
    made.stop(RuntimeError("over"))
    assert made.result("1").result(WAIT_S) == "failed: RuntimeError('over')"
    made.add([Task("late", 0, 9, Claims(held=("c",)), 1.0)])
    assert made.result("late").result(WAIT_S) == "failed: RuntimeError('over')"
    go_on.set()
    assert made.result("0").result(WAIT_S) == "done"
    made.join(WAIT_S)


def test_what_a_task_has_given_back_is_used_while_it_makes_its_result() -> None:
    """The next on the same port begins, is no company, and a later phase still waits."""
    go_on, begun = threading.Event(), {key: threading.Event() for key in "012"}
    seen: dict[str, Company] = {}

    def perform(task: Task, company: Company, free: Free) -> str:
        seen[task.key] = company
        begun[task.key].set()
        if task.key == "0":
            free(True)
            go_on.wait(WAIT_S)
        return f"done {task.key}"

    made = dispatcher(perform)
    made.add([*tasks("a", "a"), Task("2", 1, 2, Claims(held=("b",)), 0.01)])
    made.start()
    assert made.result("1").result(WAIT_S) == "done 1"
    assert not made.result("0").done()
    assert not begun["2"].wait(0.1)
    status = made.status()
    assert (status.running, status.waiting, status.done) == ((), 1, 1)
    go_on.set()
    assert [made.result(key).result(WAIT_S) for key in "02"] == ["done 0", "done 2"]
    assert not any(company.keys for company in seen.values())
    made.stop(RuntimeError("over"))
    made.join(WAIT_S)


def test_a_machine_without_threads_left_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The task fails by name; nothing hangs."""
    started = threading.Thread.start
    refused: list[threading.Thread] = []

    def start(thread: threading.Thread) -> None:
        if thread.name == "fabric measure" and not refused:
            refused.append(thread)
            raise RuntimeError("can't start new thread")
        started(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    made = dispatcher(lambda task, company, free: "done")
    made.add(tasks("a", "a"))
    made.start()
    assert "can't start new thread" in made.result("0").result(WAIT_S)
    assert made.result("1").result(WAIT_S) == "done"
    made.stop(RuntimeError("over"))


def test_an_engine_that_breaks_fails_everything_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A supervisor that ends lets nobody wait."""
    schedule = Schedule({}, 10)
    made = Dispatcher(schedule, lambda task, company, free: "done", lambda task, error: repr(error))
    made.add(tasks("a"))
    monkeypatch.setattr(schedule, "start", lambda now: 1 / 0)
    made.start()
    assert made.result("0").result(WAIT_S) == "ZeroDivisionError('division by zero')"


def test_what_is_known_is_not_run() -> None:
    """A resumed run takes over what there is."""
    ran: list[str] = []

    def perform(task: Task, company: Company, free: Free) -> str:
        ran.append(task.key)
        return "made"

    made = dispatcher(perform)
    made.put("0", "known")
    made.add(tasks("a", "b"))
    made.start()
    assert [made.result(key).result(WAIT_S) for key in "01"] == ["known", "made"]
    assert ran == ["1"]
    made.stop(RuntimeError("over"))


def test_the_status_counts_what_waits_runs_and_is_done() -> None:
    """For the line that people look at."""
    go_on = threading.Event()
    made = dispatcher(lambda task, company, free: str(go_on.wait(WAIT_S)), at_once=2)
    made.add(tasks("a", "b", "c"))
    made.start()
    until = time.monotonic() + WAIT_S
    while len(made.status().running) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    status = made.status()
    assert (len(status.running), status.waiting, status.done) == (2, 1, 0)
    go_on.set()
    made.result("2").result(WAIT_S)
    made.stop(RuntimeError("over"))
    made.join(WAIT_S)
    assert made.status().done == 3


def test_whoever_gives_back_its_claims_is_told_whether_others_wait() -> None:
    """What is left to do makes room for those that start now, and for nobody else."""
    told: dict[str, bool] = {}

    def perform(task: Task, company: Company, free: Free) -> str:
        told[task.key] = free(True)
        return "done"

    made = dispatcher(perform)
    made.add([*tasks("a", "a"), Task("later", 1, 0, Claims(held=("a",)), 0.01)])
    made.start()
    assert made.result("later").result(WAIT_S) == "done"
    assert told == {"0": True, "1": False, "later": False}
    made.stop(RuntimeError("over"))
    made.join(WAIT_S)
