"""`devlink dev info`: the firmware that runs on a NIC, that which is stored, and fixed facts.

A stored version that differs from the running one becomes active at the next reset. Names of
versions are in Documentation/networking/devlink/devlink-info.rst of the kernel.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, devlink
from pytest_fabric.tools.printable import printable
from pytest_fabric.tools.strict_json import as_object, as_text, is_json, load

SORTS = ("fixed", "running", "stored")
FACTS = ("driver", "serial_number", "board.serial_number")
DEVICE = re.compile(rf"({devlink.HANDLE}):")
ENTRY = re.compile(r"([A-Za-z0-9_.-]+) (\S.*)")


@dataclass(frozen=True)
class Version:
    """A named version of a device; of `running`, `stored` and `fixed` each that is shown.

    `name` is None for a device that shows no version.
    """

    device: str
    driver: str | None
    serial_number: str | None
    board_serial_number: str | None
    name: str | None
    running: str | None
    stored: str | None
    fixed: str | None


@dataclass
class _Device:
    facts: dict[str, str] = field(default_factory=dict)
    versions: dict[str, dict[str, str]] = field(default_factory=dict)


def command(device: str = "") -> tuple[str, ...]:
    """Return the command line that shows one device, such as `pci/0000:c1:00.0`, or all."""
    return ("devlink", "-j", "dev", "info", *([devlink.handle(device)] if device else []))


def parse(text: str) -> list[Version]:
    """Return the versions of all devices; JSON and plain text are read alike.

    Raises ToolError when devlink reports an error, NotRecognisedError for any other text.
    """
    if is_json(text):
        devices = _from_json(text)
    else:
        complaints.check(text, devlink.ERRORS)
        if not text.strip() or not text.endswith("\n"):
            raise NotRecognisedError("expected whole lines of devlink dev info, got a cut-off text")
        devices = _from_lines([line for line in text.split("\n") if line.strip()])
    return [row for name, device in devices.items() for row in _versions(name, device)]


def _from_json(text: str) -> dict[str, _Device]:
    info = as_object(as_object(load(text, devlink.ERRORS), "document").get("info"), "info")
    return {name: _from_entry(name, as_object(entry, name)) for name, entry in info.items()}


def _from_entry(name: str, entry: dict[str, object]) -> _Device:
    if not re.fullmatch(devlink.HANDLE, name):
        raise NotRecognisedError(f"expected the handle of a device, got {name[:60]!r}")
    device = _Device({key: as_text(entry[key], key) for key in FACTS if key in entry})
    sorts = as_object(entry.get("versions", {}), "versions")
    for sort in SORTS:
        for key, value in as_object(sorts.get(sort, {}), sort).items():
            device.versions.setdefault(key, {})[sort] = as_text(value, key)
    return device


def _from_lines(lines: list[str]) -> dict[str, _Device]:
    devices: dict[str, _Device] = {}
    device = _Device()
    sort = None
    for line in lines:
        title, entry = DEVICE.fullmatch(line.rstrip()), ENTRY.fullmatch(line.strip())
        if title and title[1] not in devices:
            device, sort = devices.setdefault(title[1], _Device()), None
        elif devices and line.strip().removesuffix(":") in (*SORTS, "versions"):
            sort = line.strip().removesuffix(":")
        elif devices and entry and sort in SORTS:
            _put(device.versions.setdefault(entry[1], {}), sort, entry[2].rstrip())
        elif devices and entry and sort is None:
            _put(device.facts, entry[1], entry[2].rstrip())
        else:
            raise NotRecognisedError(f"expected a line of devlink dev info, got {line[:80]!r}")
    return devices


def _put(values: dict[str, str], key: str, value: str) -> None:
    if key in values:
        raise NotRecognisedError(f"expected {key[:40]!r} once, got it twice")
    values[key] = value


def _versions(name: str, device: _Device) -> list[Version]:
    driver, serial, board = (_shown(device.facts.get(key)) for key in FACTS)
    named: list[tuple[str | None, dict[str, str]]] = [*device.versions.items()]
    return [
        Version(
            name,
            driver,
            serial,
            board,
            _shown(key),
            *(_shown(sorts.get(sort)) for sort in ("running", "stored", "fixed")),
        )
        for key, sorts in named or [(None, {})]
    ]


def _shown(text: str | None) -> str | None:
    return printable(text) if text else None


def records(text: str) -> list[dict[str, object]]:
    """Return the versions as plain records."""
    return [asdict(version) for version in parse(text)]
