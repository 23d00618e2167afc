"""JSON as C tools write it: keys given twice, numbers that are none, text behind the last brace."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools.printable import printable

#: What C prints for a number that is none; strings are matched first, to be left alone.
_NO_NUMBER = re.compile(r'("(?:[^"\\]|\\.)*")|[-+]?\b(?:nan|inf(?:inity)?)\b', re.I | re.S)


#: Counters have 64 bits, and nothing else that is told in numbers is larger: sums and squares of
#: what is stay numbers.
MOST = 1e30


class Ambiguous:
    """The value of a key that an object gives twice, with different values: no value at all."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = value if key not in found or found[key] == value else Ambiguous()
    return found


def _float(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def _constant(_: str) -> None:
    """Return None for NaN and Infinity."""


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_float, parse_constant=_constant)


def first(text: str) -> tuple[Any, str]:
    """Return the first JSON value of a text, and what follows it.

    What is no number is None, and a key with two values is an `Ambiguous`. Raises
    NotRecognisedError when no whole value is there.
    """
    text = text.lstrip()
    try:
        return _split(text)
    except NotRecognisedError:
        repaired = _NO_NUMBER.sub(lambda match: match[1] or "null", text)
        if repaired == text:
            raise
        return _split(repaired)


def _split(text: str) -> tuple[Any, str]:
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise NotRecognisedError(f"expected whole JSON: {printable(str(error))[:120]}") from None
    return value, text[end:]


def whole(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the JSON value that a text is; NotRecognisedError when something follows it."""
    value, rest = first(text)
    if rest.strip():
        raise NotRecognisedError(f"expected nothing after the JSON, got {rest.strip()[:80]!r}")
    return value


def part(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an object inside an object, empty when it is absent or null."""
    value = row.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise NotRecognisedError(f"expected {key} as an object, got {_shown(value)}")
    return value


def parts(row: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects of a list inside an object, empty when it is absent or null."""
    value = row.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise NotRecognisedError(f"expected {key} as a list of objects, got {_shown(value)}")
    return value


def number(row: Mapping[str, Any], key: str, least: float = 0) -> float | None:
    """Return a number of an object, `least` or more; None when it is absent or null."""
    value = row.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < least:
        raise NotRecognisedError(f"expected {key} as one number from {least}, got {_shown(value)}")
    if value > MOST:
        raise NotRecognisedError(f"expected {key} within reason, got a number beyond {MOST:g}")
    return value


def count(row: Mapping[str, Any], key: str, least: float = 0) -> int | None:
    """Return a whole number of an object, `least` or more; None when it is absent or null."""
    value = number(row, key, least)
    if value is not None and value != int(value):
        raise NotRecognisedError(f"expected {key} as a whole number, got {value}")
    return None if value is None else int(value)


def word(row: Mapping[str, Any], key: str) -> str | None:
    """Return a text of an object, None when it is absent, null or empty."""
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise NotRecognisedError(f"expected {key} as one text, got {_shown(value)}")
    return printable(value) if value else None


def _shown(value: object) -> str:
    return "two different values" if isinstance(value, Ambiguous) else repr(value)[:60]
