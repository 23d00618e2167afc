"""The words of `mlxlink` as numbers, lists by lane, and None for what is not available."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools.mlxlink_sections import Words
from pytest_fabric.tools.printable import printable

ABSENT = frozenset({"", "N/A", "n/a", "NA", "_", "-", "Unknown", "Not Available", "N/S"})

#: The tool's word for the rate when there has been no error.
NO_ERRORS = 15e-255

NUMBER = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,12})?")
INTEGER = re.compile(r"[0-9]{1,20}")
RATE = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,12})?(?:[eE][-+]?[0-9]{1,3})?")
WIDTH = re.compile(r"([0-9]{1,2})x")
RANGE = re.compile(r"(.*?)\s*\[(-?[0-9.]{1,12})\.\.(-?[0-9.]{1,12})\]")

#: No module has so many lanes; what blanks do to RANGE grows with the square of the length.
LONGEST = 1000

Ranged = tuple[list[float | None] | None, float | None, float | None]


@dataclass(frozen=True)
class Reader:
    """The words of a port, each read as what it should be or refused."""

    words: Words

    def has_any(self, *keys: str) -> bool:
        """Return whether one of the keys is there."""
        return any(key in self.words for key in keys)

    def text(self, key: str) -> str | None:
        """Return a text; a list stands for its words with commas between."""
        text = printable(",".join(self.words.get(key, [])).strip())
        return None if text in ABSENT else text

    def on(self, key: str) -> bool | None:
        """Return ON and Yes as true, OFF, No and any FORCE as false."""
        text = (self.text(key) or "").upper()
        if not text:
            return None
        if text in ("ON", "YES"):
            return True
        if text in ("OFF", "NO", "DISABLED") or text.startswith("FORCE"):
            return False
        raise _wrong(key, "ON or OFF", text)

    def width(self, key: str) -> int | None:
        """Return the lanes of `4x`."""
        text = self.text(key)
        match = WIDTH.fullmatch(text or "")
        if text is not None and match is None:
            raise _wrong(key, "a width such as 4x", text)
        return int(match[1]) if match else None

    def integer(self, key: str) -> int | None:
        """Return a count."""
        text = self.text(key)
        return None if text is None else _integer(key, text)

    def number(self, key: str) -> float | None:
        """Return a number; `3m` is 3."""
        text = self.text(key)
        return None if text is None else _number(key, text.removesuffix("m").strip())

    def size(self, key: str) -> float | None:
        """Return a length; zero says nothing and is None."""
        return self.number(key) or None

    def rate(self, key: str) -> float | None:
        """Return a bit error rate."""
        text = self.text(key)
        return None if text is None else _rate(key, text)

    def integers(self, key: str) -> list[int | None] | None:
        """Return counts by lane; None when there is none at all."""
        items = self._items(key)
        counts = [None if item in ABSENT else _integer(key, item) for item in items]
        return None if all(count is None for count in counts) else counts

    def rates(self, key: str) -> list[float | None] | None:
        """Return bit error rates by lane; None when there is none at all."""
        items = self._items(key)
        rates = [None if item in ABSENT else _rate(key, item) for item in items]
        return None if all(rate is None for rate in rates) else rates

    def lanes(self, key: str) -> list[int] | None:
        """Return the lanes, from 1 on, whose flag is 1; None when one cannot be told."""
        items = self._items(key)
        if not items or any(item in ABSENT for item in items):
            return None
        if not all(item in ("0", "1") for item in items):
            raise _wrong(key, "0 or 1 for each lane", ",".join(items))
        return [lane for lane, item in enumerate(items, 1) if item == "1"]

    def reading(self, key: str) -> tuple[float | None, float | None, float | None]:
        """Return a reading with the ends of its range."""
        values, low, high = self.readings(key)
        if values is not None and len(values) != 1:
            raise _wrong(key, "one number", self.text(key) or "")
        return (values[0] if values else None), low, high

    def readings(self, key: str) -> Ranged:
        """Return readings by lane with the ends of their range: `1.5,-40 [-10..5]`."""
        text = self.text(key)
        if text is None:
            return None, None, None
        if len(text) > LONGEST:
            raise _wrong(key, "readings", text)
        match = RANGE.fullmatch(text)
        numbers = [item.strip() for item in (match[1] if match else text).split(",")]
        values = [None if item in ABSENT else _number(key, item) for item in numbers]
        low = _number(key, match[2]) if match else None
        high = _number(key, match[3]) if match else None
        if low == high == 0:  # no range is known; with readings of zero there are no diagnostics
            return (values if any(values) else None), None, None
        return (None if all(value is None for value in values) else values), low, high

    def _items(self, key: str) -> list[str]:
        text = self.text(key)
        return [] if text is None else [item.strip() for item in text.split(",")]


def _integer(key: str, text: str) -> int:
    if not INTEGER.fullmatch(text):
        raise _wrong(key, "a count", text)
    return int(text)


def _number(key: str, text: str) -> float:
    if not NUMBER.fullmatch(text):
        raise _wrong(key, "a number", text)
    return float(text)


def _rate(key: str, text: str) -> float:
    if not RATE.fullmatch(text):
        raise _wrong(key, "a rate", text)
    rate = 0.0 if float(text) == NO_ERRORS else float(text)
    if rate > 1:
        raise _wrong(key, "a rate up to 1", text)
    return rate


def _wrong(key: str, wanted: str, text: str) -> NotRecognisedError:
    return NotRecognisedError(f"expected {wanted} at {key!r}, got {text[:60]!r}")
