"""Markdown from values: tables, code, and text that cannot be taken for markup."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

#: What would be markup outside of code.
_SPECIAL = re.compile(r"([\\*_|\[\]#])")


def text(words: str) -> str:
    """Return a text as one line in which only what stands in backticks is markup."""
    parts = " ".join(words.split()).replace("``", "`").split("`")
    if len(parts) % 2 == 0:  # a lone backtick opens nothing
        return _plain("'".join(parts))
    return "".join(code(part) if place % 2 else _plain(part) for place, part in enumerate(parts))


def _plain(words: str) -> str:
    escaped = _SPECIAL.sub(r"\\\1", words)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(words: str) -> str:
    """Return a text as code; a bar would end the cell of a table. An empty one is empty."""
    if not words:
        return ""
    fence = "``" if "`" in words else "`"
    return f"{fence}{words}{fence}".replace("|", "\\|")


def codes(names: Iterable[str]) -> str:
    """Return names as code, separated by commas."""
    return ", ".join(code(name) for name in names)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. Raises ValueError for one without a row, which would describe nothing."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        raise ValueError(f"reference: expected rows below {', '.join(head)}, found none")
    return "\n".join((f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines, ""))


def doc(thing: object) -> str:
    """Return the docstring of a thing, its paragraphs as Markdown. Raises ValueError for none."""
    found = inspect.getdoc(thing)
    if not found:
        raise ValueError(f"reference: expected a docstring of {thing!r}, found none")
    return "\n\n".join(text(paragraph) for paragraph in found.split("\n\n"))


def first(thing: object) -> str:
    """Return the first line of the docstring of a thing."""
    return doc(thing).partition("\n")[0]


def page(title: str, *blocks: str) -> str:
    """Return a page."""
    return "\n\n".join((f"# {title}", *(block.rstrip("\n") for block in blocks))) + "\n"
