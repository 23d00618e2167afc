"""The runner's program survives every log-in shell on its way."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest

from pytest_fabric.transport import runner

#: An argument may hold 128 KiB; what matters is that `ps` stays readable.
MAX_BYTES = 8192


def test_the_program_is_small_and_on_one_line() -> None:
    """A csh does not take a newline between quotes, and every job shows the program in `ps`."""
    assert "\n" not in runner.program()
    assert len(runner.program()) < MAX_BYTES


def test_the_program_holds_no_history_expansion() -> None:
    """A csh replaces `!x` even between quotes; `! ` and `!=` it leaves alone."""
    assert re.findall(r"![^ =]", runner.program()) == []


def test_the_program_holds_no_double_backslash() -> None:
    """A fish takes a backslash pair between quotes as one."""
    assert "\\\\" not in runner.program()


def test_comments_do_not_travel() -> None:
    """Comments are for readers of the repository."""
    assert "dead man" not in runner.program()


def test_the_command_names_the_runner_fourth_from_the_end() -> None:
    """Others on the node, and the simulated nodes of the lab, know the runner by that word."""
    command = runner.command("0123456789abcdef", None, "run=1\nuser=a'b")

    assert shlex.split(command)[-4:] == [runner.NAME, "0123456789abcdef", "", "run=1 user=a'b"]
    assert command.startswith("exec sh -c ")


def test_tokens_are_16_digits_and_new_each_time() -> None:
    """The token tells frames from noise."""
    assert re.fullmatch(r"[0-9a-f]{16}", runner.new_token())
    assert runner.new_token() != runner.new_token()


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
def test_the_program_is_accepted_by_each_shell(shell: str) -> None:
    """A syntax error would only show on a node that has that shell."""
    subprocess.run([*shell.split(), "-n", "-c", runner.program()], check=True)


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("# c\n\na=1\nb=2\n", "a=1 ; b=2 ; "),
        ("if true; then\n  a\nelse\n  b\nfi\n", "if true; then a ; else b ; fi ; "),
        ("f() {\na &\nb\n}\n", "f() { a & b ; } ; "),
        ("case $x in\na) b ;;\nesac\n", "case $x in a) b ;; esac ; "),
    ],
)
def test_lines_are_joined_where_the_grammar_allows(script: str, line: str) -> None:
    """No `;` behind a word that has opened something."""
    assert runner.one_line(script) == line
