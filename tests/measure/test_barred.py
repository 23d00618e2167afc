"""What bars a pair: what took long and would take long again, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric import ib_read_bw, ib_write_lat, ping, rdma_reach
from pytest_fabric.declare import Declaration
from pytest_fabric.measure.barred import Barred
from pytest_fabric.measure.plan import Job, Policy, Want, job_of
from pytest_fabric.measure.record import without_value
from pytest_fabric.results import Failure, Pair, Port
from tests.clusters import cluster

PAIR = Pair(Port("gpu001", "rail0"), Port("gpu002", "rail0"))
LOST = f"{PAIR}: ib_write_lat: client at gpu001:rail0: completion with status 12"


def job(declaration: Declaration) -> Job:
    return job_of(Want(declaration, PAIR), cluster(), Policy())


def after(declaration: Declaration, error: Failure | None) -> Barred:
    barred = Barred()
    done = job(declaration)
    barred.note(done, without_value(str(PAIR), done.settings, error))
    return barred


def test_a_pair_that_rdma_does_not_reach_is_not_tried_again() -> None:
    """The error names what was found, in one line, and its own tool."""
    failure = after(rdma_reach(), Failure("completion", LOST)).failure(job(ib_read_bw()))

    assert failure is not None
    assert failure.kind == "unreached"
    assert failure.message == (
        f"{PAIR}: ib_read_bw: not tried, since RDMA does not reach the other end (ib_write_lat "
        "size=2 iterations=100 traffic_class=106 priority=3): client at gpu001:rail0: completion "
        "with status 12"
    )


def test_a_hang_bars_whatever_it_was() -> None:
    failure = after(ib_write_lat(size=4), Failure("hang", "x")).failure(job(ib_read_bw()))

    assert failure is not None
    assert failure.message.endswith("not tried, since ib_write_lat on this pair hung before")


@pytest.mark.parametrize(
    ("declaration", "error"),
    [
        (rdma_reach(), None),
        (rdma_reach(), Failure("lease", "somebody measures")),
        (rdma_reach(), Failure("peer_lost", "the server was killed")),
        (rdma_reach(), Failure("node_lost", "gpu002: lost")),
        (ib_write_lat(size=4), Failure("completion", LOST)),
        (ib_write_lat(size=4096, iterations=100), Failure("completion", LOST)),
        (ib_read_bw(), Failure("completion", LOST)),
    ],
)
def test_nothing_else_bars_a_pair(declaration: Declaration, error: Failure | None) -> None:
    """The path may lose large messages only, and what passes by itself is no reason."""
    assert after(declaration, error).failure(job(ib_read_bw())) is None


def test_other_pairs_are_not_barred() -> None:
    barred = after(rdma_reach(), Failure("completion", LOST))
    other = replace(job(ib_read_bw()), pair=Pair(PAIR.server, PAIR.client))

    assert barred.failure(other) is None


def test_a_ping_has_settings_of_its_own() -> None:
    """No class, packets instead of iterations, and another key for each size."""
    small, full, few = (job(d) for d in (ping(), ping(full_size=True), ping(packets=100)))

    assert small.settings.key == "ping size=56 iterations=3000"
    assert full.settings.key == "ping size=4164 iterations=3000 packet=full"
    assert few.settings.key == "ping size=56 iterations=100"
    assert {one.load for one in (small, full, few)} == {"light"}
    assert {one.phase for one in (small, full, few)} == {0}
