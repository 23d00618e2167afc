"""The text of `ethtool -m`: `Key : value` lines, with keys that repeat and one line per lane."""

from __future__ import annotations

import re

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ethtool_module_values as values
from pytest_fabric.tools.printable import printable

LINE = re.compile(r"([A-Za-z][^:]{0,60}?)\s+:(?: (.*))?")
CODED = re.compile(r"0x([0-9a-f]{2})(?: \((.*)\))?")
LANE = re.compile(r"(.+?) ?\((?:Channel|Chan) ([1-9][0-9]?)\)")
THRESHOLD = re.compile(r"(.+) (high|low) (alarm|warning) threshold")
FLAG = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)* (?:high|low) (?:alarm|warning)")
LANES = re.compile(r"\[((?: (?:Yes|No),?){1,64}) \]|None")
NUMBER = re.compile(r"([0-9]{1,7}(?:\.[0-9]{1,6})?)(km|m|nm)")

#: Plain texts: key of ethtool -> key of the result.
TEXTS = {
    "Vendor name": "vendor",
    "Vendor OUI": "vendor_oui",
    "Vendor PN": "part_number",
    "Vendor rev": "revision",
    "Vendor SN": "serial_number",
    "Date code": "date_code",
    "Active firmware version": "firmware_version",
    "Inactive firmware version": "inactive_firmware_version",
}
CODES = {
    "Connector": "connector",
    "Transmitter technology": "transmitter_technology",
    "Module state": "module_state",
}
#: The name of a medium changed over the releases.
LENGTHS = {
    "Length (SMF,km)": "length_smf_m",
    "Length (SMF)": "length_smf_m",
    "Length (62.5um)": "length_om1_m",
    "Length (OM1 62.5um)": "length_om1_m",
    "Length (OM1)": "length_om1_m",
    "Length (50um)": "length_om2_m",
    "Length (OM2 50um)": "length_om2_m",
    "Length (OM2 50/125um)": "length_om2_m",
    "Length (OM2)": "length_om2_m",
    "Length (OM3 50um)": "length_om3_m",
    "Length (OM3 50/125um)": "length_om3_m",
    "Length (OM3)": "length_om3_m",
    "Length (OM4)": "length_om4_m",
    "Length (OM5)": "length_om5_m",
    "Length (Copper)": "length_cable_m",
    "Length (Copper or Active cable)": "length_cable_m",
    "Cable assembly length": "length_cable_m",
}
SIGNALS = {
    "Rx loss of signal": "rx_los_lanes",
    "Tx loss of signal": "tx_los_lanes",
    "Rx loss of lock": "rx_lol_lanes",
    "Tx loss of lock": "tx_lol_lanes",
    "Tx fault": "tx_fault_lanes",
}
MONITORS = {
    "Laser bias current": "tx_bias",
    "Laser tx bias current": "tx_bias",
    "Laser output power": "tx_power",
    "Transmit avg optical power": "tx_power",
    "Receiver signal average optical power": "rx_power",
    "Receiver signal OMA": "rx_power",
    "Rcvr signal avg optical power": "rx_power",
}

Found = dict[str, object]
Pairs = list[tuple[str, str]]


def read(lines: list[str]) -> Found:
    """Return the values of a module by the keys of the result."""
    pairs = [_pair(line) for line in lines]
    if pairs[0][0] != "Identifier":
        raise NotRecognisedError(f"expected the identifier of a module, got {lines[0][:80]!r}")
    found: Found = {}
    lanes: dict[str, list[str]] = {}
    thresholds: dict[str, float | None] = {}
    flags: list[tuple[str, bool]] = []
    for key, text in pairs:
        lane, threshold = LANE.fullmatch(key), THRESHOLD.fullmatch(key)
        name = lane[1] if lane else key
        if name in MONITORS:
            _add_lane(lanes.setdefault(MONITORS[name], []), int(lane[2]) if lane else 1, text)
        elif threshold is not None:
            _add_threshold(thresholds, threshold, text)
        elif FLAG.fullmatch(name):
            flags.append((f"{name.lower()} (lane {lane[2]})" if lane else name.lower(), _on(text)))
        else:
            _add(found, key, text)
    found["transceiver_types"] = _types(pairs)
    found["thresholds"] = thresholds
    last = LANE.sub(r"\1", pairs[-1][0])
    _add_monitors(found, lanes, MONITORS.get(last))
    # Flags stand together: only what follows them tells that they are all there.
    if flags and not FLAG.fullmatch(last):
        found["alarms"] = [name for name, on in flags if on and " alarm" in name]
        found["warnings"] = [name for name, on in flags if on and " warning" in name]
    return found


def _pair(line: str) -> tuple[str, str]:
    match = LINE.fullmatch(line)
    if match is None:
        raise NotRecognisedError(f"expected 'Key : value' of a module, got {line[:80]!r}")
    return match[1], (match[2] or "").strip()


def _set(found: Found, key: str, value: object) -> None:
    """Keep a value; raises NotRecognisedError when another one is there."""
    if found.get(key, value) != value:
        raise NotRecognisedError(f"expected one {key} of a module, got two")
    found[key] = value


def _add(found: Found, key: str, text: str) -> None:
    if key == "Identifier":
        code = CODED.fullmatch(text)
        if code is None:
            raise NotRecognisedError(f"expected '0xNN (NAME)', got {text[:60]!r}")
        _set(found, "identifier", values.identifier(int(code[1], 16), code[2] or text))
    elif key in TEXTS:
        _set(found, TEXTS[key], None if text in ("", "Invalid") else printable(text))
    elif key in CODES:
        code = CODED.fullmatch(text)
        _set(found, CODES[key], printable((code and code[2]) or text))
    elif key in LENGTHS:
        _add_length(found, LENGTHS[key], text)
    elif key in SIGNALS:
        _set(found, SIGNALS[key], _signals(text))
    elif key == "Laser wavelength":
        _set(found, "wavelength_nm", _number(text, "nm") or None)
    elif key == "Optical diagnostics support":
        _set(found, "has_diagnostics", _on(text))
    elif key == "Module temperature":
        _set(found, "temperature_c", values.temperature(values.quantity(text, "degrees C")))
    elif key == "Module voltage":
        _set(found, "voltage_mv", values.millivolts(values.quantity(text, "V")))


def _add_length(found: Found, key: str, text: str) -> None:
    """Keep a length; kilometres of single-mode fibre come first, metres then say the same."""
    match = NUMBER.fullmatch(text)
    if match is None or match[2] == "nm":
        if text == "> 6.3km":
            return
        raise NotRecognisedError(f"expected a length, got {text[:60]!r}")
    metres = values.length(float(match[1]) * (1000 if match[2] == "km" else 1))
    if found.get(key) is None:
        found[key] = metres


def _number(text: str, unit: str) -> float:
    match = NUMBER.fullmatch(text)
    if match is None or match[2] != unit:
        raise NotRecognisedError(f"expected a number of {unit}, got {text[:60]!r}")
    return float(match[1])


def _signals(text: str) -> list[int]:
    """Return the lanes, from 1 on, that have a fault."""
    match = LANES.fullmatch(text)
    if match is None:
        raise NotRecognisedError(f"expected Yes or No for each lane, got {text[:60]!r}")
    words = (match[1] or "").replace(",", " ").split()
    return [lane for lane, word in enumerate(words, 1) if word == "Yes"]


def _on(text: str) -> bool:
    if text not in ("On", "Off", "Yes", "No"):
        raise NotRecognisedError(f"expected On or Off, Yes or No, got {text[:40]!r}")
    return text in ("On", "Yes")


def _add_lane(texts: list[str], lane: int, text: str) -> None:
    if lane != len(texts) + 1:
        raise NotRecognisedError(f"expected lane {len(texts) + 1} of a module, got {lane}")
    texts.append(text)


def _add_threshold(thresholds: dict[str, float | None], match: re.Match[str], text: str) -> None:
    name, unit = values.THRESHOLDS.get(match[1].lower(), (None, ""))
    if name is None:
        return
    key = f"{name}_{match[2]}_{match[3]}"
    if f"{key}_{unit}" in thresholds:
        raise NotRecognisedError(f"expected one threshold {key}, got two")
    if unit == "mw":
        thresholds[f"{key}_mw"], thresholds[f"{key}_dbm"] = values.power(text)
    elif unit == "mv":
        thresholds[f"{key}_mv"] = round(values.quantity(text, "V") * 1000, 4)
    else:
        thresholds[f"{key}_{unit}"] = values.quantity(text, "degrees C" if unit == "c" else "mA")


def _add_monitors(found: Found, lanes: dict[str, list[str]], last: str | None) -> None:
    """Add the readings of the lanes; the last ones only when they are as many as the others."""
    sizes = {len(texts) for name, texts in lanes.items() if name != last}
    for name, texts in lanes.items():
        is_whole = name != last or len(texts) in sizes
        if name == "tx_bias":
            currents = [values.quantity(text, "mA") for text in texts]
            found["tx_bias_ma"] = currents if is_whole else None
        else:
            powers = [values.power(text) for text in texts]
            found[f"{name}_mw"] = [milliwatts for milliwatts, _ in powers] if is_whole else None
            found[f"{name}_dbm"] = [dbm for _, dbm in powers] if is_whole else None


def _types(pairs: Pairs) -> list[str] | None:
    """Return the transceiver's types; None when the text may end before the last of them."""
    types = [printable(text) for key, text in pairs if key == "Transceiver type"]
    return types if types and pairs[-1][0] != "Transceiver type" else None
