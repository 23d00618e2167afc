"""Where the cards and GPUs of a lab node are plugged in: their place in the tree of PCIe."""

from __future__ import annotations

import posixpath

from pytest_fabric.lab.model import Port


def path(pci: str) -> str:
    """Return the directory of a card: root port, and a switch's two ports where buses allow it."""
    domain, bus, _ = pci.split(":")
    number = int(bus, 16)
    if number < 4:
        return f"/sys/devices/pci{domain}:00/{domain}:00:01.{number}/{pci}"
    host, up, down = (f"{domain}:{number - above:02x}" for above in (3, 2, 1))
    return f"/sys/devices/pci{host}/{host}:01.0/{up}:00.0/{down}:00.0/{pci}"


def gpu_path(port: Port) -> str:
    """Return the directory of a port's GPU: below another port of the switch, beside its card."""
    slot = posixpath.dirname(path(port.pci))
    bus, _, _ = posixpath.basename(slot).rpartition(":")
    return f"{posixpath.dirname(slot)}/{bus}:1f.0/{port.gpu}"


def bridges_above(port: Port) -> list[str]:
    """Return the addresses of the PCIe bridges above a card, and of that above its GPU."""
    paths = [path(port.pci), *([gpu_path(port)] if port.gpu else [])]
    parts = [part for one in paths for part in posixpath.dirname(one).split("/") if ":" in part]
    return [part for part in dict.fromkeys(parts) if not part.startswith("pci")]
