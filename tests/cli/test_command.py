"""The companion command: exit statuses that scripts can rely on, and one line for each problem."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from pytest_fabric.cli import main
from tests.cli.inside import call
from tests.clusters import TEXT

DATA = Path(__file__).parents[1] / "data" / "perftest"


def command(*words: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    code = "from pytest_fabric.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_parse_reads_a_file_or_standard_input_and_exits_by_what_it_found(tmp_path: Path) -> None:
    """0 for a result, 1 for an error of the tool, 2 for anything else."""
    text = DATA / "bw-mebibytes.txt"
    from_file = command("parse", "perftest", str(text), cwd=tmp_path)
    from_stdin = command("parse", "perftest", cwd=tmp_path, stdin=text.read_text())
    refused = command("parse", "perftest", cwd=tmp_path, stdin="IB device mlx5_9 not found\n")
    junk = command("parse", "perftest", cwd=tmp_path, stdin="\x00junk\ufffd")

    assert from_file.stdout == from_stdin.stdout
    assert (from_file.returncode, refused.returncode, junk.returncode) == (0, 1, 2)
    assert json.loads(refused.stdout)["error"]["kind"] == "device_not_found"


def test_parse_repeats_warnings_beside_the_document(tmp_path: Path) -> None:
    text = tmp_path / "devices.txt"
    text.write_text(
        "libibverbs: Warning: no \x1b[31mdriver for uverbs0\n    device   node GUID\n"
        "    ------   ----------------\n"
    )

    found = call(["parse", "ibv_devices", str(text)], tmp_path)

    assert (found.returncode, json.loads(found.stdout)["results"]) == (0, [])
    assert found.stderr.startswith("parse: note: libibverbs: Warning: no ")
    assert "\x1b" not in found.stderr


@pytest.mark.parametrize(
    "words",
    [("parse", "nosuch"), ("parse", "perftest", "/nonexistent"), ("parse", "perftest", "/")],
)
def test_wrong_use_of_parse_is_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    """A wrong name must not look like an unrecognised text."""
    done = command(*words, cwd=tmp_path)

    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 1


def test_check_finds_the_lab_ready(tmp_path: Path) -> None:
    """One line per node, with what will be measured with."""
    (tmp_path / "cluster.yaml").write_text(TEXT)
    done = command("check", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "gpu001: ready; perftest 6.24" in done.stdout
    assert done.stdout.endswith("every node is ready\n")


def test_check_refuses_a_wrong_file_with_every_problem(tmp_path: Path) -> None:
    """All problems of a file at once, each with its line."""
    wrong = TEXT.replace("pairs:", "piars:").replace("<= 5 us", "<= 5")
    (tmp_path / "cluster.yaml").write_text(wrong)
    done = command("check", cwd=tmp_path)

    assert done.returncode == 4
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [
        "cluster.yaml:13",
        "cluster.yaml:18",
    ]


def test_check_goes_on_after_a_node_that_does_not_answer(tmp_path: Path) -> None:
    """Every node has its line; a name that does not resolve is one of them."""
    text = TEXT.replace("transport: lab", "transport: ssh").replace(
        "{profile: ours}", '{profile: ours, address: "{node}.invalid"}'
    )
    (tmp_path / "cluster.yaml").write_text(text)
    done = command("check", cwd=tmp_path)

    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[1].startswith("gpu001: ")
    assert lines[2].startswith("gpu002: ")
    assert "Traceback" not in done.stderr


def test_schema_is_a_json_schema(tmp_path: Path) -> None:
    """Editors complete keys with it."""
    done = command("schema", cwd=tmp_path)

    assert {"nodes", "rails", "profiles"} <= set(json.loads(done.stdout)["properties"])


def test_faults_are_listed_with_the_tests_that_catch_them(tmp_path: Path) -> None:
    """Also those of a hook in the suites, and for programs too."""
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "conftest.py").write_text(
        "from pytest_fabric.lab.faults import Fault\n"
        "def pytest_fabric_faults():\n"
        "    return [Fault('pcie_rust', ('node',), 'rusty', 'rain', on_node=lambda node: node)]\n"
    )
    (tmp_path / "suites" / "test_1_ours.py").write_text(
        "@catches('pcie_rust')\ndef test_rust(result): ...\n"
        "@pytest.mark.catches('pcie_speed')\n"
        "class TestAll:\n"
        "    @catches('pcie_width')\n"
        "    def test_slot(self, result): ...\n"
    )
    told = command("faults", "pcie", cwd=tmp_path)
    printed = command("faults", "--json", "pcie_*", cwd=tmp_path)

    assert "pcie_rust@NODE\n  rusty\n  cause: rain\n  caught by: test_rust\n" in told.stdout
    caught = {one["name"]: one["caught_by"] for one in json.loads(printed.stdout)}
    assert caught == {
        "pcie_width": ["test_slot"],
        "pcie_speed": ["test_slot"],
        "pcie_rust": ["test_rust"],
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("faults", "pcie_widht"), 'a part of a fault\'s name such as "pcie_width", got'),
        (("faults", "--suites", "nowhere"), "expected a folder with tests"),
    ],
)
def test_wrong_use_of_faults_is_one_line(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = command(*words, cwd=tmp_path)

    assert done.returncode == 4
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:  # noqa: ANN401
    """Yield the words of every command, and of those with commands of their own.

    Its class is one of click, or of typer's own copy of it: that depends on typer.
    """
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))


WORDS = list(commands(typer.main.get_command(main.app)))


def test_every_command_is_walked() -> None:
    """A walk that finds nothing would hold everywhere."""
    names = {words[0] for words in WORDS if words}

    assert {run.__name__ for run, _ in main.COMMANDS} < names
    assert {"check", "parse", "faults", "compare", "lab"} < names
    assert ("lab", "fault") in WORDS


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_help_has_examples_and_exit_statuses(tmp_path: Path, words: tuple[str, ...]) -> None:
    """What a script may rely on is said where people look first."""
    done = call([*words, "--help"], tmp_path)
    text = " ".join(done.stdout.split())

    assert done.returncode == 0
    assert "Examples:" in text
    assert f"pytest-fabric {' '.join(words)}".strip() in text.partition("Examples:")[2]
    assert re.search(r"exit status.*\b0\b.*\b4\b", text, re.I)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_argument_and_option_is_explained(words: tuple[str, ...]) -> None:
    command: Any = typer.main.get_command(main.app)
    for word in words:
        command = command.commands[word]

    assert command.help
    assert not [one.name for one in command.params if not getattr(one, "help", None)]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_an_unknown_option_is_one_line_and_status_4(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = call([*words, "--no-such-option"], tmp_path)

    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
    assert "--no-such-option" in done.stderr


def test_shells_can_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands by their first letters."""
    monkeypatch.setenv("COMP_WORDS", "pytest-fabric ex")
    monkeypatch.setenv("COMP_CWORD", "1")
    monkeypatch.setenv("_PYTEST_FABRIC_COMPLETE", "complete_bash")
    done = call([], tmp_path)

    assert done.stdout.split() == ["explain", "export"]
    monkeypatch.setenv("COMP_WORDS", "pytest-fabric ")
    names = {words[0] for words in WORDS if words}
    assert names == set(call([], tmp_path).stdout.split())
    monkeypatch.setenv("COMP_WORDS", "pytest-fabric lab ")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert {"up", "fault", "mend", "status"} == set(call([], tmp_path).stdout.split())


def test_no_command_shows_what_there_is(tmp_path: Path) -> None:
    """And is a wrong call."""
    done = call([], tmp_path)

    assert done.returncode == 4
    assert "explain" in done.stdout
    assert "Traceback" not in done.stderr
