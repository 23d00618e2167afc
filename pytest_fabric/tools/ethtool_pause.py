"""`ethtool -a`: global pause of a network device, with `-I` also its counters, as text or JSON.

A device with PFC enabled shows global pause as off.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, ethtool_common, strict_json
from pytest_fabric.tools.printable import printable

TITLE = re.compile(r"Pause parameters for (\S+):")
LINE = re.compile(r"(Autonegotiate|RX|TX|RX negotiated|TX negotiated):\s*(\S+)")
STATISTIC = re.compile(r"([a-z][a-z_]*): ([0-9]{1,20})")


@dataclass(frozen=True)
class Pause:
    """Global pause: what is set, what was negotiated, and the frames where `-I` was given."""

    device: str
    autonegotiate: bool | None
    rx: bool | None
    tx: bool | None
    rx_negotiated: bool | None
    tx_negotiated: bool | None
    rx_pause_frames: int | None
    tx_pause_frames: int | None
    tx_pause_storm_events: int | None


def command(netdev: str) -> tuple[str, ...]:
    """Return the command line that shows global pause of a network device."""
    return ethtool_common.command(netdev, "-a")


def parse(text: str) -> list[Pause]:
    """Return global pause of each device that the text shows.

    Raises ToolError for what ethtool says instead, NotRecognisedError for any other text, also for
    one whose last line is cut off.
    """
    if strict_json.is_json(text):
        return [_from_row(row) for row in _some(strict_json.rows(strict_json.load(text)))]
    if not text.startswith("Pause parameters"):
        complaints.check(text, ethtool_common.KNOWN)
    lines = ethtool_common.whole_lines(text)
    return [_from_lines(*block) for block in ethtool_common.blocks(lines, TITLE)]


def _some(rows: list[strict_json.Row]) -> list[strict_json.Row]:
    if not rows:
        raise NotRecognisedError("expected a network device in JSON, got none")
    return rows


def _from_lines(device: str, lines: list[str]) -> Pause:
    words: dict[str, str] = {}
    for line in (line.strip() for line in lines):
        match = LINE.fullmatch(line) or STATISTIC.fullmatch(line)
        if match is not None and match[1] not in words:
            words[match[1]] = match[2]
        elif line != "Statistics:":
            raise NotRecognisedError(f"expected a line of ethtool -a, got {line[:80]!r}")
    if not {"Autonegotiate", "RX", "TX"} <= words.keys():
        raise NotRecognisedError(f"expected autonegotiation, RX and TX of {device}")
    flags = {key: ethtool_common.on_off(word) for key, word in words.items() if key[0].isupper()}
    counts = {key: int(word) for key, word in words.items() if not key[0].isupper()}
    return Pause(
        device=device,
        autonegotiate=flags["Autonegotiate"],
        rx=flags["RX"],
        tx=flags["TX"],
        rx_negotiated=flags.get("RX negotiated"),
        tx_negotiated=flags.get("TX negotiated"),
        rx_pause_frames=counts.get("rx_pause_frames"),
        tx_pause_frames=counts.get("tx_pause_frames"),
        tx_pause_storm_events=counts.get("tx_pause_storm_events"),
    )


def _from_row(row: strict_json.Row) -> Pause:
    device = strict_json.text_of(row, "ifname")
    if device is None or not {"autonegotiate", "rx", "tx"} <= row.keys():
        raise NotRecognisedError("expected ifname, autonegotiate, rx and tx in JSON")
    negotiated = strict_json.object_of(row, "negotiated")
    statistics = strict_json.object_of(row, "statistics")
    return Pause(
        device=printable(device),
        autonegotiate=strict_json.flag_of(row, "autonegotiate"),
        rx=strict_json.flag_of(row, "rx"),
        tx=strict_json.flag_of(row, "tx"),
        rx_negotiated=strict_json.flag_of(negotiated, "rx"),
        tx_negotiated=strict_json.flag_of(negotiated, "tx"),
        rx_pause_frames=strict_json.integer_of(statistics, "rx_pause_frames"),
        tx_pause_frames=strict_json.integer_of(statistics, "tx_pause_frames"),
        tx_pause_storm_events=strict_json.integer_of(statistics, "tx_pause_storm_events"),
    )


def records(text: str) -> list[dict[str, object]]:
    """Return one plain record per device."""
    return [asdict(pause) for pause in parse(text)]
