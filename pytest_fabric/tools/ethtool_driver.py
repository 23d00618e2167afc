"""`ethtool -i`: the driver of a network device, its firmware and its place on the bus."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, ethtool_common
from pytest_fabric.tools.printable import printable

LINE = re.compile(
    r"(driver|version|firmware-version|expansion-rom-version|bus-info|supports-[a-z-]+):(?: (.*))?"
)

#: What stands for an absent value.
ABSENT = frozenset({"", "N/A", "n/a"})


@dataclass(frozen=True)
class Driver:
    """The driver of a device; None is for what it does not tell."""

    driver: str
    version: str | None
    firmware_version: str | None
    expansion_rom_version: str | None
    bus_info: str | None
    supports_statistics: bool | None
    supports_test: bool | None
    supports_eeprom_access: bool | None
    supports_register_dump: bool | None
    supports_priv_flags: bool | None


def command(netdev: str) -> tuple[str, ...]:
    """Return the command line that shows the driver of a network device."""
    return ethtool_common.command(netdev, "-i")


def parse(text: str) -> Driver:
    """Return the driver.

    Raises ToolError for what ethtool says instead, NotRecognisedError for any other text, also for
    one whose last line is cut off.
    """
    complaints.check(text, ethtool_common.KNOWN, row=LINE)
    found: dict[str, str] = {}
    for line in ethtool_common.whole_lines(text):
        match = LINE.fullmatch(line.strip())
        if match is None or match[1] in found:
            raise NotRecognisedError(f"expected a line of ethtool -i, got {line[:80]!r}")
        found[match[1]] = printable((match[2] or "").strip())
    if found.get("driver", "") in ABSENT:
        raise NotRecognisedError("expected the driver of a network device, got none")
    return Driver(
        driver=found["driver"],
        version=_text(found, "version"),
        firmware_version=_text(found, "firmware-version"),
        expansion_rom_version=_text(found, "expansion-rom-version"),
        bus_info=_text(found, "bus-info"),
        supports_statistics=_yes(found, "statistics"),
        supports_test=_yes(found, "test"),
        supports_eeprom_access=_yes(found, "eeprom-access"),
        supports_register_dump=_yes(found, "register-dump"),
        supports_priv_flags=_yes(found, "priv-flags"),
    )


def _text(found: dict[str, str], key: str) -> str | None:
    word = found.get(key, "")
    return None if word in ABSENT else word


def _yes(found: dict[str, str], key: str) -> bool | None:
    word = found.get(f"supports-{key}")
    if word not in ("yes", "no", None):
        raise NotRecognisedError(f"expected yes or no for supports-{key}, got {word!r}")
    return None if word is None else word == "yes"


def records(text: str) -> list[dict[str, object]]:
    """Return the driver as one plain record."""
    return [asdict(parse(text))]
