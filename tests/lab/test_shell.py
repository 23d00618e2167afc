"""Command lines: what is quoted stays, what is not may be a pattern."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.lab import shell
from pytest_fabric.lab.filesystem import View

VIEW = View({"sys": {"a": {"state": "1"}, "b": {"state": "2"}}})


def words(line: str) -> list[tuple[str, ...]]:
    return [shell.expand(command, VIEW) for command in shell.parse(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("grep -sH . /sys/*/state", [("grep", "-sH", ".", "/sys/a/state", "/sys/b/state")]),
        ("grep '/sys/*/state'", [("grep", "/sys/*/state")]),
        ('grep "/sys/*/state"', [("grep", "/sys/*/state")]),
        ("grep /sys/'*'/state", [("grep", "/sys/*/state")]),
        (r"grep /sys/\*/state", [("grep", "/sys/*/state")]),
        ("grep '/sys'/*/state", [("grep", "/sys/a/state", "/sys/b/state")]),
        ("grep /none/*", [("grep", "/none/*")]),
        ("grep -E 'a|b; c' x", [("grep", "-E", "a|b; c", "x")]),
        ("a 1 ; b;c  2;", [("a", "1"), ("b",), ("c", "2")]),
        ("echo '' x", [("echo", "", "x")]),
        (r'echo "a \"b\" c"', [("echo", 'a "b" c')]),
        ("echo a#b", [("echo", "a#b")]),
        ("", []),
    ],
)
def test_a_line_is_split_as_a_shell_splits_it(line: str, expected: list[tuple[str, ...]]) -> None:
    assert words(line) == expected


@pytest.mark.parametrize("line", ["a | b", "a > b", "a && b", "echo $HOME", "echo `a`", "# a", "'"])
def test_what_the_shell_cannot_do_is_refused(line: str) -> None:
    with pytest.raises(shell.ShellError, match="cannot do"):
        shell.parse(line)


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=1))
def test_quoted_words_come_through_whatever_they_hold(given_words: list[str]) -> None:
    assert words(shlex.join(given_words)) == [tuple(given_words)]
