"""JSON that a tool printed: read as it stands, and refused where it is not plain."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints
from pytest_fabric.tools.printable import printable

Row = Mapping[str, object]
Pairs = list[tuple[str, object]]


def is_json(text: str) -> bool:
    """Return whether a text is meant to be JSON."""
    return text.lstrip().startswith(("[", "{"))


def unique(pairs: Pairs) -> dict[str, object]:
    """Return an object; raises ValueError when a key comes twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice")
    return found


def load(
    text: str, known: complaints.Known = (), hook: Callable[[Pairs], object] = unique
) -> object:
    """Return the document; `hook` makes an object of its keys and values.

    Raises ToolError for a text with a complaint, one of `known` or of the shell, around the JSON,
    which some tools close all the same. Raises NotRecognisedError for half a document, for a key
    that comes twice and for numbers that are none (NaN, Infinity, 1e999).
    """
    try:
        return json.loads(text, object_pairs_hook=hook, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        complaints.check(text, known)
        raise NotRecognisedError(f"expected whole JSON: {error}"[:200]) from None


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is no number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:20]} is no number")
    return value


def rows(document: object) -> list[Row]:
    """Return the objects of a list."""
    if isinstance(document, list) and all(isinstance(row, dict) for row in document):
        return document
    raise NotRecognisedError("expected a list of objects in JSON")


def text_of(row: Row, key: str) -> str | None:
    """Return a text, printable and without outer blanks; None when it is absent or empty."""
    value = row.get(key)
    if value is None or isinstance(value, str):
        return printable(value.strip()) or None if value is not None else None
    raise _wrong(key, "a text", value)


def integer_of(row: Row, key: str) -> int | None:
    """Return a whole number from 0 on, or None when it is absent."""
    value = row.get(key)
    if value is None or (type(value) is int and 0 <= value < 2**64):
        return value
    raise _wrong(key, "a whole number", value)


def number_of(row: Row, key: str) -> float | None:
    """Return a number, or None when it is absent."""
    value = row.get(key)
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**64:
        return float(value)
    raise _wrong(key, "a number", value)


def flag_of(row: Row, key: str) -> bool | None:
    """Return true or false, or None when it is absent."""
    value = row.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise _wrong(key, "true or false", value)


def words_of(row: Row, key: str) -> list[str] | None:
    """Return a list of printable words, or None when it is absent."""
    value = row.get(key)
    if value is None:
        return None
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return [printable(word.strip()) for word in value]
    raise _wrong(key, "a list of texts", value)


def object_of(row: Row, key: str) -> Row:
    """Return an object; an empty one when it is absent."""
    value = row.get(key)
    if value is None or isinstance(value, dict):
        return value or {}
    raise _wrong(key, "an object", value)


def _wrong(key: str, wanted: str, value: object) -> NotRecognisedError:
    return NotRecognisedError(f"expected {wanted} at {key!r} in JSON, got {str(value)[:60]!r}")


def as_object(value: object, what: str) -> dict[str, object]:
    """Return a value that must be a JSON object, else raise NotRecognisedError naming `what`."""
    if not isinstance(value, dict):
        raise NotRecognisedError(f"expected an object as {what}, got {str(value)[:60]!r}")
    return value


def as_list(value: object, what: str) -> list[object]:
    """Return a value that must be a JSON array, else raise NotRecognisedError naming `what`."""
    if not isinstance(value, list):
        raise NotRecognisedError(f"expected an array as {what}, got {str(value)[:60]!r}")
    return value


def as_text(value: object, what: str) -> str:
    """Return a value that must be a JSON string, else raise NotRecognisedError naming `what`."""
    if not isinstance(value, str):
        raise NotRecognisedError(f"expected a text as {what}, got {str(value)[:60]!r}")
    return value


def as_count(value: object, what: str, limit: int = 2**64 - 1) -> int:
    """Return a value that must be an integer from 0 to `limit`, else raise NotRecognisedError."""
    if type(value) is not int or not 0 <= value <= limit:
        raise NotRecognisedError(f"expected a count as {what}, got {str(type(value))[:60]}")
    return value
