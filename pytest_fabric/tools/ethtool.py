"""`ethtool NETDEV`: speed, negotiation and link of a network device, as text or JSON.

The text is asked for and not `--json`, which only releases from 6.10 on have: 6.10 and 6.11 show
`auto-negotiation` in it as the contrary, and nothing in the output tells the release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, ethtool_common, strict_json
from pytest_fabric.tools.printable import printable

TITLE = re.compile(r"Settings for (\S+):")
FIELD = re.compile(r"\s+([A-Za-z][A-Za-z -]*):(?:\s+(\S.*))?")
MORE = re.compile(r"\s+(\S[^:]*)")
SPEED = re.compile(r"([0-9]{1,10})Mb/s")
UNKNOWN = re.compile(r"Unknown!(?: \([0-9]{1,10}\))?")
LINK = re.compile(r"(yes|no)(?: \(([^()]+)\))?")
NUMBER = re.compile(r"[0-9]{1,10}")

#: What old releases print as it is, and newer ones as unknown.
NO_SPEED = (0, 2**16 - 1, 2**32 - 1)

#: Words that stand for nothing in a list of modes.
NOTHING = ("Not reported", "")


@dataclass(frozen=True)
class Settings:
    """The settings of a device; None is for what is unknown, not reported or not shown.

    `speed_mbps` says nothing about virtual devices, which report any number. `link_reason` is why
    there is no link, where the kernel tells.
    """

    device: str
    speed_mbps: int | None
    duplex: str | None
    lanes: int | None
    auto_negotiation: bool | None
    link_detected: bool
    link_reason: str | None
    link_down_events: int | None
    port: str | None
    transceiver: str | None
    supported_ports: list[str] | None
    supported_link_modes: list[str] | None
    supported_fec_modes: list[str] | None
    supported_pause: str | None
    supports_auto_negotiation: bool | None
    advertised_link_modes: list[str] | None
    advertised_fec_modes: list[str] | None
    advertised_pause: str | None
    advertised_auto_negotiation: bool | None
    partner_link_modes: list[str] | None
    partner_fec_modes: list[str] | None
    partner_pause: str | None
    partner_auto_negotiation: bool | None


def command(netdev: str) -> tuple[str, ...]:
    """Return the command line that shows the settings of a network device."""
    return ethtool_common.command(netdev)


def parse(text: str) -> list[Settings]:
    """Return the settings of each device that the text shows.

    Errors that ethtool prints between its lines (of wake-on-LAN, without root) are passed over.
    Raises ToolError when there are no settings, NotRecognisedError for any other text, also for one
    that ends before it tells about the link.
    """
    if strict_json.is_json(text):
        found = [_from_row(row) for row in strict_json.rows(strict_json.load(text))]
        if not found:
            raise NotRecognisedError("expected a network device in JSON, got none")
        return found
    if not any(FIELD.fullmatch(line) for line in text.split("\n")):
        complaints.check(text, ethtool_common.KNOWN)
    lines = ethtool_common.whole_lines(text)
    return [_from_lines(*block) for block in ethtool_common.blocks(lines, TITLE)]


def _from_lines(device: str, lines: list[str]) -> Settings:
    found: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        field, more = FIELD.fullmatch(line), MORE.fullmatch(line)
        if field is not None and field[1] not in found:
            key = field[1]
            found[key] = [field[2] or ""]
        elif more is not None and key:
            found[key].append(more[1])
        elif not ethtool_common.ASIDE.fullmatch(line):
            raise NotRecognisedError(f"expected a setting of {device}, got {line[:80]!r}")
    words = {key: " ".join(parts) for key, parts in found.items()}
    link = LINK.fullmatch(words.get("Link detected", ""))
    if link is None:
        raise NotRecognisedError(f"expected the link of {device}: the text is cut off")
    return _settings(device, _read(words), link[1] == "yes", link[2])


def _read(words: Mapping[str, str]) -> dict[str, object]:
    """Return the settings by the keys that JSON has, in its types."""
    found: dict[str, object] = {}
    for key, text in words.items():
        name = key.lower().replace(" ", "-")
        if name.endswith(("-modes", "-ports")):
            listed = text.removeprefix("[").removesuffix("]").strip()
            found[name] = [] if listed in NOTHING else listed.split()
        elif UNKNOWN.fullmatch(text):
            continue
        elif name in ("lanes", "link-down-events"):
            found[name] = _number(NUMBER.fullmatch(text), name)
        elif name == "speed":
            match = SPEED.fullmatch(text)
            speed = _number(match and NUMBER.match(match[1]), name)
            found[name] = None if speed in NO_SPEED else speed
        elif name.endswith("auto-negotiation"):
            found[name] = _truth(text)
        else:
            found[name] = text
    return found


def _number(match: re.Match[str] | None, name: str) -> int:
    if match is None:
        raise NotRecognisedError(f"expected a number for {name}")
    return int(match[0])


def _truth(text: str) -> bool:
    if text.lower() not in ("yes", "no", "on", "off"):
        raise NotRecognisedError(f"expected yes or no, on or off, got {text[:40]!r}")
    return text.lower() in ("yes", "on")


def _from_row(row: strict_json.Row) -> Settings:
    device, link = strict_json.text_of(row, "ifname"), strict_json.flag_of(row, "link-detected")
    if device is None or link is None:
        raise NotRecognisedError("expected ifname and link-detected in JSON")
    reason = strict_json.words_of(row, "link-state")
    return _settings(device, row, link, ", ".join(reason) if reason else None)


def _settings(device: str, row: strict_json.Row, link: bool, reason: str | None) -> Settings:
    duplex = strict_json.text_of(row, "duplex")
    partner = "link-partner-advertised"
    return Settings(
        device=printable(device),
        speed_mbps=strict_json.integer_of(row, "speed"),
        duplex=duplex.lower() if duplex else None,
        lanes=strict_json.integer_of(row, "lanes"),
        auto_negotiation=strict_json.flag_of(row, "auto-negotiation"),
        link_detected=link,
        link_reason=printable(reason) if reason else None,
        link_down_events=strict_json.integer_of(row, "link-down-events"),
        port=strict_json.text_of(row, "port"),
        transceiver=strict_json.text_of(row, "transceiver"),
        supported_ports=_list(row, "supported-ports"),
        supported_link_modes=_list(row, "supported-link-modes"),
        supported_fec_modes=_fec(row, "supported-fec-modes"),
        supported_pause=strict_json.text_of(row, "supported-pause-frame-use"),
        supports_auto_negotiation=strict_json.flag_of(row, "supports-auto-negotiation"),
        advertised_link_modes=_list(row, "advertised-link-modes"),
        advertised_fec_modes=_fec(row, "advertised-fec-modes"),
        advertised_pause=strict_json.text_of(row, "advertised-pause-frame-use"),
        advertised_auto_negotiation=strict_json.flag_of(row, "advertised-auto-negotiation"),
        partner_link_modes=_list(row, f"{partner}-link-modes"),
        partner_fec_modes=_fec(row, f"{partner}-fec-modes"),
        partner_pause=strict_json.text_of(row, f"{partner}-pause-frame-use"),
        partner_auto_negotiation=strict_json.flag_of(row, f"{partner}-auto-negotiation"),
    )


def _list(row: strict_json.Row, key: str) -> list[str] | None:
    """Return the words of a list; None when it is empty: nothing is reported then."""
    return strict_json.words_of(row, key) or None


def _fec(row: strict_json.Row, key: str) -> list[str] | None:
    words = _list(row, key)
    return [ethtool_common.fec_word(word) for word in words] if words else None


def records(text: str) -> list[dict[str, object]]:
    """Return one plain record per device."""
    return [asdict(settings) for settings in parse(text)]
