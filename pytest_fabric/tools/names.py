"""Names that stand in command lines and outputs: network devices and PCI addresses."""

from __future__ import annotations

import re

NETDEV = r"[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,63}"
PCI = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]"


def netdev(name: str) -> str:
    """Return the name of a network device; raises ValueError for what cannot be one."""
    if not re.fullmatch(NETDEV, name):
        raise ValueError(f"netdev: expected a name such as eth0, got {name!r}")
    return name


def pci(address: str) -> str:
    """Return a PCI address; raises ValueError for what is none."""
    if not re.fullmatch(PCI, address):
        raise ValueError(f"address: expected a PCI address such as 0000:c1:00.0, got {address!r}")
    return address
