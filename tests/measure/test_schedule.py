"""The order of tasks: each runs once, nothing is used twice at a time, phases are apart."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.measure.claims import Claims, Occupied
from pytest_fabric.measure.schedule import Schedule, Task, simulate

Run = tuple[Task, float, float]


def task(number: int, *held: str, phase: int = 0, seconds: float = 1.0, **claims: object) -> Task:
    return Task(str(number), phase, number, Claims(held=held, **claims), seconds)  # type: ignore[arg-type]


def runs(
    tasks: Sequence[Task], schedule: Schedule, jitter: float = 0.0, seed: int = 1
) -> list[Run]:
    """Return every task with its start and end, when each takes a little longer than it should."""
    chance = random.Random(1)
    for each in tasks:
        schedule.add(each)
    found: list[Run] = []
    ends: list[tuple[float, int, Task]] = []
    numbers, now = itertools.count(), 0.0
    while True:
        for each in schedule.start(now):
            end = now + each.expected_s * (1 + chance.uniform(0, jitter))
            heapq.heappush(ends, (end, next(numbers), each))
            found.append((each, now, end))
        look = schedule.next_look()
        if not ends and look is None:
            return found
        if look is not None and now < look and (not ends or look < ends[0][0]):
            now = look
            continue
        if not ends:
            return found
        now, _, ended = heapq.heappop(ends)
        schedule.free(ended, now)
        schedule.end(ended, now)


def overlapping(found: Sequence[Run]) -> list[tuple[Task, Task]]:
    return [
        (one, other)
        for (one, start, end), (other, begin, finish) in itertools.combinations(found, 2)
        if start < finish and begin < end
    ]


def mesh(ports: int) -> list[Task]:
    """Return a full mesh in the rounds of the circle method."""
    names = [f"port {number}" for number in range(ports)]
    pairs: list[tuple[str, str]] = []
    for _ in range(ports - 1):
        pairs.extend(zip(names[: ports // 2], reversed(names[ports // 2 :]), strict=True))
        names = [names[0], names[-1], *names[1:-1]]
    return [task(number, *pair) for number, pair in enumerate(pairs)]


TASKS = st.lists(
    st.tuples(
        st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=3),
        st.integers(0, 3),
        st.sampled_from((0.5, 1.0, 4.0)),
        st.sets(st.sampled_from(("x", "y")), max_size=2),
        st.booleans(),
    ),
    max_size=40,
)


def made(described: list[tuple[set[str], int, float, set[str], bool]]) -> list[Task]:
    return [
        task(
            number,
            *sorted(held),
            *(["fabric"] if whole else []),
            phase=phase,
            seconds=seconds,
            shared=() if whole else ("fabric",),
            budgets=tuple(sorted(budgets)),
        )
        for number, (held, phase, seconds, budgets, whole) in enumerate(described)
    ]


@given(TASKS, st.integers(1, 6), st.sampled_from((0.0, 0.3, 2.0)))
def test_everything_runs_once_and_nothing_is_used_twice_at_a_time(
    described: list[tuple[set[str], int, float, set[str], bool]], at_once: int, jitter: float
) -> None:
    """Whatever is claimed and however long it takes: no task is lost, no claim is broken."""
    tasks = made(described)
    found = runs(tasks, Schedule({"x": 2, "y": 1}, at_once), jitter)

    assert sorted(each.order for each, _, _ in found) == [each.order for each in tasks]
    pairs = overlapping(found)
    for one, other in pairs:
        assert not set(one.claims.held) & set(other.claims.names())
        assert one.phase == other.phase
        assert "y" not in set(one.claims.budgets) & set(other.claims.budgets)
    for each, start, end in found:
        beside = [o for o, begin, finish in found if begin <= start < finish and o is not each]
        assert len(beside) < at_once
        assert sum("x" in o.claims.budgets for o in beside) < 2 or "x" not in each.claims.budgets
        assert end > start


@given(TASKS)
def test_phases_come_in_order(
    described: list[tuple[set[str], int, float, set[str], bool]],
) -> None:
    """All of a phase has ended before the next begins."""
    found = runs(made(described), Schedule({"x": 2, "y": 1}, 100))

    starts = [each.phase for each, start, _ in sorted(found, key=lambda run: run[1])]
    assert starts == sorted(starts)


def test_a_full_mesh_keeps_its_rounds_although_nobody_is_punctual() -> None:
    """16 ports, 15 rounds: with 5 % of jitter it takes no more than 10 % longer than its rounds."""
    found = runs(mesh(16), Schedule({}, 100), jitter=0.05)

    assert len(found) == 120
    assert max(end for _, _, end in found) < 15 * 1.1


def test_the_rounds_are_kept_too_when_everything_takes_half_as_long_as_expected() -> None:
    """What tasks really take is learnt from the first that ends."""
    tasks = mesh(16)
    halved = [Task(t.key, 0, t.order, t.claims, 2.0) for t in tasks]
    schedule = Schedule({}, 100)
    for each in halved:
        schedule.add(each)
    now, ends, numbers = 0.0, list[tuple[float, int, Task]](), itertools.count()
    chance = random.Random(2)
    while True:
        for each in schedule.start(now):
            heapq.heappush(ends, (now + chance.uniform(1.0, 1.05), next(numbers), each))
        if not ends:
            break
        now, _, ended = heapq.heappop(ends)
        schedule.free(ended, now)
        schedule.end(ended, now)
    assert now < 15 * 1.1


def test_a_port_that_is_busy_is_not_looked_at_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a task costs does not grow with the tasks that wait: its two ports end, and look."""
    looks: list[Claims] = []
    obstacle = Occupied.obstacle

    def seen(self: Occupied, claims: Claims) -> str | None:
        looks.append(claims)
        return obstacle(self, claims)

    monkeypatch.setattr(Occupied, "obstacle", seen)
    tasks = mesh(32)
    runs(tasks, Schedule({}, len(tasks)), jitter=0.03)
    assert len(looks) < 10 * len(tasks)


def test_a_task_that_hangs_holds_up_nobody_but_its_own_ports() -> None:
    """The others go on with whom they can, after a moment of patience."""
    tasks = mesh(8)
    slow = [Task(t.key, 0, t.order, t.claims, 30.0 if t.order == 0 else 1.0) for t in tasks]
    found = runs(slow, Schedule({}, 100))

    ports = set(slow[0].claims.held)
    others = [end for each, _, end in found if not ports & set(each.claims.held)]
    assert max(others) < 15


def test_a_task_that_was_put_off_comes_again_in_time() -> None:
    """A lease is tried again later; meanwhile the others go on."""
    schedule = Schedule({}, 10)
    first, second = task(0, "a", "b"), task(1, "a", "c")
    for each in (first, second):
        schedule.add(each)
    assert schedule.start(0.0) == [first]
    schedule.end(first, 0.1)
    schedule.put_off(first, 5.0)
    assert schedule.start(0.1) == [second]
    schedule.end(second, 1.1)
    assert schedule.start(2.0) == []
    assert schedule.waiting == 1
    assert schedule.next_look() == 5.0
    assert schedule.start(5.0) == [first]


def test_what_is_dropped_does_not_run() -> None:
    """A lost node takes its tasks out, those that were put off included."""
    schedule = Schedule({}, 10)
    tasks = [task(number, "a", f"b{number}") for number in range(3)]
    for each in tasks:
        schedule.add(each)
    (running,) = schedule.start(0.0)
    schedule.end(running, 1.0)
    schedule.put_off(running, 9.0)

    gone = schedule.drop({"0", "1"})

    assert {each.key for each in gone} == {"0", "1"}
    assert schedule.start(10.0) == [tasks[2]]
    assert schedule.waiting == 0


def test_what_is_left_is_told_by_the_busiest_port() -> None:
    """Three tasks of one port take three times as long as one, whatever the others do."""
    schedule = Schedule({}, 10)
    for number in range(3):
        schedule.add(task(number, "a", f"b{number}"))
    assert schedule.left_s(0.0) == 3.0
    schedule.start(0.0)
    assert schedule.left_s(0.5) == 2.5


def test_a_plan_can_be_played_through() -> None:
    """Starts and ends, if everything takes as long as it should."""
    played = list(simulate(mesh(4), Schedule({}, 10)))

    assert [(start, end) for _, start, end in played] == [(0, 1)] * 2 + [(1, 2)] * 2 + [(2, 3)] * 2
