"""What a section has said: a value of a whole output that ended well, a problem of all else."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.measure.topics.heard import heard, tree
from pytest_fabric.tools import complaints
from pytest_fabric.transport import Outcome

from .ends import outcome

FINE = outcome("7\n")


def number(text: str) -> int:
    complaints.check(text, (("not_running", re.compile("connection refused")),))
    if not text.strip().isdigit():
        raise NotRecognisedError("expected a number")
    return int(text)


def test_a_whole_output_that_ended_well_has_a_value() -> None:
    assert heard({"a": FINE}, "a", "lspci", number).value == 7
    assert heard({"a": replace(FINE, stderr="a warning\n")}, "a", "lspci", number).value == 7


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (replace(FINE, end="deadline", status=None), r"did not come to its end (deadline)"),
        (replace(FINE, end="cancelled", status=None), r"did not come to its end (cancelled)"),
        (replace(FINE, truncated=True), "did not come to its end (too much output)"),
        (replace(FINE, status=1), "ended with status 1: 7"),
        (replace(FINE, status=None), "ended with status None"),
        (outcome("7\n", 2, "oops\n"), "ended with status 2: oops"),
        (outcome("", 0), "printed nothing"),
        (outcome("", 0, "7\n"), "ended with status 0"),
        (outcome(" \n", 3), "printed nothing"),
    ],
)
def test_what_did_not_end_well_has_no_value(said: Outcome, told: str) -> None:
    """Not even where the parser finds one in whatever it is given."""
    found = heard({"a": said}, "a", "lspci", lambda text: 7)

    assert found.value is None
    assert told in found.problem
    assert found.nothing.problem == found.problem


@pytest.mark.parametrize(
    ("said", "told", "kind"),
    [
        (outcome("", 127, "sh: 1: lspci: not found\n"), "install pciutils", "tool_missing"),
        (outcome("", 1, "sudo: a password is required\n"), "sudo: [lspci]", "permission"),
        (outcome("", 1, "sudo: a password is required\n"), "fabric sudoers` prints", "permission"),
        (outcome("", 1, "connection refused\n"), "enable --now pciutils", "not_running"),
        (outcome("x\n"), "expected a number: run it on the node by hand", ""),
        (outcome("x\x1b[2J\n", 9), "status 9: x?[2J", ""),
    ],
)
def test_a_problem_has_its_remedy(said: Outcome, told: str, kind: str) -> None:
    found = heard({"a": said}, "a", "lspci", number)

    assert told in found.problem
    assert found.kind == kind
    assert found.problem.isprintable()


def test_complaints_beside_a_good_output_count_where_they_must() -> None:
    said = {"a": replace(FINE, stderr="lost a switch\n")}

    assert heard(said, "a", "iblinkinfo", number, strict=True).value is None


def test_what_was_not_asked_has_no_value() -> None:
    assert "was not run" in heard({}, "a", "lspci", number).problem
    assert tree({}, "a") == {}


def test_a_tree_that_is_cut_off_is_none() -> None:
    said = outcome("/sys/a:1\n", 2)

    assert tree({"a": said}, "a") == {"/sys/a": "1"}
    assert tree({"a": replace(said, truncated=True)}, "a") == {}
    assert tree({"a": replace(said, end="deadline")}, "a") == {}
