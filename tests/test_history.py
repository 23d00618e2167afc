"""What of an earlier run may be taken over."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.history import History, require_apart, require_same, require_same_lab
from pytest_fabric.report.about import About
from pytest_fabric.report.rundir import RunDirectory
from pytest_fabric.report.stored import Stored, open_run
from pytest_fabric.results import Measurement
from tests.report.examples import ABOUT, BANDWIDTH, BROKEN, LATENCY

NOW = datetime(2026, 11, 29)

LATER = replace(LATENCY, started=LATENCY.started + 3600)


def made(root: Path, about: About, *measurements: Measurement) -> Stored:
    """Return the stored run that says so of itself."""
    directory = RunDirectory.create(root, NOW, lambda new: new.about(about))
    for measurement in measurements:
        directory.measurement(measurement)
    directory.close()
    return open_run("--fabric-resume", directory.path)


def with_options(**changes: object) -> About:
    return replace(ABOUT, options=replace(ABOUT.options, **changes))  # type: ignore[arg-type]


def require_the_same(earlier: Stored, about: About) -> None:
    require_same("--fabric-resume", earlier, about)
    require_same_lab(earlier, about)


@pytest.mark.parametrize(
    ("then", "message"),
    [
        (replace(ABOUT, cluster="other"), "with cluster lab, found 'other'"),
        (replace(ABOUT, transport="ssh"), "with transport lab, found 'ssh'"),
        (
            replace(ABOUT, ports={"gpu001:rail0": "gpu001 pci 0000:3a:00.0 10.1.0.0/16 leaf-0"}),
            "with gpu001:rail0 gpu001 pci 0000:1a:00.0 10.1.0.0/16 leaf-0, found 'gpu001 pci",
        ),
        (with_options(seed=7), "with lab.seed 1, found '7'"),
        (with_options(faults=("ssh_down@gpu001",)), "--fabric-fault none, found 'ssh_down@gpu001'"),
    ],
)
def test_another_fabric_is_refused(tmp_path: Path, then: About, message: str) -> None:
    """One line with what was expected, found, where, and what to do."""
    earlier = made(tmp_path, then)
    with pytest.raises(ConfigError) as caught:
        require_the_same(earlier, ABOUT)

    (line,) = caught.value.lines
    assert message in line
    assert f"in {earlier.path}: choose another run, or start anew" in line


def test_the_same_fabric_with_other_options_may_go_on(tmp_path: Path) -> None:
    """Other nodes, another load, faults in another order, other limits."""
    then = with_options(nodes="gpu001", load="light", faults=("b@x", "a@x"))
    then = replace(then, inventory_sha256="1", started="", strategy="all")
    earlier = made(tmp_path, replace(then, ports={**then.ports, "gpu009:rail0": "another"}))

    now = with_options(faults=("a@x", "b@x", "a@x"))
    require_the_same(earlier, now)


def test_nothing_points_to_a_run_before_it_is_whole(tmp_path: Path) -> None:
    """Killed while it copied, it has no run.json, and `latest` is still the earlier one."""
    earlier = made(tmp_path, ABOUT, LATENCY)

    def killed(new: RunDirectory) -> None:
        history = History(ABOUT, resumed=earlier)
        for record in earlier.copies(settled_only=True):
            new.measurement(record)
        assert (tmp_path / "latest").resolve() == earlier.path
        history.begin(new)
        assert (new.path / "run.json").exists()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RunDirectory.create(tmp_path, NOW, killed)
    assert (tmp_path / "latest").resolve() == earlier.path


def test_a_resume_copies_what_is_settled_and_a_replay_everything(tmp_path: Path) -> None:
    """What was an error is measured again, and what was in doubt; a replay tells it again."""
    broken = replace(BROKEN, key="other")
    earlier = made(tmp_path, ABOUT, LATENCY, BANDWIDTH, broken)
    found = {}
    histories = {
        "resumed": History(ABOUT, resumed=earlier),
        "replayed": History(ABOUT, replayed=earlier),
    }
    for name, history in histories.items():
        new = RunDirectory.create(tmp_path / name, NOW, history.begin)
        new.close()
        found[name] = [m.record.key for m in open_run("", new.path).measured]

    assert found == {
        "resumed": [LATENCY.key],
        "replayed": [LATENCY.key, BANDWIDTH.key, "other"],
    }
    assert [m.key for m in History(ABOUT, resumed=earlier).known] == [LATENCY.key]


def test_notes_name_the_earlier_run(tmp_path: Path) -> None:
    """How much was taken over, what was left, and whether the inventory is another one."""
    earlier = made(tmp_path, ABOUT, LATENCY, replace(LATENCY, target="gpu003:rail0..gpu004:rail0"))
    changed = replace(ABOUT, inventory_sha256="1")

    assert History(ABOUT).notes(0) == []
    assert History(ABOUT, resumed=earlier).notes(2) == [
        f"taken over: 2 measurements of {earlier.path}"
    ]
    assert History(changed, resumed=earlier).notes(1) == [
        f"taken over: 1 measurement of {earlier.path}, 1 not asked for "
        "(cluster.yaml has changed since)"
    ]
    assert History(ABOUT, replayed=earlier).notes(0) == [
        f"replay of {earlier.path}: not measured now"
    ]


@pytest.mark.parametrize(
    ("status", "interrupted"), [(0, False), (1, False), (2, True), (10, False)]
)
def test_the_end_of_a_run_is_told(status: int, interrupted: bool) -> None:
    """One that was killed has no end."""
    ended = History(ABOUT).ended(status)

    assert (ended.exit_status, ended.interrupted) == (status, interrupted)
    assert ended.ended is not None
    assert ABOUT.ended is None


def test_a_run_is_no_baseline_of_itself(tmp_path: Path) -> None:
    """It would never be worse, whatever was measured."""
    earlier, other = made(tmp_path, ABOUT, LATENCY), made(tmp_path, ABOUT, LATER)
    new = RunDirectory.create(tmp_path / "again", NOW, History(ABOUT, replayed=earlier).begin)
    new.close()

    require_apart((other,), earlier)
    require_apart((earlier,), None)
    for baseline in (earlier, open_run("", new.path)):
        with pytest.raises(ConfigError, match="compared with itself is never worse"):
            require_apart((other, baseline), earlier)
