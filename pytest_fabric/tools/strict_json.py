"""JSON of command-line tools, read without guessing: what is doubtful is refused."""

from __future__ import annotations

import json
import math

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints


def is_json(text: str) -> bool:
    """Return whether a text is meant to be a JSON object or array."""
    return text.lstrip()[:1] in ("{", "[")


def load(text: str, known: complaints.Known = ()) -> object:
    """Return the value of a whole JSON text.

    Raises ToolError for a text with a complaint, one of `known` or of the shell, around the JSON,
    which such a tool closes all the same. Raises NotRecognisedError for one that is cut off or
    nested too deeply, for a key that comes twice, and for NaN and infinite numbers.
    """
    try:
        return json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        complaints.check(text, known)
        raise NotRecognisedError(f"expected whole JSON: {str(error)[:120]}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice")
    return found


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is out of range")
    return number


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
