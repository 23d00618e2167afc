"""Addresses of a port: MAC and GUID, and the GID table as the kernel fills it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

from pytest_fabric.lab.model import ETHERNET, Gid

V1 = "IB/RoCE v1"
V2 = "RoCE v2"

#: Entries that the lab's table has; those that are not used read as zeros.
TABLE = 16

LINK_LOCAL = 0xFE80 << 112

#: What stands in the middle of a GUID that is made of a MAC address, with one bit of it flipped.
EUI_64 = 0xFFFE
LOCAL_BIT = 2 << 40


def mac(guid: int, member: int = 0) -> str:
    """Return the MAC address of a card with this GUID; `member` counts the netdevs of a bond."""
    octets = (guid >> 40 << 24 | guid & 0xFFFFFF) ^ member << 23
    if guid >> 24 & 0xFFFF == EUI_64:
        octets ^= LOCAL_BIT
    return ":".join(f"{octets >> shift & 0xFF:02x}" for shift in range(40, -8, -8))


def guid_text(guid: int) -> str:
    """Return a GUID as sysfs prints it: `0c42:a103:0000:0001`."""
    return ":".join(f"{guid >> shift & 0xFFFF:04x}" for shift in (48, 32, 16, 0))


def gid_text(address: IPv6Address) -> str:
    """Return a GID as sysfs prints it: eight groups of four digits."""
    return address.exploded


def table(
    layer: str,
    guid: int,
    address: IPv4Address | IPv6Address,
    netdev: str | None,
    kinds: tuple[str, ...] = (V1, V2),
) -> tuple[Gid, ...]:
    """Return a port's GIDs: link-local and IP address, both of each kind; one off Ethernet."""
    if layer != ETHERNET:
        return (Gid(0, IPv6Address(LINK_LOCAL | guid), V1, None),)
    octets = int(mac(guid).replace(":", ""), 16) ^ LOCAL_BIT
    interface = octets >> 24 << 40 | 0xFFFE << 24 | octets & 0xFFFFFF
    local = IPv6Address(LINK_LOCAL | interface)
    routed = IPv6Address(f"::ffff:{address}") if address.version == 4 else IPv6Address(address)
    entries = ((value, kind) for value in (local, routed) for kind in kinds)
    return tuple(Gid(index, value, kind, netdev) for index, (value, kind) in enumerate(entries))
