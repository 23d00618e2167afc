"""`ethtool -m`: what a transceiver or cable says of itself, as text, JSON or a hex dump.

Three memory maps are printed: SFF-8472 (SFP), SFF-8636 (QSFP) and CMIS (QSFP-DD, OSFP). Reading
needs root, and goes over a slow bus to the module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import (
    complaints,
    ethtool_common,
    ethtool_module_hex,
    ethtool_module_json,
    ethtool_module_text,
    ethtool_module_values,
    strict_json,
)

#: An empty cage, or a module that does not answer, is one of these errors, by driver.
KNOWN: complaints.Known = (
    (
        "module_not_readable",
        re.compile(
            r"(?:error|EEPROM (?:information|data)|Module EEPROM): .{0,40}(?:Input/output error|"
            r"Invalid argument|No such device or address|Remote I/O error|No data available)"
        ),
    ),
    *ethtool_common.KNOWN,
)
ROW = re.compile(r"[A-Za-z].{0,80}? : .*|0x[0-9a-f]{4}:\s.*")


@dataclass(frozen=True)
class Module:
    """A module or cable; None is for what it does not have or does not tell, never zero.

    Lists of lanes are from lane 1 on and complete. `alarms` and `warnings` name the flags that are
    on, with their lane. A copper cable has no diagnostics.
    """

    identifier: str
    connector: str | None = None
    transceiver_types: list[str] | None = None
    transmitter_technology: str | None = None
    wavelength_nm: float | None = None
    length_smf_m: float | None = None
    length_om1_m: float | None = None
    length_om2_m: float | None = None
    length_om3_m: float | None = None
    length_om4_m: float | None = None
    length_om5_m: float | None = None
    length_cable_m: float | None = None
    vendor: str | None = None
    vendor_oui: str | None = None
    part_number: str | None = None
    revision: str | None = None
    serial_number: str | None = None
    date_code: str | None = None
    firmware_version: str | None = None
    inactive_firmware_version: str | None = None
    module_state: str | None = None
    has_diagnostics: bool | None = None
    temperature_c: float | None = None
    voltage_mv: float | None = None
    tx_bias_ma: list[float] | None = None
    tx_power_mw: list[float] | None = None
    tx_power_dbm: list[float | None] | None = None
    rx_power_mw: list[float] | None = None
    rx_power_dbm: list[float | None] | None = None
    rx_los_lanes: list[int] | None = None
    tx_los_lanes: list[int] | None = None
    rx_lol_lanes: list[int] | None = None
    tx_lol_lanes: list[int] | None = None
    tx_fault_lanes: list[int] | None = None
    alarms: list[str] | None = None
    warnings: list[str] | None = None
    thresholds: Mapping[str, float | None] = field(default_factory=dict)


def command(netdev: str) -> tuple[str, ...]:
    """Return the command line that reads the module of a network device."""
    return ethtool_common.command(netdev, "-m")


def parse(text: str) -> Module:
    """Return the module.

    Raises ToolError for what ethtool says instead, NotRecognisedError for any other text, also for
    one whose last line is cut off.
    """
    if strict_json.is_json(text):
        values = ethtool_module_json.read(text)
    else:
        complaints.check(text, KNOWN, row=ROW)
        lines = [line.strip() for line in ethtool_common.whole_lines(text)]
        is_dump = ethtool_module_hex.is_dump(lines)
        values = ethtool_module_hex.read(lines) if is_dump else ethtool_module_text.read(lines)
    if not isinstance(values.get("identifier"), str):
        raise NotRecognisedError("expected the identifier of a module, got none")
    return Module(**values)  # type: ignore[arg-type]  # built by key in all three forms


def records(text: str) -> list[dict[str, object]]:
    """Return the module as one plain record, its thresholds as `rx_power_low_alarm_dbm` etc."""
    row = asdict(parse(text))
    thresholds = row.pop("thresholds")
    return [{**row, **{key: thresholds.get(key) for key in ethtool_module_values.threshold_keys()}}]
