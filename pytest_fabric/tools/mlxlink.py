"""`mlxlink` and `mstlink`: link, counters and module as the firmware of a port sees them.

Read as JSON (`--json`) or as text; both hold the same sections of keys and words, and which keys
there are differs by release, device and option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import complaints, mlxlink_sections, mlxlink_values, strict_json
from pytest_fabric.tools.printable import printable

KNOWN: complaints.Known = (
    ("permission", re.compile(r"(?i)permission denied|are you root|requires? root")),
    (
        "no_such_device",
        re.compile(
            r"(?i)No such file|No such device|failed to open device|device .{0,80}not found"
        ),
    ),
    ("no_module", re.compile(r"(?i)no (?:cable|module)\b|cable is (?:not connected|unplugged)")),
    ("not_supported", re.compile(r"(?i)not supported|unsupported|unknown argument|invalid option")),
    ("failed", re.compile(r"^-E-|^(?:Error|Errors):|(?i:failed to)|^Query failed")),
)
#: Keys are padded; what a shell says is not.
ROW = re.compile(r"[A-Za-z][^:]{0,60}?\s+: .*")

VERSION = re.compile(r'MFT Version[ "]{0,80}: ?"?(?:mft )?([0-9][A-Za-z0-9.-]{0,40})["\s]')

#: How each field is read: the reader's method, and field -> key of the tool.
FIELDS: Mapping[str, Mapping[str, str]] = {
    "text": {
        "state": "State",
        "physical_state": "Physical state",
        "speed": "Speed",
        "fec": "FEC",
        "loopback_mode": "Loopback Mode",
        "group_opcode": "Group Opcode",
        "recommendation": "Recommendation",
        "firmware_version": "Firmware Version",
        "amber_version": "amBER Version",
        "mft_version": "MFT Version",
        "module_identifier": "Identifier",
        "module_compliance": "Compliance",
        "module_cable_technology": "Cable Technology",
        "module_cable_type": "Cable Type",
        "module_vendor": "Vendor Name",
        "module_part_number": "Vendor Part Number",
        "module_serial_number": "Vendor Serial Number",
        "module_revision": "Rev",
        "module_firmware_version": "FW Version",
        "module_state": "Module State",
    },
    "width": {
        "width_lanes": "Width",
    },
    "on": {
        "auto_negotiation": "Auto Negotiation",
        "module_has_diagnostics": "Digital Diagnostic Monitoring",
    },
    "integer": {
        "status_opcode": "Status Opcode",
        "symbol_errors": "Symbol Errors",
        "effective_physical_errors": "Effective Physical Errors",
        "link_down_counter": "Link Down Counter",
        "link_error_recovery_counter": "Link Error Recovery Counter",
    },
    "number": {
        "time_since_last_clear_min": "Time Since Last Clear [Min]",
    },
    "rate": {
        "symbol_ber": "Symbol BER",
        "effective_physical_ber": "Effective Physical BER",
        "raw_physical_ber": "Raw Physical BER",
    },
    "integers": {
        "raw_physical_errors_per_lane": "Raw Physical Errors Per Lane",
    },
    "rates": {
        "raw_physical_ber_per_lane": "Raw Physical BER Per Lane",
    },
    "size": {
        "module_length_m": "Transfer Distance [m]",
        "module_wavelength_nm": "Wavelength [nm]",
    },
    "lanes": {
        "tx_fault_lanes": "Tx Fault [per lane]",
        "tx_los_lanes": "Tx LOS [per lane]",
        "rx_los_lanes": "Rx LOS [per lane]",
        "tx_cdr_lol_lanes": "Tx CDR LOL [per lane]",
        "rx_cdr_lol_lanes": "Rx CDR LOL [per lane]",
    },
}
#: Readings of the module with the ends of their range: field, unit, key, and whether by lane.
READINGS = (
    ("temperature", "c", "Temperature [C]", False),
    ("voltage", "mv", "Voltage [mV]", False),
    ("bias_current", "ma", "Bias Current [mA]", True),
    ("rx_power", "dbm", "Rx Power Current [dBm]", True),
    ("tx_power", "dbm", "Tx Power Current [dBm]", True),
)


@dataclass(frozen=True)
class Port:
    """A port; None is for what is not available or was not asked for with `-m` or `-c`.

    A bit error rate of `15E-255` is the tool's word for no error: 0. Lists are by lane. Readings
    of a module that are zero in a range from 0 to 0 are none: it has no diagnostics. `device` is
    known only where a heading tells it.
    """

    device: str | None
    state: str | None
    physical_state: str | None
    speed: str | None
    width_lanes: int | None
    fec: str | None
    loopback_mode: str | None
    auto_negotiation: bool | None
    status_opcode: int | None
    group_opcode: str | None
    recommendation: str | None
    firmware_version: str | None
    amber_version: str | None
    mft_version: str | None
    time_since_last_clear_min: float | None
    symbol_errors: int | None
    symbol_ber: float | None
    effective_physical_errors: int | None
    effective_physical_ber: float | None
    raw_physical_errors_per_lane: list[int | None] | None
    raw_physical_ber: float | None
    raw_physical_ber_per_lane: list[float | None] | None
    link_down_counter: int | None
    link_error_recovery_counter: int | None
    module_identifier: str | None
    module_compliance: str | None
    module_cable_technology: str | None
    module_cable_type: str | None
    module_vendor: str | None
    module_part_number: str | None
    module_serial_number: str | None
    module_revision: str | None
    module_firmware_version: str | None
    module_state: str | None
    module_length_m: float | None
    module_wavelength_nm: float | None
    module_has_diagnostics: bool | None
    temperature_c: float | None
    temperature_low_c: float | None
    temperature_high_c: float | None
    voltage_mv: float | None
    voltage_low_mv: float | None
    voltage_high_mv: float | None
    bias_current_ma: list[float | None] | None
    bias_current_low_ma: float | None
    bias_current_high_ma: float | None
    rx_power_dbm: list[float | None] | None
    rx_power_low_dbm: float | None
    rx_power_high_dbm: float | None
    tx_power_dbm: list[float | None] | None
    tx_power_low_dbm: float | None
    tx_power_high_dbm: float | None
    tx_fault_lanes: list[int] | None
    tx_los_lanes: list[int] | None
    rx_los_lanes: list[int] | None
    tx_cdr_lol_lanes: list[int] | None
    rx_cdr_lol_lanes: list[int] | None


def find_version(text: str) -> str | None:
    """Return the release of MFT that the text shows, None where it shows none."""
    match = VERSION.search(mlxlink_sections.without_colours(text))
    return match[1] if match else None


def command(device: str) -> tuple[str, ...]:
    """Return the command line that shows link, counters and module of a port."""
    if not re.fullmatch(r"[A-Za-z0-9_/][A-Za-z0-9_./:-]*", device):
        raise ValueError(f"device: expected a name such as mlx5_0, got {device!r}")
    return ("mlxlink", "-d", device, "-m", "-c", "--json")


def parse(text: str) -> list[Port]:
    """Return the port; several where their outputs stand under headings `===== DEVICE ... =====`.

    Raises ToolError for what the tool reports, also with exit status 0 and with output beside it;
    NotRecognisedError for any other text, also for one that is cut off.
    """
    plain = mlxlink_sections.without_colours(text)
    if strict_json.is_json(plain):
        return [_port(None, _from_json(plain))]
    complaints.check(plain, KNOWN, row=ROW)
    return [_port(device, words) for device, words in mlxlink_sections.from_text(plain)]


def _from_json(text: str) -> mlxlink_sections.Words:
    document = strict_json.rows([strict_json.load(text)])[0]
    status = strict_json.object_of(document, "status")
    if strict_json.integer_of(status, "code"):
        message = strict_json.text_of(status, "message") or "mlxlink failed"
        kind = next((kind for kind, pattern in KNOWN if pattern.search(message)), "failed")
        raise ToolError(kind, printable(message)[:200])
    return mlxlink_sections.from_json(document)


def _port(device: str | None, words: mlxlink_sections.Words) -> Port:
    reader = mlxlink_values.Reader(words)
    if reader.text("State") is None and not reader.has_any(
        "Identifier", "Effective Physical Errors"
    ):
        raise NotRecognisedError("expected the state, counters or module of a port, got none")
    found: dict[str, Any] = {
        field: getattr(reader, how)(key)
        for how, fields in FIELDS.items()
        for field, key in fields.items()
    }
    for name, unit, key, is_listed in READINGS:
        values, low, high = reader.readings(key) if is_listed else reader.reading(key)
        found[f"{name}_{unit}"] = values
        found[f"{name}_low_{unit}"], found[f"{name}_high_{unit}"] = low, high
    return Port(device=device, **found)


def records(text: str) -> list[dict[str, object]]:
    """Return one plain record per port, of JSON that is cut off too: its whole sections."""
    try:
        ports = parse(text)
    except NotRecognisedError:
        mended = mlxlink_sections.mended(mlxlink_sections.without_colours(text))
        if mended is None:
            raise
        ports = parse(mended)
    return [asdict(port) for port in ports]
