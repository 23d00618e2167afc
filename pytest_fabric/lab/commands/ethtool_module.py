"""What `ethtool -m` prints of a module with the memory map of CMIS."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fabric.lab import modules
from pytest_fabric.lab.model import Port

#: Where a reading warns and alarms: quantity, unit by which it is printed, four levels.
LEVELS = ("high alarm", "low alarm", "high warning", "low warning")
POWERS = {"Laser output power": (5.0, -8.5, 4.0, -5.5), "Laser rx power": (5.0, -10.4, 4.0, -6.9)}
CELSIUS = (80.0, -10.0, modules.WARM_CELSIUS, 0.0)


def text(port: Port, warmer_c: float = 0.0) -> str:
    """Return the lines of a module: optical with all readings, or copper without any."""
    rows = _copper(port) if port.module.is_copper else _optical(port, warmer_c)
    return "".join(f"\t{key:<42}: {value}\n" for key, value in rows)


def _identity(port: Port) -> Iterator[tuple[str, str]]:
    yield "Vendor name", modules.VENDOR
    yield "Vendor OUI", "48:b0:2d"
    yield "Vendor PN", modules.part(port)
    yield "Vendor rev", "A5"
    yield "Vendor SN", modules.serial(port)
    yield "Revision compliance", "Rev. 5.0"


def _copper(port: Port) -> Iterator[tuple[str, str]]:
    yield "Identifier", "0x19 (OSFP 8X Pluggable Transceiver)"
    yield "Power class", "1"
    yield "Connector", "0x23 (No separable connector)"
    yield "Cable assembly length", "1.5000m"
    yield "Transmitter technology", "0x0a (Copper cable, unequalized)"
    yield from _identity(port)
    yield "Module state", "0x03 (ModuleReady)"


def _optical(port: Port, warmer_c: float) -> Iterator[tuple[str, str]]:
    yield "Identifier", "0x19 (OSFP 8X Pluggable Transceiver)"
    yield "Power class", "6"
    yield "Max power", "8.50W"
    yield "Connector", "0x0c (MPO 1x12)"
    yield "Cable assembly length", "0.00m"
    yield "Transmitter technology", "0x00 (850 nm VCSEL)"
    yield "Laser wavelength", "850.000nm"
    yield from _identity(port)
    yield "Module state", "0x03 (ModuleReady)"
    yield "Module temperature", _celsius(port.module.celsius + warmer_c)
    yield "Module voltage", "3.2613 V"
    received, sent = modules.received_dbm(port), modules.sent_dbm(port)
    for lane in range(1, len(sent) + 1):
        yield f"Laser tx bias current (Channel {lane})", "8.380 mA"
    for lane, dbm in enumerate(sent, 1):
        yield f"Transmit avg optical power (Channel {lane})", _power(dbm)
    for lane, dbm in enumerate(received, 1):
        yield f"Rcvr signal avg optical power (Channel {lane})", _power(dbm)
    for name, bounds in POWERS.items():
        for level, dbm in zip(LEVELS, bounds, strict=True):
            yield f"{name} {level} threshold", _power(dbm)
    for level, celsius in zip(LEVELS, CELSIUS, strict=True):
        yield f"Module temperature {level} threshold", _celsius(celsius)


def _celsius(degrees: float) -> str:
    return f"{degrees:.2f} degrees C / {degrees * 9 / 5 + 32:.2f} degrees F"


def _power(dbm: float) -> str:
    return f"{10 ** (dbm / 10):.4f} mW / {dbm:.2f} dBm"
