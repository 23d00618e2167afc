"""What an earlier run measured, matched with the jobs of this one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from pytest_fabric import ib_write_lat
from pytest_fabric.declare import Declaration
from pytest_fabric.measure.engine import Engine
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.known import Known
from pytest_fabric.measure.plan import Job, Policy, Want, job_of
from pytest_fabric.results import Measurement, Pair, Port
from tests.clusters import cluster
from tests.report.examples import LATENCY

PAIR = Pair(Port("gpu001", "rail0"), Port("gpu002", "rail0"))


def job(declaration: Declaration) -> Job:
    return job_of(Want(declaration, PAIR), cluster(), Policy())


JOB = job(ib_write_lat(size=4))
RECORD = replace(LATENCY, key=JOB.settings.key)
AGAIN = [replace(RECORD, alone=True, company=0, started=float(number)) for number in (1, 2)]


def known(*records: Measurement, confirm: int = 2, misses: bool = True) -> Known:
    return Known(records, lambda record, peers=None: misses, confirm)


def test_repetitions_are_counted_in_their_order() -> None:
    """The first that was made alone is number 1; more than are wanted are left out."""
    found = known(RECORD, *AGAIN).of(JOB)

    assert [(one.alone, record) for one, record in found] == [
        (0, RECORD),
        (1, AGAIN[0]),
        (2, AGAIN[1]),
    ]
    assert len(known(RECORD, *AGAIN, confirm=1).of(JOB)) == 2


def test_repetitions_without_their_measurement_are_nothing() -> None:
    """They are repetitions of one that is made again now."""
    assert known(*AGAIN).of(JOB) == []


def test_what_is_isolated_is_no_repetition() -> None:
    """It is alone in the first place."""
    isolated = job(ib_write_lat(size=4, isolate="leaf"))
    record = replace(AGAIN[0], key=isolated.settings.key, settings=vars(isolated.settings))

    assert known(record).of(isolated) == [(isolated, record)]
    assert not known(record).is_open(isolated)


@pytest.mark.parametrize(
    ("records", "misses", "is_open"),
    [
        ([], True, True),
        ([RECORD], True, True),
        ([RECORD, AGAIN[0]], True, True),
        ([RECORD, *AGAIN], True, False),
        ([RECORD], False, False),
        ([replace(RECORD, company=0)], True, False),
        ([replace(RECORD, key="other")], True, True),
    ],
)
def test_a_miss_is_open_until_it_is_confirmed(
    records: list[Measurement], misses: bool, is_open: bool
) -> None:
    """By today's limits; what nothing was beside needs no repetition."""
    assert known(*records, misses=misses).is_open(JOB) is is_open


@dataclass
class NoFabric:
    """A fabric that must not be needed: it only remembers which nodes were asked."""

    cluster: Any = field(default_factory=cluster)
    asked: list[str] = field(default_factory=list)

    def gather(self, nodes: Iterable[str]) -> None:
        self.asked.extend(nodes)

    def read(self, pairs: Iterable[tuple[object, str]]) -> None:
        assert not list(pairs)

    @property
    def switches(self) -> NoFabric:
        return self

    def begin(self, pairs: Iterable[tuple[str, str]]) -> None:
        assert not list(pairs)


def test_nodes_of_which_nothing_is_missing_are_left_alone() -> None:
    """Nobody logs in to them, and nothing is stored twice; facts are wanted of the others."""
    fabric, kept = NoFabric(), list[Measurement]()
    engine = Engine(cast("Fabric", fabric), Policy(), kept.append, lambda record, peers=None: True)
    want = Want(ib_write_lat(size=4), PAIR)
    engine.start([want], others=["gpu002"], known=[RECORD, AGAIN[0]])

    assert fabric.asked == ["gpu002"]
    assert engine.pair(want).record == RECORD
    assert engine.alone(want) == (AGAIN[0],)
    assert (engine.taken_over, kept) == (2, [])
    engine.stop()
    engine.join()
