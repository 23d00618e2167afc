"""Addresses of a port: MAC from GUID, and the GID table as the mlx5 driver fills it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

from pytest_fabric.lab.model import INFINIBAND, Gid

V1 = "IB/RoCE v1"
V2 = "RoCE v2"

#: Entries that the lab's table has; those that are not used read as zeros.
TABLE = 16

LINK_LOCAL = 0xFE80 << 112


def mac(guid: int, member: int = 0) -> str:
    """Return the MAC address of a card with this GUID; `member` counts the netdevs of a bond."""
    octets = (guid >> 40 << 24 | guid & 0xFFFFFF) ^ member << 23
    return ":".join(f"{octets >> shift & 0xFF:02x}" for shift in range(40, -8, -8))


def guid_text(guid: int) -> str:
    """Return a GUID as sysfs prints it: `0c42:a103:0000:0001`."""
    return ":".join(f"{guid >> shift & 0xFFFF:04x}" for shift in (48, 32, 16, 0))


def gid_text(address: IPv6Address) -> str:
    """Return a GID as sysfs prints it: eight groups of four digits."""
    return address.exploded


def table(
    layer: str, guid: int, address: IPv4Address | IPv6Address, netdev: str
) -> tuple[Gid, ...]:
    """Return a port's GIDs: link-local and IP address, both as v1 and v2; one on InfiniBand."""
    if layer == INFINIBAND:
        return (Gid(0, IPv6Address(LINK_LOCAL | guid), V1, None),)
    octets = int(mac(guid).replace(":", ""), 16) ^ 2 << 40
    interface = octets >> 24 << 40 | 0xFFFE << 24 | octets & 0xFFFFFF
    local = IPv6Address(LINK_LOCAL | interface)
    routed = IPv6Address(f"::ffff:{address}") if address.version == 4 else IPv6Address(address)
    kinds = ((local, V1), (local, V2), (routed, V1), (routed, V2))
    return tuple(Gid(index, value, kind, netdev) for index, (value, kind) in enumerate(kinds))
