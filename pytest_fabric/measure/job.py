"""One measurement that is to be made, on a pair or on a group of pairs, and its phase."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from pytest_fabric.measure.settings import Settings
from pytest_fabric.metrics import TCP_TOOLS
from pytest_fabric.results import Pair, Port

#: Loads from the least: what a measurement of each may do to the traffic of others.
LOADS = ("light", "full", "disruptive")

#: Kinds of measurements in the order in which they are made: TCP disturbs no RDMA that is judged,
#: and comes before what disrupts everything; groups of pairs come after all single ones.
STAGES = ("light", "full", "tcp", "disruptive", "group full", "group disruptive")


@dataclass(frozen=True)
class Job:
    """One measurement on a pair; `alone` counts its repetitions with nothing beside it, from 1.

    `places` are the nodes and leaves of its ends. That of a group has its `members`, a job each,
    and the `group`'s target; its `pair` is the first of them, and `instead` are
    those of its repetitions, where they are others.
    """

    pair: Pair
    settings: Settings
    load: str
    alone: int = 0
    places: frozenset[str] = field(default=frozenset(), compare=False)
    group: str | None = None
    members: tuple[Job, ...] = ()
    instead: tuple[Job, ...] = ()

    @property
    def target(self) -> str:
        """Return what it is made on: a pair, or what a group loads."""
        return str(self.pair) if self.group is None else self.group

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Return every pair that it measures."""
        return tuple(member.pair for member in self.members) or (self.pair,)

    @property
    def touched(self) -> tuple[Pair, ...]:
        """Return every pair that it or a repetition of it may measure."""
        return (*self.pairs, *(member.pair for member in self.instead))

    @property
    def ports(self) -> tuple[Port, ...]:
        """Return every port that it loads, each once."""
        ends = (end for pair in self.pairs for end in (pair.client, pair.server))
        return tuple(dict.fromkeys(ends))

    @cached_property
    def name(self) -> str:
        """Return what people know it by."""
        return f"{self.settings.tool} {self.target}"

    @cached_property
    def key(self) -> str:
        """Return what makes it the same measurement as another."""
        key = f"{self.target} {self.settings.key}"
        return again_key(key, self.alone) if self.alone else key

    @property
    def is_alone(self) -> bool:
        """Return whether it is made with nothing beside it."""
        return bool(self.alone) or self.settings.isolate in ("leaf", "fabric")

    @property
    def phase(self) -> int:
        """Return its phase: stages apart, and of each stage what is measured alone comes last."""
        is_tcp = self.load == "full" and self.settings.tool in TCP_TOOLS
        kind = "tcp" if is_tcp else self.load
        stage = kind if self.group is None else f"group {self.load}"
        return 2 * STAGES.index(stage) + self.is_alone


def again_key(key: str, number: int) -> str:
    """Return the key of a repetition alone of the measurement with a key, counted from 1."""
    return f"{key} alone {number}"
