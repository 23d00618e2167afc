"""Which worker runs which test: lists that follow the order in which the engine measures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScheduling  # type: ignore[import-untyped]
from xdist.workermanage import WorkerController  # type: ignore[import-untyped]

Groups = Sequence[Hashable | None]


def deal(groups: Groups, workers: int) -> list[list[int]]:
    """Return a list of indices for each worker: every index once, equal groups together.

    Groups are dealt in the order of their first index, each to the worker that has least, so all
    workers are at about the same place of the plan. None is no group: such an index goes alone.
    """
    members: dict[object, list[int]] = {}
    for index, group in enumerate(groups):
        members.setdefault(("alone", index) if group is None else ("group", group), []).append(
            index
        )
    lists: list[list[int]] = [[] for _ in range(workers)]
    for indices in members.values():
        min(lists, key=len).extend(indices)
    return lists


class PlanScheduling(LoadScheduling):  # type: ignore[misc]
    """Gives each worker its whole list at once; what a crashed one leaves goes to whoever is free.

    Without `groups` there are no tests of ours, and it is plain load scheduling.
    """

    collection: list[str] | None

    def __init__(
        self, config: object, log: Producer | None, groups: Callable[[], Groups | None]
    ) -> None:
        super().__init__(config, log)
        self._groups_of = groups
        self._groups: Groups | None = None

    def schedule(self) -> None:
        """Deal the tests; later calls let a worker that came late take what was left."""
        if self.collection is None:
            self._groups = self._groups_of()
        if self._groups is None or self.collection is not None:
            super().schedule()
            return
        if not self._check_nodes_have_same_collection():
            return  # told by the check
        self.collection = next(iter(self.node2collection.values()))
        nodes = list(self.node2pending)
        for node, indices in zip(nodes, deal(self._groups, len(nodes)), strict=True):
            if indices:
                self.node2pending[node].extend(indices)
                node.send_runtest_some(indices)
            self.check_schedule(node)

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:
        """Let a worker that has come to its last test take what was left, or end."""
        if self._groups is None:
            super().check_schedule(node, duration)
            return
        # A worker begins a test only when it knows what comes next.
        while not node.shutting_down and len(self.node2pending[node]) < 2:
            if not self.pending:
                node.shutdown()
                return
            group = self._groups[self.pending[0]]
            together = 1
            while (
                group is not None
                and together < len(self.pending)
                and self._groups[self.pending[together]] == group
            ):
                together += 1
            self._send_tests(node, together)

    def remove_node(self, node: WorkerController) -> str | None:
        """Forget a worker; return the test that it crashed in, if any."""
        if self.collection is None:
            self.node2collection.pop(node, None)  # its replacement collects again
        crashed: str | None = super().remove_node(node)
        return crashed
