"""The module of a lab port: its names, and the light of its lanes."""

from __future__ import annotations

from pytest_fabric.lab.model import Port

VENDOR = "NVIDIA"

#: Where the module warns by its own thresholds.
WARM_CELSIUS = 75.0


def part(port: Port) -> str:
    """Return the part number: a transceiver for multimode fibre, or a copper cable."""
    return "MCP4Y10-N01A" if port.module.is_copper else "MMA4Z00-NS400"


def serial(port: Port) -> str:
    """Return a serial number of the port's own."""
    return f"MT2331FT{port.guid % 100_000:05d}"


def received_dbm(port: Port) -> tuple[float, ...]:
    """Return the power that each lane of the port receives."""
    return _by_lane(port, port.module.received_dbm)


def sent_dbm(port: Port) -> tuple[float, ...]:
    """Return the power that each lane of the port sends."""
    return _by_lane(port, port.module.sent_dbm)


def _by_lane(port: Port, powers: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(powers[lane % len(powers)] for lane in range(port.width))
