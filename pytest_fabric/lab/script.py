"""Lines that people type: commands joined by `;`, `|`, `&&` and `||`, and what they throw away.

The node runner's lines have nothing of this; `shell` reads the words of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pytest_fabric.lab import shell
from pytest_fabric.lab.process import Result
from pytest_fabric.lab.shell import Word

_PIECE = re.compile(
    r"""(?P<kept>'[^']*' | "(?:[^"\\]|\\.)*" | \\.)
      | (?P<joint>\|\|?|&&|;)
      | (?P<sink>(?:2>|&>|>)\s*/dev/null | 2>&1)
      | (?P<plain>.)
    """,
    re.VERBOSE | re.DOTALL,
)

#: Runs the words of a command with what comes in through a pipe.
Run = Callable[[list[Word], str | None], Result]


@dataclass(frozen=True)
class Step:
    """A command of a line; `joint` is how it follows the one before, `sinks` what it hides."""

    words: list[Word]
    joint: str = ";"
    sinks: tuple[str, ...] = ()


def steps(line: str) -> list[Step]:
    """Return the commands of a line. Raises ShellError for what the lab's shell does not have."""
    found: list[Step] = []
    text, joint = "", ";"
    sinks: tuple[str, ...] = ()
    for match in (*_PIECE.finditer(line), None):
        if match is not None and match["joint"] is None:
            sinks += (match["sink"].replace(" ", ""),) if match["sink"] else ()
            text += " " if match["sink"] else match[0]
            continue
        words = [word for command in shell.parse(text) for word in command]
        if words:
            found.append(Step(words, joint, sinks))
        elif joint != ";" or (match is not None and match["joint"] != ";"):
            raise shell.ShellError(f"syntax error near {match[0] if match else joint!r}")
        text, joint, sinks = "", match["joint"] if match else ";", ()
    return found


def carry_out(line: str, run: Run) -> Result:
    """Run a line and return what it shows, with the status of its last command."""
    shown, last = Result(), Result()
    for number, (step, following) in enumerate(_with_next(steps(line))):
        if number and step.joint == ("&&" if last.status else "||"):
            continue
        came_in = last.stdout if step.joint == "|" else None
        last = _hidden(run(step.words, came_in), step.sinks)
        out = "" if following == "|" else last.stdout
        shown = Result(last.status, shown.stdout + out, shown.stderr + last.stderr)
    return shown


def _with_next(found: list[Step]) -> list[tuple[Step, str]]:
    following = [*(step.joint for step in found), ";"][1:]
    return list(zip(found, following, strict=True))


def _hidden(result: Result, sinks: tuple[str, ...]) -> Result:
    """Return what is left of a result behind its redirections, from left to right."""
    out, err = result.stdout, result.stderr
    for sink in sinks:
        if sink == "2>&1":
            out, err = out + err, ""
            continue
        out = "" if sink[0] in ">&" else out
        err = "" if sink[0] in "2&" else err
    return Result(result.status, out, err)
