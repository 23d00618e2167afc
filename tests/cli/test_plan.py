"""`pytest-fabric plan` and `sudoers`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_fabric.cli import asking
from pytest_fabric.config import ROOT_TOOLS, Node
from pytest_fabric.errors import ConfigError, FabricError, MeasurementError
from pytest_fabric.measure import sudo
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.sudo import Rule
from pytest_fabric.tools import allowed
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
        (("--nodes", "gpu009"), "expected nodes of cluster.yaml ("),
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
        self,
        user: str = "ops",
        have: str = "/usr/bin/dmesg\n/usr/sbin/ethtool\n/usr/bin/mlxlink\n",
    ) -> None:
        self.user, self.have = user, have

    def collect(self, collect: object) -> dict[str, Outcome]:
        return {"user": outcome(self.user + "\n"), "have": outcome(self.have)}

    def run(self, job: Job) -> Outcome:
        return outcome("", status=0 if job.argv[3] == "ethtool" else 1)

    def session(self, node: str) -> Session:
        return self


def outcome(text: str, status: int = 0) -> Outcome:
    made: Any = type("Answer", (), {"stdout": text, "status": status, "end": "exit"})()
    return cast(Outcome, made)


CALLS = [("dmesg",), ("ethtool", "-m", "ens1"), ("mlxlink", "-d", "0000:1a:00.0", "-m")]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let three commands be run as root."""
    monkeypatch.setattr(sudo, "commands", lambda fabric, node: CALLS)


def rules(session: Session) -> list[Rule]:
    return sudo.rules(cast(Fabric, session), cluster().nodes["gpu001"])


@pytest.mark.usefixtures("calls")
def test_sudoers_lines_are_those_that_are_missing() -> None:
    """With the path that the node has, word by word, and one line for all nodes that lack it."""
    found = rules(Session())
    assert [(rule.line, rule.is_missing) for rule in found] == [
        ('ops ALL=(root) NOPASSWD: /usr/bin/dmesg ""', True),
        ("ops ALL=(root) NOPASSWD: /usr/sbin/ethtool -m ens1", False),
        (r"ops ALL=(root) NOPASSWD: /usr/bin/mlxlink -d 0000\:1a\:00.0 -m", True),
    ]
    answers: dict[str, list[Rule] | FabricError] = {"gpu001": found, "gpu002": found}
    lines, problems = sudo.folded(answers, missing_only=True)
    assert (lines[0], len(lines), problems) == ("# gpu[001-002]", 3, [])
    assert len(sudo.folded(answers, missing_only=False)[0]) == 4


def test_no_line_of_sudoers_allows_more_than_what_is_run(tmp_path: Path) -> None:
    """Each has its arguments, none a wildcard, and each is on the read-only allow-list."""
    path = tmp_path / "cluster.yaml"
    named = f"    sudo: [{', '.join(ROOT_TOOLS)}]\n    limits:\n"
    path.write_text(TEXT.replace("    limits:\n", named))
    [one, other] = asking.each(path, "sudoers", sudo.rules).values()

    assert asking.good(one)
    assert one == other
    for rule in asking.good(one):
        allowed.require(["sudo", "-n", *rule.command.split()])
        user, line = rule.line.split(" ALL=(root) NOPASSWD: /")
        assert (user, re.search(r"(?<!\\)[*?\[:=,]", line)) == ("lab", None)
        assert " " in line


def test_a_slip_of_ours_is_an_error_of_its_node(tmp_path: Path) -> None:
    """The others are told all the same, and nobody gets a traceback."""

    def slips(fabric: Fabric, node: Node) -> list[str]:
        if node.name == "gpu002":
            raise IndexError("list index\nout of range")
        return ["ready"]

    path = tmp_path / "cluster.yaml"
    path.write_text(TEXT)
    found = asking.each(path, "check", slips)

    assert found["gpu001"] == ["ready"]
    assert str(found["gpu002"]).startswith("gpu002: check: internal error: IndexError: list index")
    assert "\n" not in str(found["gpu002"])


@pytest.mark.parametrize("named", ["bash", "vi", "sudo", "/usr/sbin/ethtool", "cat"])
def test_what_is_no_tool_of_a_check_gets_no_line(named: str) -> None:
    """A line for a shell would be root for whoever may log in."""
    with pytest.raises(ConfigError, match="sudo: expected ethtool"):
        cluster(TEXT.replace("    limits:\n", f"    sudo: [{named}]\n    limits:\n"))


@pytest.mark.parametrize(
    "session",
    [
        Session(have="/usr/bin/dmesg\n/usr/sbin/ethtool\n"),
        Session(user="ops ALL=(ALL) ALL #"),
        Session(have="/usr/bin/dmesg\n/usr/sbin/ethtool\n/tmp/x,ALL/mlxlink\n"),
    ],
)
@pytest.mark.usefixtures("calls")
def test_what_a_node_says_never_becomes_another_rule(session: Session) -> None:
    """A missing tool, or a name that sudoers would read differently, is an error."""
    with pytest.raises(MeasurementError):
        rules(session)
