"""Jobs become lines that a shell takes back word for word."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.transport.jobs import Collect, Glob, Job, quoted

#: Anything that can be sent: all but NUL, newline and lone surrogates.
WORDS = st.text(st.characters(exclude_characters="\0\n", exclude_categories=["Cs"]))


@given(st.lists(WORDS, min_size=1))
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    """No word is ever split, joined or expanded on its way."""
    assert shlex.split(quoted(words)) == words


def test_a_shell_takes_hostile_words_back_as_they_were() -> None:
    """What shlex thinks of quoting is what a real shell thinks of it."""
    words = ["$(touch x)", "`id`", "a'b", 'a"b', "a;b", "*", "~", "!x", "\\n", "", "ä€", "\t", "-n"]
    said = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {quoted(words)}"], capture_output=True, check=True, text=True
    )

    assert said.stdout.split("\n")[:-1] == words


def test_only_a_glob_is_left_to_the_shell() -> None:
    """A path with wildcards is expanded only where somebody says so."""
    assert quoted(["ls", Glob("/sys/*/[a-c]?"), "/sys/*"]) == "ls /sys/*/[a-c]? '/sys/*'"


@pytest.mark.parametrize(
    "text", ["", "a b", "a;b", "$HOME", "~", "a'b", "{a,b}", "a\n", "ä", "`x`"]
)
def test_a_glob_is_a_path_and_nothing_else(text: str) -> None:
    """An unquoted word cannot start anything but a look at files."""
    with pytest.raises(ValueError, match="expected a path"):
        Glob(text)


@pytest.mark.parametrize("argv", [(), ("echo", "a\nb"), ("echo", "a\0b")])
def test_words_that_a_line_cannot_carry_are_refused(argv: tuple[str, ...]) -> None:
    """A newline would end the request and start another one."""
    with pytest.raises(ValueError, match="expected"):
        Job(argv, 5)
    with pytest.raises(ValueError, match="expected"):
        Collect({"a": argv}, 5)


@pytest.mark.parametrize("name", ["", "A", "a b", "ä", "a;b"])
def test_a_section_is_named_by_one_plain_word(name: str) -> None:
    """A name travels unquoted."""
    with pytest.raises(ValueError, match="section name"):
        Collect({name: ("true",)}, 5)


@pytest.mark.parametrize("lease", ["state", "/a b", "/a\nb", ""])
def test_a_lease_is_one_absolute_path(lease: str) -> None:
    """A lease travels unquoted, and the runner works in /."""
    with pytest.raises(ValueError, match="absolute path"):
        Job(("true",), 5, lease=lease)


@pytest.mark.parametrize(
    ("job", "line"),
    [
        (Job(("true",), 5), "run 7 5 10485760 - - - true"),
        (Job(("echo", "a b"), 0.1, cap_bytes=10), "run 7 1 10 - - - echo 'a b'"),
        (
            Job(("ib_write_lat",), 5.2, lease="/sys/x", listen=18515, core=0),
            "run 7 6 10485760 /sys/x 18515 0 ib_write_lat",
        ),
        (
            Collect({"a": ("grep", "-sH", ".", Glob("/sys/*")), "b": ("id",)}, 9, cap_bytes=100),
            "collect 7 9 100 - - - section a grep -sH . /sys/* ; section b id",
        ),
        (
            Collect({"a": ("id",)}, 9, lease="/sys/x", listen=18515),
            "collect 7 9 10485760 /sys/x 18515 - section a id",
        ),
    ],
)
def test_requests_have_the_form_that_the_runner_reads(job: Job | Collect, line: str) -> None:
    """Deadlines are whole seconds, rounded up; what is absent is a dash."""
    assert job.request(7) == line


def test_the_command_line_names_the_core() -> None:
    """What is audited is what a person would type to run the same."""
    assert Job(("ib_write_lat", "-F"), 5, core=3).command() == "taskset -c 3 ib_write_lat -F"
