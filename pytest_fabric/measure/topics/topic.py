"""What a topic is: commands that a node is asked, and what their outputs say, both pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_fabric.config import Cable, Cluster
from pytest_fabric.measure.end import End
from pytest_fabric.results import Fact, NodeFacts, RdmaPort
from pytest_fabric.tools import names
from pytest_fabric.transport import Collect, Outcome
from pytest_fabric.transport.jobs import Word

#: By target (the node, or the id of one of its ports), then by metric.
Facts = Mapping[str, Mapping[str, Fact]]

#: What a node may take to answer; the tools of firmware take seconds per port.
DEADLINE_S = 60.0


@dataclass(frozen=True)
class Subject:
    """A node that is asked: what it said first, and its declared ports that were found.

    `cables` is the plan of all cables, for a node that is asked about the whole fabric; `cluster`
    says what is declared.
    """

    node: str
    facts: NodeFacts
    ends: tuple[End, ...]
    cables: tuple[Cable, ...] = ()
    cluster: Cluster | None = None

    def asroot(self, program: str) -> tuple[str, ...]:
        """Return the words before a program that the profile lets run as root, mostly none."""
        allowed = any(program in end.rail.profile.sudo for end in self.ends)
        return ("sudo", "-n", program) if allowed else (program,)


def netdevs(port: RdmaPort) -> tuple[str, ...]:
    """Return the network devices that carry a port; the node chose their names, and odd ones go."""
    return tuple(name for name in port.netdevs if re.fullmatch(names.NETDEV, name))


def everyone(cluster: Cluster, node: str) -> bool:
    """Let a topic be asked of every node."""
    return True


@dataclass(frozen=True)
class Topic:
    """One topic: `sections` are the commands, in one job; `read` says what came of them.

    A fact that cannot be told has a `problem` with its remedy, and is never left out: a test that
    asks for it is an error then. `of` tells which nodes are asked. With `vantage` one of them is
    enough, the first that answers, and its facts are those of the whole fabric.
    """

    name: str
    sections: Callable[[Subject], Mapping[str, tuple[Word, ...]]]
    read: Callable[[Subject, Mapping[str, Outcome]], Facts]
    deadline_s: float = DEADLINE_S
    of: Callable[[Cluster, str], bool] = everyone
    vantage: bool = False

    def job(self, subject: Subject) -> Collect:
        """Return the one job that asks a node."""
        return Collect(dict(self.sections(subject)), self.deadline_s)
