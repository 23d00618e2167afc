"""`mlxlink -d PCI -m -c --json`: link, counters and module as the firmware sees them."""

from __future__ import annotations

import json

from pytest_fabric.lab import modules
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result

Section = dict[str, object]

#: The tool's names of FEC codes, on Ethernet and on InfiniBand.
FEC = {
    "RS": ("Standard_RS-FEC - (544,514)", "Ethernet_Consortium_LL_50G_RS_FEC_PLR -(272,257+1)"),
    "Off": ("No FEC", "No FEC"),
}

#: Its word for a rate of zero.
NO_ERRORS = "15E-255"

#: The counters start when the link comes up, a while after the node.
UP_AFTER_S = 600.0


def run(call: Call) -> Result:
    """Print the port of a PCI address; other uses are refused by name."""
    words = list(call.argv[1:])
    if words[:1] != ["-d"] or words[2:] != ["-m", "-c", "--json"]:
        return Result(1, stderr="-E- the lab answers only: mlxlink -d PCI -m -c --json\n")
    if not call.is_allowed:
        return Result(1, stderr="-E- Permission denied: are you root?\n")
    port = next((port for port in call.node.ports if port.pci == words[1]), None)
    if port is None:
        message = f"Failed to open device: {words[1]}, No such file or directory"
        return Result(1, _text({"status": {"code": 1, "message": message}}))
    uptime = call.fabric.clock.uptime()
    is_up = port.state == "ACTIVE"
    output: Section = {
        "Operational Info": _operation(port, is_up),
        "Troubleshooting Info": {
            "Group Opcode": "N/A",
            "Recommendation": "No issue was observed" if is_up else "Cable is unplugged",
            "Status Opcode": "0" if is_up else "1024",
        },
        "Tool Information": {
            "Firmware Version": port.adapter.firmware,
            "MFT Version": "4.32.0-120",
            "amBER Version": "3.9",
        },
        "Module Info": _copper(port) if port.module.is_copper else _optical(port, uptime),
        "Physical Counters and BER Info": _counters(port, is_up, uptime),
    }
    done = {"result": {"output": output}, "status": {"code": 0, "message": "success"}}
    return Result(0, _text(done))


def _text(document: Section) -> str:
    return f"{json.dumps(document, indent=3)}\n"


def _operation(port: Port, is_up: bool) -> Section:
    lane = {100e9: "NDR", 50e9: "HDR", 25e9: "EDR", 200e9: "XDR"}.get(port.speed_bps / port.width)
    speed = f"{port.speed_bps / 1e9:g}G" if port.is_ethernet else f"IB-{lane or 'FDR'}"
    words = FEC.get(port.signal.fec, (port.signal.fec,) * 2)
    return {
        "Auto Negotiation": "ON",
        "FEC": words[0 if port.is_ethernet else 1] if is_up else "N/A",
        "Loopback Mode": "No Loopback",
        "Physical state": "LinkUp" if is_up else "Polling",
        "Speed": speed if is_up else "N/A",
        "State": "Active" if is_up else "Polling",
        "Width": f"{port.width}x" if is_up else "N/A",
    }


def _identity(port: Port) -> Section:
    return {
        "Identifier": "OSFP",
        "Vendor Name": f"{modules.VENDOR:<16}",
        "Vendor Part Number": modules.part(port),
        "Vendor Serial Number": modules.serial(port),
        "Rev": "A5",
    }


def _copper(port: Port) -> Section:
    return {
        "Temperature [C]": "0 [0..0]",
        "Voltage [mV]": "0 [0..0]",
        "Bias Current [mA]": "0,0,0,0 [0..0]",
        "Rx Power Current [dBm]": "0,0,0,0 [0..0]",
        "Tx Power Current [dBm]": "0,0,0,0 [0..0]",
        "Cable Technology": "Copper cable unequalized",
        "Cable Type": "Passive copper cable",
        **_identity(port),
        "Transfer Distance [m]": "1.5",
        "Digital Diagnostic Monitoring": "No",
    }


def _optical(port: Port, uptime_s: float) -> Section:
    celsius = port.module.celsius + port.aging.rise_c(uptime_s)
    return {
        "Temperature [C]": f"{celsius:.0f} [-5..{modules.WARM_CELSIUS:.0f}]",
        "Voltage [mV]": "3261.2 [2970..3630]",
        "Bias Current [mA]": f"{','.join(['8.380'] * port.width)} [2..15]",
        "Rx Power Current [dBm]": f"{_lanes(modules.received_dbm(port))} [-10.41..6]",
        "Tx Power Current [dBm]": f"{_lanes(modules.sent_dbm(port))} [-8.508..5]",
        "Cable Technology": "850 nm VCSEL",
        "Cable Type": "Optical Module (separated)",
        **_identity(port),
        "Wavelength [nm]": "850",
        "Transfer Distance [m]": "0",
        "Digital Diagnostic Monitoring": "Yes",
        "Module State": "Ready state",
    }


def _lanes(powers: tuple[float, ...]) -> str:
    return ",".join(f"{dbm:.3f}" for dbm in powers)


def _counters(port: Port, is_up: bool, uptime_s: float) -> Section:
    if not is_up:
        names = ("Raw Physical BER", "Effective Physical BER", "Symbol BER")
        return {"Time Since Last Clear [Min]": "N/A", **dict.fromkeys(names, "N/A")}
    signal, aging = port.signal, port.aging
    counted_min = max(0.0, uptime_s - UP_AFTER_S) / 60
    raw_ber = signal.raw_ber * aging.factor(uptime_s)
    return {
        "Time Since Last Clear [Min]": f"{counted_min:.1f}",
        "Symbol Errors": "0",
        "Symbol BER": NO_ERRORS,
        "Effective Physical Errors": str(signal.lost(60 * counted_min)),
        "Effective Physical BER": _rate(signal.effective_ber),
        "Link Down Counter": str(2 + signal.flaps + aging.flaps(uptime_s)),
        "Link Error Recovery Counter": "0",
        "Raw Physical BER": _rate(raw_ber),
        "Raw Physical BER Per Lane": {"values": [_rate(raw_ber)] * port.width},
    }


def _rate(errors: float) -> str:
    """Return errors per bit as a whole number and a power of ten, such as `3E-9`."""
    return f"{errors:.0E}".replace("E-0", "E-") if errors else NO_ERRORS
