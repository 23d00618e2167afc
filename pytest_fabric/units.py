"""Quantities: a number with the unit it is in, so that microseconds never meet gigabits."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fabric.errors import UnitError

#: Base units that limits and results use, with an example for messages.
EXAMPLES = {
    "s": "5 us",
    "b/s": "400 Gb/s",
    "T/s": "32 GT/s",
    "B": "64 KiB",
    "B/s": "48 GB/s",
    "/s": "1.5 M/s",
    "C": "70 C",
    "dBm": "-3 dBm",
    "dB": "2 dB",
    "": "0",
}

#: Spellings that people write for a base unit.
SPELLINGS = {"bit/s": "b/s", "bps": "b/s", "sec": "s"}


@dataclass(frozen=True)
class Quantity:
    """A number in a base unit: seconds `s`, bits per second `b/s`, transfers per second `T/s`,
    bytes `B`, events per second `/s`, or a plain count (empty unit)."""

    number: float
    unit: str

    def __str__(self) -> str:
        return render(self.number, self.unit)

    def __lt__(self, other: object) -> bool:
        return self.number < other.of(self.unit) if isinstance(other, Quantity) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.number <= other.of(self.unit) if isinstance(other, Quantity) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self.number > other.of(self.unit) if isinstance(other, Quantity) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self.number >= other.of(self.unit) if isinstance(other, Quantity) else NotImplemented

    def of(self, unit: str) -> float:
        """Return the number, which must be in a unit. Raises UnitError."""
        if self.unit != unit:
            raise UnitError(f"expected a quantity in {unit or 'plain numbers'}, got {self}")
        return self.number


#: No quantity has more characters: QuantiPhy takes seconds for a number of thousands of digits.
LONGEST = 60


def us(number: float) -> Quantity:
    """Return a time in microseconds."""
    return Quantity(number / 1e6, "s")


def ms(number: float) -> Quantity:
    """Return a time in milliseconds."""
    return Quantity(number / 1e3, "s")


def gbps(number: float) -> Quantity:
    """Return a rate in gigabits (10^9 bits) per second."""
    return Quantity(number * 1e9, "b/s")


def parse(text: str, unit: str) -> Quantity:
    """Return the quantity that `text` says, which must be in the base unit `unit`.

    `400 Gb/s`, `5 us`, `32 GT/s`, `1 MiB`, `0`. Raises UnitError with an example otherwise.
    """
    wanted = f"a quantity such as {EXAMPLES.get(unit, unit)!r}"
    stripped = text.strip()
    if len(stripped) > LONGEST:
        raise UnitError(f"expected {wanted}, got {text[:LONGEST]!r}...")
    match = re.fullmatch(r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([A-Za-zµμ/]*)", stripped, re.A)
    if match is None:
        raise UnitError(f"expected {wanted}, got {text!r}")
    number, symbol = match.groups()
    if symbol == "" and unit != "":
        raise UnitError(f"expected {wanted}, got {text!r} without a unit")
    value, base = _scaled(number, symbol)
    if base != unit or not math.isfinite(value):
        raise UnitError(f"expected {wanted}, got {text!r}")
    return Quantity(value, unit)


def _scaled(number: str, symbol: str) -> tuple[float, str]:
    from quantiphy import Quantity as Scaled  # 11 ms, and only a fabric run needs it

    symbol = re.sub(r"(bit/s|bps|sec)$", lambda found: SPELLINGS[found.group()], symbol)
    bare = re.fullmatch(r"([A-Za-z]?)(/s|/+|)", symbol)  # QuantiPhy needs a letter before `/s`
    if bare is not None:
        symbol = bare.group(1)
    scaled = Scaled(f"{number} {symbol}", binary=True)
    return float(scaled), str(scaled.units) + (bare.group(2) if bare is not None else "")


def render(number: float, unit: str) -> str:
    """Return a quantity as people write it: `2.1 us`, `392 Gb/s`, `18,422`."""
    if unit == "":
        return f"{number:,.0f}" if number == int(number) else f"{number:,g}"
    if unit == "B" and number >= 1024 and number % 1024 == 0:
        return f"{number / 2**20:g} MiB" if number % 2**20 == 0 else f"{number / 1024:g} KiB"
    if unit in ("C", "dBm", "dB"):
        return f"{number:.3g} {unit}"  # nobody says 410 mdBm
    from quantiphy import Quantity as Scaled

    if number == 0:
        return f"0 {unit}"
    return str(Scaled(number, unit).render(prec=3))


#: Prefixes of the units that columns show, the largest first.
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u"))
COLUMNS = ("s", "b/s", "B/s", "/s", "T/s")


def alike(numbers: Sequence[float], unit: str) -> list[str]:
    """Return quantities that stand beside each other, with one prefix and as many decimals.

    Two below ten and one above: `1.90 us` beside `1.89 us`, `390.0 Gb/s` beside `390.1 Gb/s`.
    """
    most = max((abs(number) for number in numbers), default=0.0)
    if unit not in COLUMNS or not math.isfinite(most) or most == 0:
        return [
            render(number, unit) if math.isfinite(number) else str(number) for number in numbers
        ]
    scale, prefix = next((one for one in PREFIXES if most >= one[0]), (1e-9, "n"))
    decimals = 2 if most / scale < 10 else 1
    return [f"{number / scale:,.{decimals}f} {prefix}{unit}" for number in numbers]
