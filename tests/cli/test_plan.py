"""`pytest-fabric plan` and `sudoers`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_fabric.errors import FabricError, MeasurementError
from pytest_fabric.measure import sudo
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.sudo import Rule
from pytest_fabric.transport import Job, Outcome
from tests.cli.test_command import command
from tests.clusters import TEXT, cluster

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cluster.yaml").write_text(TEXT)
    (tmp_path / "suites").mkdir()
    shutil.copy(ROOT / "suites" / "test_4_pair.py", tmp_path / "suites")
    return tmp_path


def test_plan_says_what_a_run_would_measure_and_nothing_else(folder: Path) -> None:
    """No run directory, no words of pytest."""
    done = command("plan", "-k", "test_small_write_p99", cwd=folder)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].endswith("strategy ring")
    assert "ib_write_lat -d DEVICE" in done.stdout
    assert "test session starts" not in done.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["cluster.yaml", "suites"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pairs", "nosuch"), "invalid choice"),
        (("--nodes", "gpu009"), "expected nodes of cluster.yaml"),
        (("-k", "nosuch"), "expected tests"),
        (("nowhere",), "expected suites at nowhere"),
    ],
)
def test_a_wrong_plan_is_one_line(folder: Path, words: tuple[str, ...], said: str) -> None:
    """And exit status 4: an empty plan must not look like a plan."""
    done = command("plan", *words, cwd=folder)

    assert (done.returncode, done.stdout) == (4, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


class Session:
    """A node that answers with fixed words; sudo knows `ethtool` only."""

    def __init__(
        self, user: str = "ops", have: str = "/usr/sbin/ethtool\n/usr/bin/mlxlink\n"
    ) -> None:
        self.user, self.have = user, have

    def collect(self, collect: object) -> dict[str, Outcome]:
        return {"user": outcome(self.user + "\n"), "have": outcome(self.have)}

    def run(self, job: Job) -> Outcome:
        return outcome("", status=0 if job.argv[-1] == "ethtool" else 1)

    def session(self, node: str) -> Session:
        return self


def outcome(text: str, status: int = 0) -> Outcome:
    made: Any = type("Answer", (), {"stdout": text, "status": status, "end": "exit"})()
    return cast(Outcome, made)


def rules(session: Session, tools: str = "[ethtool, mlxlink]") -> list[Rule]:
    text = TEXT.replace("    limits:\n", f"    sudo: {tools}\n    limits:\n")
    node = cluster(text).nodes["gpu001"]
    return sudo.rules(cast(Fabric, session), node)


def test_sudoers_lines_are_those_that_are_missing() -> None:
    """With the path that the node has, and one line for all nodes that lack it."""
    found = rules(Session())
    assert found == [
        Rule("ops ALL=(root) NOPASSWD: /usr/sbin/ethtool", False),
        Rule("ops ALL=(root) NOPASSWD: /usr/bin/mlxlink", True),
    ]
    answers: dict[str, list[Rule] | FabricError] = {"gpu001": found, "gpu002": found}
    lines, problems = sudo.folded(answers, missing_only=True)
    assert (lines, problems) == (
        ["# gpu[001-002]", "ops ALL=(root) NOPASSWD: /usr/bin/mlxlink"],
        [],
    )
    assert len(sudo.folded(answers, missing_only=False)[0]) == 3


@pytest.mark.parametrize(
    "session",
    [
        Session(have="/usr/sbin/ethtool\n"),
        Session(user="ops ALL=(ALL) ALL #"),
        Session(have="/usr/sbin/ethtool\n/tmp/x,ALL/mlxlink\n"),
    ],
)
def test_what_a_node_says_never_becomes_another_rule(session: Session) -> None:
    """A missing tool, or a name that sudoers would read differently, is an error."""
    with pytest.raises(MeasurementError):
        rules(session)
