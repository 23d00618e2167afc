"""The fixtures of suites; each rests on the hidden target that a test is parametrised with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fabric.errors import MeasurementError
from pytest_fabric.markers import declared
from pytest_fabric.results import NodeFacts, Pair, PairGroup, Port

if TYPE_CHECKING:
    from pytest_fabric.answers import Answers, Result
    from pytest_fabric.config import Cluster
    from pytest_fabric.judge.facts import PortResult
    from pytest_fabric.judge.limits import Limits
    from pytest_fabric.subjects import MeasurablePair, NodeShell

#: Where the tests of this session find their answers; set once fabric tests have been collected.
answers_key = pytest.StashKey["Answers"]()


def answers_of(config: pytest.Config) -> Answers:
    """Return where tests find their answers."""
    return config.stash[answers_key]


@pytest.fixture
def _fabric_target(request: pytest.FixtureRequest) -> Pair | PairGroup | Port | str:
    target = request.param
    if not isinstance(target, Pair | PairGroup | Port | str):
        if target.is_skipped:
            pytest.skip(target.reason)
        raise MeasurementError(str(target), "no_target", target.reason)
    return target


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Return the inventory of the run."""
    return answers_of(request.config).cluster


@pytest.fixture
def node(_fabric_target: PairGroup | Port | str) -> str:
    """Return the name of the node under test, or of the port under test."""
    return _fabric_target.node if isinstance(_fabric_target, Port) else str(_fabric_target)


@pytest.fixture
def result(request: pytest.FixtureRequest, _fabric_target: Pair | PairGroup | Port | str) -> Result:
    """Return the result of the measurement that the test declares, made if need be."""
    return answers_of(request.config).result(request.node, _fabric_target)


@pytest.fixture
def limits(request: pytest.FixtureRequest, _fabric_target: Pair | PairGroup | Port | str) -> Limits:
    """Return the limits of the target by metric; a missing one is an error."""
    return answers_of(request.config).limits(_fabric_target, declared(request.node))


@pytest.fixture
def rdma_device(request: pytest.FixtureRequest, _fabric_target: Port) -> PortResult:
    """Return the port under test with its device and what it says about itself."""
    return answers_of(request.config).port(request.node, _fabric_target)


@pytest.fixture
def pair(request: pytest.FixtureRequest, _fabric_target: Pair) -> MeasurablePair:
    """Return the pair under test; `pair.measure(ib_read_lat(size=4096))` measures on the spot."""
    return answers_of(request.config).pair(request.node, _fabric_target)


@pytest.fixture
def facts(request: pytest.FixtureRequest, node: str) -> NodeFacts:
    """Return what the node under test says about itself."""
    return answers_of(request.config).facts(request.node, node)


@pytest.fixture
def ssh(request: pytest.FixtureRequest, node: str) -> NodeShell:
    """Return a shell on the node under test: `run(...)`, `check_output(...)`."""
    return answers_of(request.config).shell(request.node, node)
