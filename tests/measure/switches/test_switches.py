"""Each switch is asked once, and before the load; what is not there is told, each time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from pytest_fabric import incast
from pytest_fabric.config import Switch, load
from pytest_fabric.declare import switch_facts, switch_window
from pytest_fabric.errors import MeasurementError, TransportError
from pytest_fabric.measure.loads import Loads
from pytest_fabric.measure.plan import Policy, Want, job_of
from pytest_fabric.measure.switches import Switches, asked
from pytest_fabric.results import Fact, Failure, Pair, PairGroup, Port, Reading
from pytest_fabric.transport import Collect, Outcome

from ...report.examples import BANDWIDTH
from .texts import PORT, counters, counts, facts, pause, site

CLUSTER_FILE = Path(__file__).parents[3] / "cluster.yaml"
INCAST = PairGroup(
    "gpu002:rail0",
    tuple(Pair(Port(name, "rail0"), Port("gpu002", "rail0")) for name in ("gpu001", "gpu003")),
)

LEAF = Switch(name="leaf-0", os="sonic", address="leaf-0")
CLUSTER = site().model_copy(update={"switches": {"leaf-0": LEAF}})


def loaded() -> Loads:
    """Return what a run has done that loaded the fabric within the last minutes."""
    return Loads(frozenset({"full"}), time.time() - 80, time.time() - 40)


class Leaf:
    """Answers as a switch does, with more traffic each time, and counts how often."""

    def __init__(self) -> None:
        self.jobs: list[str] = []
        self._turns: Iterator[int] = count(1)

    def ask(self, switch: str, collect: Collect) -> dict[str, Outcome]:
        first = next(iter(collect.sections))
        self.jobs.append(
            "after" if first == "wait" else "facts" if "lldp" in collect.sections else "before"
        )
        moved = counters(f"{next(self._turns) * 10_000:,}")
        known = {**facts(), **counts(counters=moved)}
        return {name: known[name] for name in collect.sections if name in known}


def test_what_is_wanted_is_the_switch_of_each_port_once() -> None:
    """A port whose switch is not declared wants nothing of anybody."""
    other = Port("gpu002", "rail0")
    wants = [Want(what(), port) for what in (switch_facts, switch_window) for port in (PORT, other)]

    assert asked([*wants, *wants], CLUSTER) == [("switch", "leaf-0"), ("switch_window", "leaf-0")]


def test_a_switch_is_asked_before_the_load_and_behind_it() -> None:
    """Whoever asks again gets the same reading, and it is kept once."""
    leaf, kept = Leaf(), list[Reading]()
    seconds = iter((100.0, 160.0))
    switches = Switches(CLUSTER, leaf.ask, kept.append, lambda: next(seconds))
    switches.begin([("switch", "leaf-0"), ("switch_window", "leaf-0")])
    assert sorted(leaf.jobs) == ["before", "facts"]

    windows = [switches.window("leaf-0", loaded()) for _ in range(2)]
    assert switches.facts("leaf-0").facts["gpu001:rail0"]["switch.state"].value == "up"

    assert sorted(leaf.jobs) == ["after", "before", "facts"]
    assert windows[0] is windows[1]
    assert [(reading.node, reading.topic) for reading in kept] == [
        ("leaf-0", "switch"),
        ("leaf-0", "switch_window"),
    ]
    assert "packets in 60 s" in windows[0].facts["gpu001:rail0"]["switch.rx_errors"].detail[-1]


def test_a_window_that_nobody_has_begun_is_an_error() -> None:
    switches = Switches(CLUSTER, Leaf().ask, lambda reading: None)

    with pytest.raises(MeasurementError, match="expected counters from before the first load"):
        switches.window("leaf-0", loaded())


def test_the_window_of_an_earlier_run_is_taken_over_where_it_holds() -> None:
    leaf, kept = Leaf(), list[Reading]()
    switches = Switches(CLUSTER, leaf.ask, kept.append)
    known = Reading("leaf-0", "switch_window", {})

    assert switches.window("leaf-0", Loads(), known) == known
    assert kept == [known]
    assert leaf.jobs == []


def test_a_switch_that_is_not_reached_says_so_each_time() -> None:
    tried = []

    def ask(switch: str, collect: Collect) -> dict[str, Outcome]:
        tried.append(switch)
        raise TransportError(switch, "refused", "nothing listens")

    switches = Switches(CLUSTER, ask, lambda reading: None)
    switches.begin([("switch", "leaf-0"), ("switch_window", "leaf-0")])
    calls: list[Callable[[], Reading]] = [
        lambda: switches.facts("leaf-0"),
        lambda: switches.window("leaf-0", loaded()),
    ]
    for call in calls * 2:
        with pytest.raises(TransportError, match="nothing listens"):
            call()
    assert len(tried) == 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return what a site has captured of a switch: before, and a minute later."""
    now = time.time()
    texts = {"before": {**facts(), **counts()}, "after": counts(counters=counters("50,000"))}
    for age, (when, outcomes) in zip((90, 30), texts.items(), strict=True):
        (tmp_path / when).mkdir()
        for section, outcome in outcomes.items():
            path = tmp_path / when / f"{section}.txt"
            path.write_text(outcome.stdout)
            os.utime(path, (now - age, now - age))
    return tmp_path


def from_files(folder: Path) -> Switches:
    switch = LEAF.model_copy(update={"files": folder})

    def ask(name: str, collect: Collect) -> dict[str, Outcome]:
        raise AssertionError("nobody is asked")

    cluster = CLUSTER.model_copy(update={"switches": {"leaf-0": switch}})
    switches = Switches(cluster, ask, lambda reading: None)
    switches.begin([("switch", "leaf-0"), ("switch_window", "leaf-0")])
    return switches


def test_files_are_read_instead_of_the_switch(folder: Path) -> None:
    switches = from_files(folder)

    assert switches.facts("leaf-0").facts["gpu001:rail0"]["switch.fec"].value == "RS"
    fact = switches.window("leaf-0", loaded()).facts["gpu001:rail0"]["switch.rx_errors"]
    assert (fact.value, fact.detail[-1].endswith("49,000 packets in 60 s")) == (0, True)


def test_a_file_that_is_missing_is_an_error_with_its_name(folder: Path) -> None:
    (folder / "before" / "lldp.txt").unlink()
    (folder / "after" / "drops.txt").unlink()
    switches = from_files(folder)

    with pytest.raises(MeasurementError, match=r"before/lldp.txt: No such file"):
        switches.facts("leaf-0")
    with pytest.raises(MeasurementError, match=r"after/drops.txt: No such file"):
        switches.window("leaf-0", loaded())


def test_a_pipe_is_no_file_and_is_not_waited_for(folder: Path) -> None:
    (folder / "before" / "lldp.txt").unlink()
    os.mkfifo(folder / "before" / "lldp.txt")

    with pytest.raises(MeasurementError, match=r"before/lldp.txt: it is no file"):
        from_files(folder).facts("leaf-0")


def test_stale_files_are_errors(folder: Path) -> None:
    """What is older than a day says nothing of this run, nor what was captured too early."""
    old = time.time() - 30 * 3600
    os.utime(folder / "before" / "status.txt", (old, old))
    with pytest.raises(MeasurementError, match="found it 30 hours old"):
        from_files(folder).facts("leaf-0")

    late = time.time() + 3600
    os.utime(folder / "before" / "status.txt", (late, late))
    with pytest.raises(MeasurementError, match="s ahead of this clock"):
        from_files(folder).facts("leaf-0")

    early = time.time() - 3600
    os.utime(folder / "before" / "status.txt")
    os.utime(folder / "after" / "pause.txt", (early, early))
    with pytest.raises(MeasurementError, match="captured later than"):
        from_files(folder).window("leaf-0", loaded())


def test_captures_of_another_time_than_that_of_the_load_are_errors(folder: Path) -> None:
    """Their growth would be that of other traffic; without any load, of none of ours."""
    now = time.time()
    for loads in (
        Loads(frozenset({"full"}), now - 9000, now - 8000),
        Loads(frozenset({"full"}), now - 10, now),
    ):
        with pytest.raises(MeasurementError, match="captured around the load of this run"):
            from_files(folder).window("leaf-0", loads)
    with pytest.raises(MeasurementError, match="which has made none"):
        from_files(folder).window("leaf-0", Loads())


def test_a_site_may_capture_the_moment_before_congestion_is_forced(folder: Path) -> None:
    """Pauses of the incast are then no fault; a capture of behind it would hide others."""
    now = time.time()
    forced = replace(loaded(), kinds=frozenset({"full", "disruptive"}), congested=now - 50)
    (folder / "after" / "pause.txt").write_text(pause(tx="99").stdout)
    os.utime(folder / "after" / "pause.txt", (now - 30, now - 30))
    metric = ("gpu001:rail0", "switch.pause_sent")

    def fact() -> Fact:
        return from_files(folder).window("leaf-0", forced).facts[metric[0]][metric[1]]

    assert "capture `middle/`" in (fact().inapplicable or "")
    (folder / "middle").mkdir()
    for section, told in counts(counters=counters("30,000")).items():
        (folder / "middle" / f"{section}.txt").write_text(told.stdout)
        os.utime(folder / "middle" / f"{section}.txt", (now - 60, now - 60))
    assert fact().value == 0

    forced = replace(forced, congested=now - 400)
    with pytest.raises(MeasurementError, match="before congestion was forced at"):
        fact()


def test_what_a_site_need_not_capture_may_be_missing(folder: Path) -> None:
    for when in ("before", "after"):
        (folder / when / "marks.txt").unlink()
    loads = replace(loaded(), receivers=frozenset({"gpu001:rail0"}))
    told = from_files(folder).window("leaf-0", loads).facts["gpu001:rail0"]

    assert "captured no marks.txt" in (told["switch.ecn_marked"].inapplicable or "")
    assert told["switch.rx_errors"].value == 0


def test_counters_are_read_once_before_congestion_is_forced() -> None:
    """Only of switches whose window has begun; one that does not answer then says so."""
    leaf = Leaf()
    switches = Switches(CLUSTER, leaf.ask, lambda reading: None)
    switches.congest()
    assert leaf.jobs == []

    switches = Switches(CLUSTER, leaf.ask, lambda reading: None)
    switches.begin([("switch_window", "leaf-0")])
    for _ in range(2):
        switches.congest()
    assert leaf.jobs == ["before", "after"]
    forced = replace(loaded(), kinds=frozenset({"disruptive"}))
    assert switches.window("leaf-0", forced).facts["gpu001:rail0"]["switch.pause_sent"].value == 0


def test_loads_remember_where_incasts_ended_and_when_they_began() -> None:
    job = job_of(Want(incast(senders=2), INCAST), load(CLUSTER_FILE), Policy())
    made = replace(
        BANDWIDTH, target="gpu002:rail0", started=100.0, duration=10.0, error=None, doubts=()
    )
    loads = Loads(frozenset({"full"}), 50.0, 90.0).and_of(job, made)
    failed = Loads().and_of(job, replace(made, error=Failure("lost", "gone")))

    assert loads == Loads(
        frozenset({"full", "disruptive"}), 50.0, 110.0, 100.0, frozenset({"gpu002:rail0"})
    )
    assert failed.is_forced
    assert failed.receivers == frozenset()
