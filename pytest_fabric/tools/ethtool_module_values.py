"""The values of `ethtool -m`: identifiers, lane lists, and quantities with their units."""

from __future__ import annotations

import math
import re

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools.printable import printable

#: SFF-8024 identifiers; ethtool prints long sentences for some.
IDENTIFIERS = {
    0x01: "GBIC",
    0x03: "SFP",
    0x06: "XFP",
    0x0B: "DWDM-SFP",
    0x0C: "QSFP",
    0x0D: "QSFP+",
    0x11: "QSFP28",
    0x18: "QSFP-DD",
    0x19: "OSFP",
    0x1A: "SFP-DD",
    0x1B: "DSFP",
    0x1E: "QSFP CMIS",
    0x1F: "SFP-DD CMIS",
    0x20: "SFP CMIS",
}

#: The quantity of a threshold in ethtool's words -> its name and unit here; powers also have dBm.
THRESHOLDS = {
    "module temperature": ("temperature", "c"),
    "module voltage": ("voltage", "mv"),
    "laser bias current": ("tx_bias", "ma"),
    "laser output power": ("tx_power", "mw"),
    "laser tx power": ("tx_power", "mw"),
    "laser rx power": ("rx_power", "mw"),
}
LEVELS = ("high_alarm", "low_alarm", "high_warning", "low_warning")

QUANTITY = re.compile(r"(-?[0-9]{1,6}(?:\.[0-9]{1,6})?) ?(degrees C|V|mA|mW|nm|m|km)\b(.*)")
DBM = re.compile(r" / (?:(-?[0-9]{1,3}\.[0-9]{1,4})|-?inf) dBm")


def identifier(code: int, words: str) -> str:
    """Return the short name of a module's kind, or the words that ethtool has for it."""
    return IDENTIFIERS.get(code, printable(words))


def quantity(text: str, unit: str) -> float:
    """Return the number before a unit; raises NotRecognisedError when it has another."""
    match = QUANTITY.fullmatch(text)
    if match is None or match[2] != unit:
        raise NotRecognisedError(f"expected a number of {unit}, got {text[:60]!r}")
    return float(match[1])


def power(text: str) -> tuple[float, float | None]:
    """Return mW and dBm; no light at all has no dBm."""
    match = QUANTITY.fullmatch(text)
    dbm = DBM.fullmatch(match[3]) if match else None
    if match is None or match[2] != "mW" or dbm is None:
        raise NotRecognisedError(f"expected 'N mW / N dBm', got {text[:60]!r}")
    return float(match[1]), None if dbm[1] is None else float(dbm[1])


def dbm_of(milliwatts: float) -> float | None:
    """Return dBm with two decimals, as ethtool does; None for no light."""
    return round(10 * math.log10(milliwatts), 2) if milliwatts > 0 else None


def millivolts(volts: float) -> float | None:
    """Return mV; None for zero, which a module without diagnostics shows."""
    return round(volts * 1000, 4) or None


def temperature(celsius: float) -> float | None:
    """Return degrees; None for zero, which ethtool itself takes for no diagnostics."""
    return celsius or None


def length(metres: float) -> float | None:
    """Return a length; None for zero, which says that there is none of this medium."""
    return round(metres, 3) or None


def threshold_keys() -> list[str]:
    """Return every key that a threshold can have."""
    quantities = dict.fromkeys(THRESHOLDS.values())
    return [
        f"{name}_{level}_{each}"
        for name, unit in quantities
        for level in LEVELS
        for each in ((unit, "dbm") if unit == "mw" else (unit,))
    ]
