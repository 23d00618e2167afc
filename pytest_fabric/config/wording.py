"""The words of every message: what was expected, and what was found instead."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping

from pytest_fabric.errors import ConfigError

LONGEST = 80

#: More words than these are not listed: the nearest one is named, however far it is.
MANY = 20


class Plain(str):
    """A scalar that was written without quotes: only such a one can be a number or a flag."""

    __slots__ = ()


def quoted(text: str) -> str:
    """Return a text in double quotes, on one line, shortened."""
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return json.dumps(short, ensure_ascii=not short.isprintable())


def got(value: object) -> str:
    """Return a value as messages show it: 5, "5 us", nothing, a list, a mapping."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    text = str(value)
    bare = isinstance(value, (Plain, int, float))
    if bare and re.fullmatch(r"[-+.]?\d[\w.+-]{0,30}|true|false|yes|no|on|off", text, re.I | re.A):
        return text
    return quoted(text)


def expected(wanted: str, value: object, why: str = "") -> ConfigError:
    """Return the error `expected WANTED, got VALUE: WHY`, still without its place."""
    return ConfigError(f"expected {wanted}, got {got(value)}{': ' if why else ''}{why}")


def one_of(words: Iterable[str]) -> str:
    """Return `a, b or c`."""
    *some, last = words
    return f"{', '.join(some)} or {last}" if some else last


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known word that is most like `word`, or None when none is."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return close[0] if close else None


def like(kind: str, word: str, known: Iterable[str]) -> str:
    """Return what to write after `expected`: the nearest known word, or all of them if few."""
    words = list(known)
    close = nearest(word, words)
    if close is not None:
        return f"{kind} such as {quoted(close)}"
    if len(words) > MANY:
        return f"{kind} such as {quoted(nearest(word, words, 0.0) or words[0])}, of {len(words):,}"
    return f"{kind}: {one_of(words)}" if words else kind
