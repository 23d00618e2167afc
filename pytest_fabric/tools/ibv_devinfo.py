"""`ibv_devinfo`: the RDMA devices as libibverbs sees them, mainly for the active MTU."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools.complaints import Known, check
from pytest_fabric.tools.printable import printable

#: Words of `link_layer_str`; old releases print InfiniBand for devices that are neither.
LINK_LAYERS = ("InfiniBand", "Ethernet", "Unspecified", "Unknown")

ENTRY = re.compile(r"\s*([a-z_]+):\s+(\S.*)")
CODED = re.compile(r"(\S.*) \(([0-9]{1,5})\)")

#: What it says instead on stderr, where the exit status is 255, and the word for it.
KNOWN: Known = (
    ("no_devices", re.compile(r"No IB devices found")),
    ("no_rdma_subsystem", re.compile(r"Failed to get IB devices list")),
    ("device_not_found", re.compile(r"IB device '?\S+?'? (?:wasn't|not) found")),
    ("device_not_readable", re.compile(r"Failed to (?:open|query) (?:device|port)\b")),
)
NO_PROVIDER = re.compile(
    r"libibverbs: Warning: (?:couldn't (?:open config directory|load driver)|no userspace device).*"
)


@dataclass(frozen=True)
class DevicePort:
    """A port: `state` is the number of `ibv_port_state` (4 is active), MTUs are in bytes.

    `link_layer` tells RoCE from InfiniBand; `transport` says InfiniBand for both.
    """

    device: str
    port: int
    state: int
    active_mtu: int | None
    max_mtu: int | None
    link_layer: str
    transport: str
    fw: str | None


def command() -> tuple[str, ...]:
    """Return the command line that shows every device."""
    return ("ibv_devinfo",)


def parse(text: str) -> list[DevicePort]:
    """Return the ports of all devices, in the order in which they are shown.

    Raises ToolError when there is no device, or no provider library for one, and NotRecognisedError
    for any other text, also when a device shows fewer ports than it says it has.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        check(text, KNOWN, row=NO_PROVIDER)
    except ToolError as error:
        if error.kind != "no_devices" or not any(map(NO_PROVIDER.match, lines)):
            raise
        message = f"{error}: there is no provider library, install ibverbs-providers"
        raise ToolError("no_provider", message) from None
    devices = _split(lines, "hca_id")
    if not devices:
        raise NotRecognisedError(f"expected 'hca_id: NAME', got {text.strip()[:80]!r}")
    return [port for device in devices for port in _ports(device)]


def _split(lines: list[str], key: str) -> list[list[str]]:
    """Return the lines from each `key:` on, up to the next one."""
    starts = [place for place, line in enumerate(lines) if line.strip().startswith(f"{key}:")]
    return [lines[a:b] for a, b in zip(starts, [*starts[1:], len(lines)], strict=False)]


def _ports(lines: list[str]) -> list[DevicePort]:
    blocks = _split(lines, "port")
    device = _entries(lines[: len(lines) - sum(map(len, blocks))])
    if "hca_id" not in device:
        raise NotRecognisedError(f"expected 'hca_id: NAME', got {lines[0].strip()[:80]!r}")
    count = device.get("phys_port_cnt", "")
    if count != str(len(blocks)):
        raise NotRecognisedError(
            f"expected {count or 'a number of'} ports of {device.get('hca_id')}, "
            f"got {len(blocks)}: the text is cut off"
        )
    return [_port(device, _entries(block)) for block in blocks]


def _entries(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        match = ENTRY.fullmatch(line.rstrip())
        if match is not None:
            found.setdefault(match.group(1), match.group(2))
    return found


def _port(device: Mapping[str, str], port: Mapping[str, str]) -> DevicePort:
    layer, number = port.get("link_layer"), port.get("port", "")
    if layer not in LINK_LAYERS or not re.fullmatch(r"[0-9]{1,3}", number):
        raise NotRecognisedError(f"expected a whole port of {device.get('hca_id')}, got {layer!r}")
    return DevicePort(
        device=printable(device["hca_id"]),
        port=int(number),
        state=int(_coded(port, "state")[1]),
        active_mtu=_bytes(_coded(port, "active_mtu")[0]),
        max_mtu=_bytes(_coded(port, "max_mtu")[0]),
        link_layer=layer,
        transport=printable(_coded(device, "transport")[0]),
        fw=printable(device["fw_ver"]) if "fw_ver" in device else None,
    )


def _coded(entries: Mapping[str, str], key: str) -> tuple[str, str]:
    """Return word and number of an entry such as `PORT_ACTIVE (4)`."""
    match = CODED.fullmatch(entries.get(key, ""))
    if match is None:
        raise NotRecognisedError(f"expected {key} as 'WORD (NUMBER)', got {entries.get(key)!r}")
    return match.group(1), match.group(2)


def _bytes(word: str) -> int | None:
    """Return an MTU; None for the word that stands for a code libibverbs does not know."""
    return int(word) if re.fullmatch(r"[0-9]{3,5}", word) else None


def records(text: str) -> list[dict[str, int | float | str | None]]:
    """Return the ports as plain records."""
    return [asdict(port) for port in parse(text)]
