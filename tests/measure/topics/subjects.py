"""A node that topics are asked about, and what its commands print."""

from __future__ import annotations

from dataclasses import replace

from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.results import NodeFacts, PciHop, Port, RdmaPort
from pytest_fabric.transport import Outcome
from tests.clusters import TEXT, cluster
from tests.judge.test_views import PORT as RDMA

FACTS = NodeFacts("gpu001", "6.1", "6.24", {}, None, (0,), {}, {}, ())
HOPS = (PciHop("0000:1a:00.0", 32e9, 16, 32e9, 16), PciHop("0000:19:00.0", 32e9, 16, 32e9, 16))
CARD: RdmaPort = replace(RDMA, firmware="28.39.1002", psid="MT_0000000838", pcie=HOPS)


def subject(text: str = TEXT, *cards: RdmaPort) -> Subject:
    """Return gpu001 with one rail for each of its cards; without any, it has the usual one."""
    rail = cluster(text).nodes["gpu001"].rails["rail0"]
    ends = tuple(
        End(Port("gpu001", f"rail{place}"), rail, FACTS, card)
        for place, card in enumerate(cards or (CARD,))
    )
    return Subject("gpu001", FACTS, ends)


def said(stdout: str = "", stderr: str = "", status: int | None = 0, end: str = "exit") -> Outcome:
    """Return how a section ended."""
    return Outcome(end, status, stdout, stderr, False, 0.1)


MISSING = said(stderr="sh: 1: tool: not found\n", status=127)
LATE = said("driver: ml", end="deadline", status=None)
