"""`lspci -vvv -D`: PCI devices with their links, errors and settings.

Rows are those of ls-caps.c and ls-ecaps.c of pciutils. What it says about `downgraded` depends on
its release and on the kind of port, so that only the numbers are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, names
from pytest_fabric.tools.complaints import Known
from pytest_fabric.tools.printable import printable

ERRORS: Known = (
    (
        "no_pci",
        re.compile(
            r"^(?:lspci|pcilib): Cannot (?:open|find)|^lspci: Unable to (?:open|read) "
            r"(?:the )?config"
        ),
    ),
    ("usage", re.compile(r"^lspci: (?:invalid option|option requires)|^lspci: -s: |^Usage: lspci")),
)

DEVICE = re.compile(
    rf"({names.PCI}) (?:Class ([0-9a-f]{{4}})|(\S[^\[\]:]*?)(?: \[([0-9a-f]{{4}})\])?): (\S.*)"
)
REVISION = re.compile(r"\(rev ([0-9a-f]{2})\)")
LINE = re.compile(r"\s+\S.*")
ENTRY = re.compile(r"\s*([A-Z][A-Za-z0-9 ]{1,30}):\s+(\S.*)")
NOISE = re.compile(r"!!! .*|(?:pcilib|lspci): .*")

SPEED = re.compile(r"Speed ([0-9]{1,3}(?:\.[0-9])?)GT/s")
WIDTH = re.compile(r"Width x([0-9]{1,2})")
ASPM = re.compile(r"ASPM ([A-Za-z0-9 ]+?)(?: Enabled)?;")
PAYLOAD = re.compile(r"MaxPayload ([0-9]{1,5}) bytes")
READ = re.compile(r"MaxReadReq ([0-9]{1,5}) bytes")
FLAG = re.compile(r"\b([A-Za-z0-9_]{1,40})([+-])")


@dataclass(frozen=True)
class PciDevice:
    """A device; None is what lspci does not show, or says it does not know.

    `capabilities_readable` is False where root is needed to see the rest. `link_*` is what the
    link runs at, `link_max_*` what the device is capable of. `acs` are the ACS functions switched
    on, `aer_*` the errors that are flagged, by the names of lspci.
    """

    address: str | None
    class_name: str | None
    class_code: str | None
    description: str | None
    revision: str | None
    capabilities_readable: bool | None
    link_gt_s: float | None
    link_width: int | None
    link_max_gt_s: float | None
    link_max_width: int | None
    aspm: str | None
    max_payload_bytes: int | None
    max_read_request_bytes: int | None
    acs: tuple[str, ...] | None
    aer_correctable: tuple[str, ...] | None
    aer_uncorrectable: tuple[str, ...] | None
    numa_node: int | None
    driver: str | None


def command(address: str = "") -> tuple[str, ...]:
    """Return the command line that shows one device or all; links need root."""
    return ("lspci", "-vvv", "-D", *(["-s", names.pci(address)] if address else []))


def parse(text: str) -> list[PciDevice]:
    """Return the devices in the order in which they are shown.

    The link rows of one device alone are read too, as a device without address. Raises ToolError
    when lspci cannot read the bus, NotRecognisedError for any other text.
    """
    lines = [line.rstrip() for line in text.split("\n")]
    titles = [number for number, line in enumerate(lines) if DEVICE.fullmatch(line)]
    complaints.check("\n".join(line for line in lines if not line[:1].isspace()), ERRORS, DEVICE)
    if not text.endswith("\n"):
        raise NotRecognisedError("expected whole lines of lspci, got an empty or cut-off text")
    if not titles:
        return [_link_only(lines)]
    if any(line and not NOISE.fullmatch(line) for line in lines[: titles[0]]):
        raise NotRecognisedError(f"expected a device first, got {text.lstrip()[:80]!r}")
    # The newline that ends the text leaves one empty line; only a second one ends a device.
    ends = [*titles[1:], len(lines) - 1]
    return [_device(lines[a:b]) for a, b in zip(titles, ends, strict=True)]


def _link_only(lines: list[str]) -> PciDevice:
    entries = _entries(lines)
    titled = all(ENTRY.fullmatch(line) or LINE.fullmatch(line) for line in lines if line)
    if not titled or not all("Speed " in entries.get(key, "") for key in ("LnkCap", "LnkSta")):
        raise NotRecognisedError("expected the devices of lspci, or LnkCap and LnkSta of one")
    return _from_entries(None, entries)


def _device(lines: list[str]) -> PciDevice:
    for line in lines[1:]:
        if line and not LINE.fullmatch(line) and not NOISE.fullmatch(line):
            raise NotRecognisedError(f"expected a row of lspci, got {line[:80]!r}")
    return _from_entries(DEVICE.fullmatch(lines[0]), _entries(lines[1:]))


def _entries(lines: list[str]) -> dict[str, str]:
    """Return the first value of each `key: value`, with the lines that continue it.

    The last one of a device without a blank line behind it may go on where the text is cut off:
    it is marked by a trailing newline.
    """
    found: list[tuple[str, str]] = []
    for line in lines:
        match = ENTRY.fullmatch(line)
        if match:
            found.append((match[1], match[2]))
        elif line and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    if found and "" not in lines:
        found[-1] = (found[-1][0], found[-1][1] + "\n")
    entries: dict[str, str] = {}
    for key, value in found:
        name = "no access" if (key, value.strip()) == ("Capabilities", "<access denied>") else key
        entries.setdefault(name, value)
    return entries


def _from_entries(title: re.Match[str] | None, entries: Mapping[str, str]) -> PciDevice:
    status, capable = entries.get("LnkSta", ""), entries.get("LnkCap", "")
    aspm = ASPM.match(entries.get("LnkCtl", ""))
    description = title[5] if title else ""
    revision = REVISION.search(description)
    node = re.fullmatch(r"[0-9]{1,5}", entries.get("NUMA node", "").strip())
    driver = entries.get("Kernel driver in use", "").strip()
    readable = "no access" not in entries and ("Capabilities" in entries or None)
    return PciDevice(
        address=_full(title[1]) if title else None,
        class_name=printable(title[3]) if title and title[3] else None,
        class_code=(title[2] or title[4]) if title else None,
        description=printable(description) or None,
        revision=revision[1] if revision else None,
        capabilities_readable=readable,
        link_gt_s=_speed(status),
        link_width=_width(status),
        link_max_gt_s=_speed(capable),
        link_max_width=_width(capable),
        aspm=aspm[1].lower() if aspm else None,
        max_payload_bytes=_number(PAYLOAD.search(entries.get("DevCtl", ""))),
        max_read_request_bytes=_number(READ.search(entries.get("DevCtl", ""))),
        acs=_flags(entries.get("ACSCtl")),
        aer_correctable=_flags(entries.get("CESta")),
        aer_uncorrectable=_flags(entries.get("UESta")),
        numa_node=_number(node),
        driver=printable(driver) or None,
    )


def _full(address: str) -> str:
    """Return an address with its domain, which lspci leaves out where there is only domain 0."""
    return address if address.count(":") == 2 else f"0000:{address}"


def _speed(text: str) -> float | None:
    match = SPEED.search(text)
    return float(match[1]) if match else None


def _width(text: str) -> int | None:
    """Return the lanes of a link; x0 is what an unknown link shows."""
    return _number(WIDTH.search(text)) or None


def _number(match: re.Match[str] | None) -> int | None:
    return int(match[match.re.groups]) if match else None


def _flags(text: str | None) -> tuple[str, ...] | None:
    """Return the names marked with a plus; None when the row may not be whole."""
    if text is None or text.endswith("\n"):
        return None
    return tuple(name for name, sign in FLAG.findall(text) if sign == "+")


def records(text: str) -> list[dict[str, object]]:
    """Return the devices as plain records."""
    return [
        {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}
        for row in map(asdict, parse(text))
    ]
