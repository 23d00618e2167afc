"""What a node says in place of a tool's output: the same words for every tool."""

from __future__ import annotations

import re

from pytest_fabric.errors import ToolError
from pytest_fabric.tools.printable import printable

#: Kind and pattern, in the order in which they are looked for.
Known = tuple[tuple[str, re.Pattern[str]], ...]

#: bash, dash and busybox, zsh, then `env`, `timeout` and `sudo`; coreutils quote with either quote.
_MISSING = re.compile(
    r"(?:^|: )[\w./+-]+: (?:command )?not found$|^zsh(?::[0-9]+)?: command not found: [\w./+-]+$|"
    r"^(?:env|timeout|sudo|nice|taskset): .*['\u2019]?: (?:command not found|No such file or dir)"
)
_DENIED = re.compile(
    r"^sudo: .*(?:password|terminal|tty)|is not (?:allowed to|in the sudoers)|"
    r"Permission denied|Operation not permitted|(?:must|need to) be (?:run as )?root"
)
COMMON: Known = (("tool_missing", _MISSING), ("permission", _DENIED))


def check(text: str, known: Known = (), row: re.Pattern[str] | None = None) -> None:
    """Raise ToolError for the first line that is a complaint of the tool, the shell or sudo.

    `known` are the tool's own, and come first; a line that `row` matches whole is output. The
    message is the line, printable and at most 200 characters.
    """
    for line in (line.strip() for line in text.split("\n")):
        if row is not None and row.fullmatch(line):
            continue
        for kind, pattern in (*known, *COMMON):
            if pattern.search(line):
                raise ToolError(kind, printable(line)[:200])
