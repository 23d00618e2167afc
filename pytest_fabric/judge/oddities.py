"""What a port says of itself that is not as declared: facts to stand beside a failure."""

from __future__ import annotations

from pytest_fabric.config import Profile
from pytest_fabric.results import RdmaPort
from pytest_fabric.units import render


def oddities(record: RdmaPort, profile: Profile) -> list[str]:
    """Return the facts of a port that differ from its profile, one line each."""
    link, pcie = profile.link, profile.pcie
    found: list[str] = []
    if link.speed is not None and record.speed_bps not in (None, link.speed.number):
        found.append(f"link {_of(record.speed_bps, 'b/s')}, declared {link.speed}")
    if link.width is not None and record.width not in (None, link.width):
        found.append(f"link {record.width} lanes, declared {link.width}")
    if link.mtu is not None and record.active_mtu not in (None, link.mtu):
        found.append(f"RDMA MTU {record.active_mtu}, declared {link.mtu}")
    hop = record.pcie[0] if record.pcie else None
    if pcie is not None and hop is not None:
        speed = pcie.speed.number if pcie.speed is not None else hop.speed_tps
        width = pcie.width if pcie.width is not None else hop.width
        if (hop.speed_tps, hop.width) != (speed, width):
            now = f"PCIe {_of(hop.speed_tps, 'T/s')} x{hop.width or '?'}"
            found.append(f"{now}, declared {_of(speed, 'T/s')} x{width or '?'}")
    return found


def _of(number: float | None, unit: str) -> str:
    return "unknown speed" if number is None else render(number, unit)
