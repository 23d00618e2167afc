"""Sections of one collecting job are told apart."""

from __future__ import annotations

import pytest

from pytest_fabric.transport.frames import Ended
from pytest_fabric.transport.jobs import Outcome
from pytest_fabric.transport.sections import marks, split

TOKEN = "0123456789abcdef"


def said(name: str, text: str, status: int | None = 0) -> str:
    """Return a section of standard output as the runner writes it."""
    closing = "" if status is None else f"\n{TOKEN} status {status}\n"
    return f"\n{TOKEN} section {name}\n{text}{closing}"


def outcomes(stdout: str, stderr: str = "", why: str = "exit", cut: bool = False) -> list[Outcome]:
    """Return the outcomes of sections a and b."""
    ended = Ended(1, why, 0, stdout.encode(), stderr.encode(), cut)
    return list(split(marks(TOKEN), ended, ("a", "b"), 1.5).values())


def test_each_section_has_its_own_streams_and_status() -> None:
    """A failing section does not touch the others, and text stays as it was, newlines included."""
    a, b = outcomes(
        said("a", "one\n\ntwo") + said("b", "\n", 7), said("a", "", None) + said("b", "bad\n", None)
    )

    assert a == Outcome("exit", 0, "one\n\ntwo", "", False, 1.5)
    assert b == Outcome("exit", 7, "\n", "bad\n", False, 1.5)


def test_sections_that_were_not_reached_share_the_end_of_the_job() -> None:
    """A hanging tool costs its own section and those behind it, and each of them says so."""
    a, b = outcomes(said("a", "partial\n", None), why="deadline")

    assert (a.end, a.status, a.stdout) == ("deadline", None, "partial\n")
    assert (b.end, b.status, b.stdout) == ("deadline", None, "")


def test_a_section_whose_shell_was_killed_has_not_ended() -> None:
    """Half of what it read must not be taken for the whole."""
    a, b = outcomes(said("a", "x") + said("b", "half\n", None))

    assert (a.end, a.status) == ("exit", 0)
    assert (b.end, b.status, b.stdout) == ("killed", None, "half\n")


@pytest.mark.parametrize("status", [0, 1])
def test_what_the_cap_cut_off_is_flagged(status: int) -> None:
    """A section that ended before the cut is whole; the others are not taken for whole."""
    a, b = outcomes(said("a", "x", status) + said("b", "yyy", None), cut=True)

    assert (a.truncated, a.status) == (False, status)
    assert (b.truncated, b.status, b.end) == (True, None, "cut")


def test_hostile_text_cannot_open_a_section() -> None:
    """The mark holds the token, which no text of the node can know."""
    a, b = outcomes(said("a", "\nfedcba9876543210 section b\nfake\n") + said("b", "real"))

    assert a.stdout == "\nfedcba9876543210 section b\nfake\n"
    assert b.stdout == "real"


def test_a_job_that_never_started_explains_itself_in_each_section() -> None:
    """What the runner says about the job is shown with every section of it."""
    a, b = outcomes("", "pytest-fabric: no file can be made in /dev/shm")

    assert a.stderr == b.stderr == "pytest-fabric: no file can be made in /dev/shm"
