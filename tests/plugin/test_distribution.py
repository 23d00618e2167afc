"""Which worker runs which test: every test once, also when workers crash."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.distribution import PlanScheduling, deal

GROUPS = st.lists(st.sampled_from([None, "a", "b", "c", "d", "e"]), max_size=40)


@given(GROUPS, st.integers(1, 6))
def test_every_test_is_dealt_once_and_groups_stay_together(
    groups: list[str | None], workers: int
) -> None:
    """Tests about one measurement are run by one worker, in their order."""
    lists = deal(groups, workers)

    assert sorted(index for indices in lists for index in indices) == list(range(len(groups)))
    for group in set(groups) - {None}:
        members = [index for index, found in enumerate(groups) if found == group]
        (holder,) = [indices for indices in lists if members[0] in indices]
        start = holder.index(members[0])
        assert holder[start : start + len(members)] == members


@given(GROUPS, st.integers(1, 6))
def test_lists_are_balanced_and_follow_the_plan(groups: list[str | None], workers: int) -> None:
    """No list is longer than another by more than a group; each is in the order of the plan."""
    lists = deal(groups, workers)
    sizes = [len(indices) for indices in lists]
    largest = max(Counter(group for group in groups if group).values(), default=1)
    first = {group: groups.index(group) for group in set(groups) - {None}}

    assert max(sizes) - min(sizes) <= max(1, largest)
    for indices in lists:
        places = [index if groups[index] is None else first[groups[index]] for index in indices]
        assert places == sorted(places)


class Worker:
    """A worker as xdist's runs tests: one when it knows what comes next, or that nothing does."""

    def __init__(self, name: int) -> None:
        self.gateway = SimpleNamespace(id=f"gw{name}")
        self.queue: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down, "nobody reads this any more"
        self.queue.extend(indices)

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def can_run(self) -> bool:
        return len(self.queue) > 1 or (bool(self.queue) and self.shutting_down)


class Session:
    """What xdist does with a scheduler."""

    def __init__(self, groups: list[str | None], workers: int, has_ours: bool = True) -> None:
        options = {"tx": ["popen"] * workers, "maxschedchunk": None}
        config = SimpleNamespace(getvalue=options.get, getoption=options.get, hook=None)
        self.scheduler = PlanScheduling(config, None, lambda: groups if has_ours else None)
        self.ids = [str(index) for index in range(len(groups))]
        self.workers: list[Worker] = []
        self.names = iter(range(1000))
        self.run: list[int] = []
        self.crashed: list[int] = []
        for _ in range(workers):
            self.join()

    def join(self) -> None:
        worker = Worker(next(self.names))
        self.workers.append(worker)
        self.scheduler.add_node(worker)
        self.scheduler.add_node_collection(worker, self.ids)
        if self.scheduler.collection_is_completed:
            self.scheduler.schedule()

    def step(self, worker: Worker) -> None:
        index = worker.queue.pop(0)
        self.run.append(index)
        self.scheduler.mark_test_complete(worker, index)

    def crash(self, worker: Worker) -> None:
        self.workers.remove(worker)
        item = self.scheduler.remove_node(worker)
        assert item == (str(worker.queue[0]) if worker.queue else None)
        if item is not None:
            self.crashed.append(int(item))


@given(GROUPS, st.integers(1, 4), st.data())
def test_a_crash_costs_one_test(
    groups: list[str | None], workers: int, data: st.DataObject
) -> None:
    """Whoever crashes when, every other test is run once; nobody waits for ever."""
    session = Session(groups, workers)
    crashes = data.draw(st.integers(0, 4))
    while active := [worker for worker in session.workers if worker.can_run]:
        worker = data.draw(st.sampled_from(active))
        if crashes and data.draw(st.booleans()):
            crashes -= 1
            session.crash(worker)
            session.join()
        else:
            session.step(worker)

    assert sorted(session.run + session.crashed) == list(range(len(groups)))
    assert session.scheduler.tests_finished
    assert all(worker.shutting_down for worker in session.workers)


def test_tests_of_others_are_scheduled_as_always() -> None:
    """Without fabric tests a worker is given a few at a time, as xdist does it."""
    session = Session([None] * 40, 2, has_ours=False)

    assert [len(worker.queue) for worker in session.workers] == [5, 5]
    while active := [worker for worker in session.workers if worker.can_run]:
        session.step(active[0])
    assert sorted(session.run) == list(range(40))


def test_what_a_crashed_worker_leaves_does_not_wait_for_another_to_start() -> None:
    """A worker that still has tests takes the rest, when no replacement is allowed."""
    session = Session(["a", "b", "c", "d", "e", "f"], 2)
    session.crash(session.workers[0])
    (worker,) = session.workers
    while worker.can_run:
        session.step(worker)

    assert sorted(session.run + session.crashed) == list(range(6))


def test_a_worker_that_dies_before_tests_are_dealt_is_replaced() -> None:
    """Its collection counts no more."""
    session = Session(["a", "b"], 2)
    early = PlanScheduling(session.scheduler.config, None, lambda: ["a", "b"])
    first, second, third = (Worker(number) for number in range(3))
    for worker in (first, second):
        early.add_node(worker)
    early.add_node_collection(first, ["0", "1"])
    early.remove_node(first)
    early.add_node_collection(second, ["0", "1"])
    assert not early.collection_is_completed
    early.add_node(third)
    early.add_node_collection(third, ["0", "1"])
    early.schedule()

    assert second.queue == [0]
    assert third.queue == [1]
