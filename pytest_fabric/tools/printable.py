"""Names that processes give themselves, made fit to be shown."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return a text without what could move a cursor or end a line: that becomes `?`."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
