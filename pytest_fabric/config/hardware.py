"""How hardware and networks are named in a cluster file, and the one spelling each is brought to.

The spellings are those of sysfs, because a port is found by comparing with what sysfs says.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

from pytest_fabric.config.wording import expected
from pytest_fabric.errors import ConfigError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: Names that become parts of sysfs paths and of commands.
SAFE_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.@-]*"

PCI = r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([01][0-9a-f])\.([0-7])"


def read_pci(value: object) -> str:
    """Return a PCI address as `0000:1a:00.0`; the domain may be left out."""
    match = re.fullmatch(PCI, value.strip(), re.I) if isinstance(value, str) else None
    if match is None:
        raise expected('a PCI address such as "0000:1a:00.0"', value)
    domain, bus, device, function = match.groups()
    return f"{int(domain or '0', 16):04x}:{bus}:{device}.{function}".lower()


def read_guid(value: object) -> str:
    """Return a node GUID as sysfs writes it: `248a:0703:0012:34ab`."""
    digits = value.strip().lower() if isinstance(value, str) else ""
    digits = digits.removeprefix("0x").replace(":", "")
    if not re.fullmatch(r"[0-9a-f]{16}", digits) or digits == "0" * 16:
        raise expected('a node GUID such as "248a:0703:0012:34ab"', value)
    return ":".join(digits[place : place + 4] for place in range(0, 16, 4))


def read_netdev(value: object) -> str:
    """Return the name of a network device: the kernel allows 15 characters."""
    if isinstance(value, str) and re.fullmatch(SAFE_NAME, value) and len(value) <= 15:
        return str(value)
    raise expected('a network device such as "ens1f0np0"', value)


def read_device(value: object) -> str:
    """Return the name of an RDMA device."""
    if isinstance(value, str) and re.fullmatch(SAFE_NAME, value) and len(value) <= 63:
        return str(value)
    raise expected('an RDMA device such as "mlx5_0"', value)


def read_bond(value: object) -> tuple[str, ...]:
    """Return the members of a bond: two network devices or more."""
    if not isinstance(value, (list, tuple)) or len(value) < 2:
        raise expected("a list of two network devices or more", value, "one is a `netdev`")
    members = tuple(read_netdev(member) for member in value)
    if len(set(members)) < len(members):
        raise ConfigError(f"expected each member once, got {', '.join(members)}")
    return members


def read_gpu(value: object) -> str:
    """Return the GPU beside a rail: a PCI address in the spelling of `read_pci`, or its UUID."""
    if isinstance(value, str) and re.fullmatch(r"GPU-[0-9a-f-]{36}", value.strip()):
        return value.strip()
    try:
        return read_pci(value)
    except ConfigError:
        raise expected('the PCI address of a GPU such as "0000:1b:00.0"', value) from None


def read_network(value: object) -> Network:
    """Return the network in which a rail has its address."""
    if isinstance(value, (ipaddress.IPv4Network, ipaddress.IPv6Network)):
        return value
    text = value.strip() if isinstance(value, str) else ""
    network = _network(text)
    if network is None:
        raise expected('a network such as "10.1.0.0/16"', value)
    if network.network_address != ipaddress.ip_address(text.partition("/")[0]):
        why = f"the network of that address is {network}"
        raise expected('a network such as "10.1.0.0/16"', value, why)
    return network


@lru_cache(1024)
def _network(text: str) -> Network | None:
    """Return the network of an address and its prefix length; few of them serve many nodes."""
    if not re.fullmatch(r"[0-9a-fA-F:.]+/[0-9]{1,3}", text):
        return None
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def read_address(value: object) -> str:
    """Return where SSH goes: `HOST`, `HOST:PORT`, `[IPV6]:PORT`, with `{node}` for the name."""
    text = value.strip() if isinstance(value, str) else ""
    host, port = split_address(text.replace("{node}", "node"))
    if "@" in text:
        raise expected('an address such as "{node}.mgmt"', value, "the user belongs in ssh.user")
    bare = not text.startswith("[")
    named = bare and re.fullmatch(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?", host)
    if not (named or _is_ip(host)) or (port is not None and not 1 <= port <= 65535):
        raise expected('an address such as "{node}.mgmt", "host:2222" or "[::1]:22"', value)
    return str(text)


def split_address(address: str) -> tuple[str, int | None]:
    """Return host and port of an address; without a port None, since ssh_config may give one."""
    match = re.fullmatch(r"\[([^\[\]]*)\](?::([0-9]{1,5}))?", address)
    if match is None and address.count(":") < 2:  # more of them make an IPv6 address
        match = re.fullmatch(r"([^:]*)(?::([0-9]{1,5}))?", address)
    if match is None:
        return address, None
    return match.group(1), int(match.group(2)) if match.group(2) else None


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
