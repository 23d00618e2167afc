"""Command lines in the documentation parse: programs, commands and options exist."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from pytest_fabric.cli.main import app
from tests.docs.samples import Sample, calls, commands, every

CONSOLES = every("console", "sh")


def parse_companion(args: list[str]) -> None:
    """Let the companion command parse its arguments, and run nothing."""
    command: Any = typer.main.get_command(app)
    name, rest = "pytest-fabric", args
    context = None
    while rest and hasattr(command, "commands"):
        if rest in (["--help"], ["--install-completion"]):
            return
        assert rest[0] in command.commands, f"{name} has no command {rest[0]}"
        name, command, rest = rest[0], command.commands[rest[0]], rest[1:]
    assert not hasattr(command, "commands"), f"{name}: expected a command"
    if "--help" not in rest:
        context = command.make_context(name, list(rest))
        context.close()


@pytest.mark.parametrize("sample", CONSOLES, ids=str)
def test_the_companion_knows_its_commands_and_options(sample: Sample) -> None:
    for line in commands(sample):
        for args in calls(line, "pytest-fabric"):
            parse_companion(args)


@pytest.mark.parametrize("sample", CONSOLES, ids=str)
def test_pytest_knows_its_options(sample: Sample, pytester: pytest.Pytester) -> None:
    """Those of the plugin, of pytest, and of pytest-xdist."""
    for line in commands(sample):
        for args in calls(line, "pytest"):
            wanted = [arg for arg in args if not arg.startswith("-n")]
            pytester.parseconfig("-p", "no:cacheprovider", *wanted)


def test_there_are_samples() -> None:
    """An empty list would pass all of the above."""
    lines = [line for sample in CONSOLES for line in commands(sample)]

    assert len([line for line in lines if list(calls(line, "pytest"))]) > 10
    assert len([line for line in lines if list(calls(line, "pytest-fabric"))]) > 10


@pytest.mark.parametrize(
    "args", [["lap"], ["lab"], ["lab", "down"], ["check", "--fast"], ["parse"], ["plan", "--pairs"]]
)
def test_a_wrong_call_is_found(args: list[str]) -> None:
    with pytest.raises(Exception, match=r"has no|expected|No such|Missing|requires"):
        parse_companion(args)


def test_a_wrong_option_is_found(pytester: pytest.Pytester) -> None:
    with pytest.raises(pytest.UsageError):
        pytester.parseconfig("--fabric-cluter=x")


def test_calls_are_found_in_lines_of_a_shell() -> None:
    """Behind other programs, in pipes, and with quotes."""
    line = "salloc -N 2 .venv/bin/pytest-fabric init 'gpu[1-2]' > f && cat f | pytest-fabric parse"

    assert list(calls(line, "pytest-fabric")) == [["init", "gpu[1-2]"], ["parse"]]
