"""The samples of the documentation: every fenced block of its pages, and of the README.

A comment right above a block says what else it is: `<!-- sample: WORD -->`. Of Python: `conftest`
and `module`, else it is a suite; `run` runs it, or the commands of a console, on the lab. What is
`included` is a file of `examples/`, which has tests of its own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGES = (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md")))

FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1``` *$", re.M | re.S)
SAID = re.compile(r"<!-- sample: ([a-z ]+) -->\s*\Z")

#: What ends a command in a line of a shell.
ENDS = {"|", "||", "&&", ";", "&", ">", ">>", "<", "2>"}

#: Programs that run the one that follows their options.
BEFORE = {"salloc", "srun", "sudo", "ssh", "env", "timeout"}


@dataclass(frozen=True)
class Sample:
    """A fenced block: where it is, its language, what the comment above it says, its text."""

    page: Path
    line: int
    language: str
    said: frozenset[str]
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"


def read(page: Path) -> Iterator[Sample]:
    """Yield the samples of a page."""
    text = page.read_text()
    for match in FENCE.finditer(text):
        indent, language, inner = match.groups()
        before = text[: match.start()]
        said = SAID.search(before)
        lines = (line.removeprefix(indent) for line in inner.splitlines())
        yield Sample(
            page,
            before.count("\n") + 2,
            language,
            frozenset(said.group(1).split()) if said else frozenset(),
            "\n".join(lines) + "\n",
        )


def every(*languages: str) -> list[Sample]:
    """Return the samples in these languages."""
    found = (one for page in PAGES for one in read(page) if one.language in languages)
    return [one for one in found if "included" not in one.said]


def commands(sample: Sample) -> list[str]:
    """Return the command lines of a console; one that ends with a backslash goes on."""
    joined = sample.text.replace("\\\n", " ")
    return [line[2:] for line in joined.splitlines() if line.startswith("$ ")]


def calls(line: str, program: str) -> Iterator[list[str]]:
    """Yield the arguments of each call of a program in a command line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word not in ENDS:
            words.append(word)
            continue
        names = [part.rpartition("/")[2] for part in words]
        if names[:1] == [program] or (names[:1] and names[0] in BEFORE and program in names):
            yield words[names.index(program) + 1 :]
        words = []
