"""Command lines of a lab node: words, quotes, `;` and globs; nothing else of a shell.

Words that are quoted are taken as they are; in others `*`, `?` and `[` match the virtual files.
"""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pytest_fabric.errors import FabricError
from pytest_fabric.lab.filesystem import View

#: What ends a plain stretch of a word, and what a real shell would treat in its own way.
_STRETCH = re.compile(
    r"""(?P<blank>[ \t\n]+)
      | (?P<end>;)
      | '(?P<single>[^']*)'
      | "(?P<double>(?:[^"\\`$]|\\.)*)"
      | \\(?P<escaped>.)
      | (?P<plain>[^\s;'"\\|&<>()$`#~]+ | (?<=\S)[#~])
    """,
    re.VERBOSE | re.DOTALL,
)


_QUOTES = frozenset("'\"\\")


class ShellError(FabricError):
    """The line uses a part of the shell that the lab does not have."""


@dataclass(frozen=True)
class Word:
    """A word: its text, and the same as a glob pattern in which quoted magic is escaped."""

    text: str
    pattern: str

    @cached_property
    def has_magic(self) -> bool:
        """Whether an unquoted part of the word matches file names."""
        return glob.has_magic(self.pattern) and glob.escape(self.text) != self.pattern


def parse(line: str) -> list[list[Word]]:
    """Return the commands of a line, each a list of words. Raises ShellError."""
    if _QUOTES.isdisjoint(line):  # then a semicolon between blanks can only end a command
        return [command for part in line.split(" ; ") for command in _parsed(part)]
    return list(_parsed(line))


@lru_cache(maxsize=4096)  # controllers send the same commands again and again
def _parsed(line: str) -> list[list[Word]]:
    commands: list[list[Word]] = [[]]
    text, pattern, open_word = "", "", False
    place = 0
    while place < len(line):
        match = _STRETCH.match(line, place)
        if match is None:
            raise ShellError(f"the lab's shell cannot do {line[place : place + 10]!r}")
        place = match.end()
        kind, found = match.lastgroup, match.group(match.lastgroup or 0)
        if kind in ("blank", "end"):
            if open_word:
                commands[-1].append(Word(text, pattern))
            text, pattern, open_word = "", "", False
            if kind == "end":
                commands.append([])
            continue
        if kind == "double":
            found = re.sub(r"\\([\"\\$`])", r"\1", found)
        text += found
        pattern += found if kind == "plain" else glob.escape(found)
        open_word = True
    if open_word:
        commands[-1].append(Word(text, pattern))
    return [command for command in commands if command]


def expand(words: list[Word], view: View) -> tuple[str, ...]:
    """Return the words with globs replaced by what they match; those without a match stay."""
    expanded: list[str] = []
    for word in words:
        expanded += (view.glob(word.pattern) if word.has_magic else []) or [word.text]
    return tuple(expanded)
