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


#: How switches and their LLDP spell a port of Ethernet, and what some say behind it.
_SPELT = re.compile(r"^(?:ethernet|eth|et)\s*(?=\d)")
_BEHIND = re.compile(r"\(.*\)$")


def is_switch_port(planned: str, *seen: str) -> bool:
    """Return whether a port of a plan is one that a switch names, by any of its names.

    Ethernet1/1, Eth1/1(Port1) and Et1/1 are one port, and so are Ethernet1 and Et1. Arista adds the
    first lane to a port that can be split: Ethernet1 is Ethernet1/1 there.
    """
    wanted = _switch_port(planned)
    return any(_is_one(wanted, _switch_port(name)) for name in seen)


def _switch_port(name: str) -> str:
    return _SPELT.sub("eth", _BEHIND.sub("", name.strip().casefold()))


def _is_one(one: str, other: str) -> bool:
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return re.fullmatch(r"eth\d+", short) is not None and long == f"{short}/1"
