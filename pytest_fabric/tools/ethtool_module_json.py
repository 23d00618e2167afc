"""The JSON of `ethtool --json -m`, which has keys that come twice in releases before 7."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ethtool_module_hex, strict_json
from pytest_fabric.tools import ethtool_module_values as values
from pytest_fabric.tools.printable import printable

TEXTS = {
    "connector": "connector_description",
    "transmitter_technology": "transmitter_technology_description",
    "module_state": "module_state_description",
    "vendor": "vendor_name",
    "part_number": "vendor_pn",
    "revision": "vendor_rev",
    "serial_number": "vendor_sn",
    "date_code": "date_code",
}
#: Lengths in metres, by the names of all releases; single-mode fibre is apart.
LENGTHS = {
    "length_om1_m": ("length_(om1)", "length_(om1_62.5um)", "length_(62.5um)"),
    "length_om2_m": ("length_(om2)", "length_(om2_50um)", "length_(om2_50/125um)", "length_(50um)"),
    "length_om3_m": ("length_(om3)", "length_(om3_50um)", "length_(om3_50/125um)"),
    "length_om4_m": ("length_(om4)",),
    "length_om5_m": ("length_(om5)",),
    "length_cable_m": (
        "length_(copper_or_active_cable)",
        "length_(copper)",
        "cable_assembly_length",
    ),
}
SIGNALS = {
    "rx_los_lanes": "rx_loss_of_signal",
    "tx_los_lanes": "tx_loss_of_signal",
    "rx_lol_lanes": "rx_loss_of_lock",
    "tx_lol_lanes": "tx_loss_of_lock",
    "tx_fault_lanes": "tx_fault",
}
MONITORS = {
    "tx_bias": ("laser_tx_bias_current", "laser_bias_current"),
    "tx_power": ("transmit_avg_optical_power", "laser_output_power"),
}

#: Texts that come once per value in older releases.
REPEATED = frozenset(
    {"transceiver_type", "option", "extended_identifier_description", "extended_module_code"}
)

Row = strict_json.Row
Found = dict[str, object]


def read(text: str) -> Found:
    """Return the values of a module by the keys of the result."""
    rows = strict_json.rows(strict_json.load(text, hook=_merge))
    if len(rows) != 1:
        raise NotRecognisedError(f"expected one module in JSON, got {len(rows)}")
    row = rows[0]
    if "pages" in row:
        return _from_pages(strict_json.rows(row["pages"]))
    code = strict_json.integer_of(row, "identifier")
    if code is None:
        raise NotRecognisedError("expected the identifier of a module in JSON, got none")
    words = strict_json.text_of(row, "identifier_description")
    return {
        "identifier": values.identifier(code, words or f"0x{code:02x}"),
        **{key: strict_json.text_of(row, name) for key, name in TEXTS.items()},
        "vendor_oui": _oui(row),
        "transceiver_types": _types(row),
        "wavelength_nm": strict_json.number_of(row, "laser_wavelength") or None,
        **_lengths(row),
        "firmware_version": _firmware(row, "active_firmware_version"),
        "inactive_firmware_version": _firmware(row, "inactive_firmware_version"),
        "has_diagnostics": strict_json.flag_of(row, "optical_diagnostics_support"),
        **{key: _signals(row, name) for key, name in SIGNALS.items()},
        **_readings(row),
        **_flags(row),
        "thresholds": _thresholds(row),
    }


def _merge(pairs: strict_json.Pairs) -> dict[str, object]:
    """Return an object, from pairs with keys that come twice.

    Such a key is a reading with its thresholds, a list per bank, or one of several texts. Raises
    ValueError for any other.
    """
    found: dict[str, object] = {}
    for key, value in pairs:
        before = found.get(key)
        if isinstance(value, list) and isinstance(before, list):
            found[key] = [*before, *value]
        elif isinstance(value, dict) and isinstance(before, dict):
            found[key] = _merge([*before.items(), *value.items()])
        elif before is None or before == value:
            found[key] = value
        elif isinstance(value, dict) and isinstance(before, int | float):
            found[f"{key}_thresholds"] = value
        elif isinstance(value, str) and isinstance(before, str | list) and key in REPEATED:
            found[key] = [*(before if isinstance(before, list) else [before]), value]
        else:
            raise ValueError(f"{key[:40]} comes twice")
    return found


def _from_pages(pages: list[Row]) -> Found:
    memory: ethtool_module_hex.Memory = {}
    for page in pages:
        places = [strict_json.integer_of(page, key) for key in ("bank", "page", "offset")]
        address = strict_json.integer_of(page, "i2c_address")
        if None in places or address is None:
            raise NotRecognisedError("expected bank, page, offset and i2c_address in JSON")
        bank, number, offset = cast("list[int]", places)
        data = [_byte(word) for word in strict_json.words_of(page, "data") or []]
        ethtool_module_hex.add(memory, address, bank, number, offset, data)
    return ethtool_module_hex.decode(memory)


def _byte(word: str) -> int:
    if not 1 <= len(word) <= 2 or not set(word) <= set("0123456789abcdef"):
        raise NotRecognisedError(f"expected a byte in JSON, got {word[:20]!r}")
    return int(word, 16)


def _numbers(listed: object) -> list[float]:
    """Return a list of numbers; a single one stands for one lane."""
    found = [
        strict_json.number_of({"lane": value}, "lane")
        for value in (listed if isinstance(listed, list) else [listed])
    ]
    if None in found:
        raise NotRecognisedError("expected a number for each lane in JSON")
    return cast("list[float]", found)


def _oui(row: Row) -> str | None:
    if row.get("vendor_oui") is None:
        return None
    numbers = [int(number) for number in _numbers(row["vendor_oui"])]
    if len(numbers) != 3 or not all(0 <= number < 256 for number in numbers):
        raise NotRecognisedError("expected three bytes of a vendor's OUI in JSON")
    return ":".join(f"{number:02x}" for number in numbers)


def _types(row: Row) -> list[str] | None:
    types = row.get("transceiver_type")
    listed = {"types": [types] if isinstance(types, str) else types}
    return strict_json.words_of(listed, "types") or None


def _lengths(row: Row) -> Found:
    found: Found = {}
    for key, names in LENGTHS.items():
        texts = [name for name in names if isinstance(row.get(name), int | float)]
        metres = strict_json.number_of(row, texts[0]) if texts else None
        found[key] = values.length(metres) if metres is not None else None
    # Where both are there, the one without km is in metres.
    kilometres = strict_json.number_of(row, "length_(smf,km)")
    plain = strict_json.number_of(row, "length_(smf)") or 0.0
    metres = plain * 1000 if kilometres is None else kilometres * 1000 or plain
    return {"length_smf_m": values.length(metres), **found}


def _firmware(row: Row, key: str) -> str | None:
    if isinstance(row.get(key), str):  # "Invalid"
        return None
    version = strict_json.object_of(row, key)
    major, minor = (strict_json.integer_of(version, part) for part in ("major", "minor"))
    return f"{major}.{minor}" if major is not None and minor is not None else None


def _signals(row: Row, key: str) -> list[int] | None:
    lanes = row.get(key)
    if lanes is None:
        return None
    if not isinstance(lanes, list) or any(lane not in ("Yes", "No", True, False) for lane in lanes):
        raise NotRecognisedError(f"expected yes or no for each lane of {key} in JSON")
    return [place for place, lane in enumerate(lanes, 1) if lane in ("Yes", True)]


def _readings(row: Row) -> Found:
    rx = strict_json.object_of(row, "rx_power")
    lanes = {
        **{name: _first(row, keys) for name, keys in MONITORS.items()},
        "rx_power": _first(rx, ("values", "value")),
    }
    found: Found = {"tx_bias_ma": lanes["tx_bias"]}
    for name in ("tx_power", "rx_power"):
        powers = lanes[name]
        found[f"{name}_mw"] = powers
        found[f"{name}_dbm"] = [values.dbm_of(power) for power in powers] if powers else None
    celsius = _first(row, ("module_temperature_measurement", "module_temperature"))
    volts = _first(row, ("module_voltage_measurement", "module_voltage"))
    found["temperature_c"] = values.temperature(celsius[0]) if celsius else None
    found["voltage_mv"] = values.millivolts(volts[0]) if volts else None
    return found


def _first(row: Row, keys: tuple[str, ...]) -> list[float] | None:
    """Return the numbers under the first key that has some; an object holds thresholds."""
    for key in keys:
        value = row.get(key)
        if value is not None and not isinstance(value, dict):
            return _numbers(value) or None
    return None


def _flags(row: Row) -> Found:
    on: dict[str, list[str]] = {"alarm": [], "warning": []}
    seen = False
    for key, value in row.items():
        kind = next((kind for kind in on if key.endswith((f"_high_{kind}", f"_low_{kind}"))), None)
        if kind is None:
            continue
        seen = True
        name = printable(key.replace("_", " "))
        lanes = value if isinstance(value, list) else [value]
        if not all(isinstance(lane, bool) for lane in lanes):
            raise NotRecognisedError(f"expected true or false for {key[:60]!r} in JSON")
        for place, lane in enumerate(lanes, 1):
            if lane:
                on[kind].append(f"{name} (lane {place})" if isinstance(value, list) else name)
    return {"alarms": on["alarm"] if seen else None, "warnings": on["warning"] if seen else None}


def _thresholds(row: Row) -> Mapping[str, float | None]:
    found: dict[str, float | None] = {}
    for words, (name, unit) in values.THRESHOLDS.items():
        key = words.replace(" ", "_")
        for spelling in (key, f"{key}_threshold", f"{key}_thresholds"):
            levels = row.get(spelling)
            if isinstance(levels, dict):
                found |= _levels(levels, name, unit)
    return found


def _levels(levels: Row, name: str, unit: str) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for level in values.LEVELS:
        value = strict_json.number_of(levels, level)
        if value is None:
            value = strict_json.number_of(levels, f"{level}_threshold")
        if value is None:
            continue
        found[f"{name}_{level}_{unit}"] = round(value * 1000, 4) if unit == "mv" else value
        if unit == "mw":
            found[f"{name}_{level}_dbm"] = values.dbm_of(value)
    return found
