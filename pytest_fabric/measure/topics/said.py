"""What a command of a topic printed, and the one line where it printed nothing of use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from pytest_fabric.errors import FabricError, NotRecognisedError, ToolError
from pytest_fabric.results import Fact
from pytest_fabric.tools.printable import printable
from pytest_fabric.transport import Outcome

T = TypeVar("T")


def text_of(outcome: Outcome) -> str:
    """Return what a command printed, or what it complained of where it printed nothing.

    Raises NotRecognisedError for one that did not come to its end: its text may be cut off.
    """
    if outcome.end != "exit" or outcome.truncated:
        raise NotRecognisedError(f"the command did not come to its end ({outcome.end})")
    return outcome.stdout if outcome.stdout.strip() else outcome.stderr


def parsed(outcome: Outcome, parse: Callable[[str], T], remedies: Mapping[str, str]) -> T | Fact:
    """Return what a parser reads, or a fact with the problem.

    `remedies` are by the kind of a ToolError; `else` is added to what has none of its own.
    """
    try:
        return parse(text_of(outcome))
    except ToolError as error:
        return problem(error.args[0], remedies.get(error.kind, remedies.get("else", "")))
    except FabricError as error:
        return problem(str(error), remedies.get("else", ""))


def problem(message: str, remedy: str = "") -> Fact:
    """Return a fact that cannot be told, in one line fit to be shown."""
    line = printable(" ".join(message.split()))[:200]
    return Fact(None, f"{line}: {remedy}" if remedy else line)


def sudo_advice(program: str, line: str) -> str:
    """Return how a program that needs root is let run: the two lines of profile and sudoers."""
    return f"add `sudo: [{program}]` to the profile, `USER ALL=(root) NOPASSWD: {line}` with visudo"
