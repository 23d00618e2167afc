"""`ethtool --show-fec`: configured and active FEC, with `-I` its statistics, as text or JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, ethtool_common, strict_json

TITLE = re.compile(r"FEC parameters for (\S+):")
CONFIGURED = re.compile(r"(?:Supported/)?Configured FEC encodings?:((?: [A-Za-z0-9-]+)+)")
ACTIVE = re.compile(r"Active FEC encodings?:((?: [A-Za-z0-9-]+)+)")
STATISTIC = re.compile(
    r"([a-z][a-z0-9_]*): ([0-9]{1,20})(?: \[ per_lane: +([0-9]{1,20}(?:, [0-9]{1,20})*) \])?"
)
LANE = re.compile(r"Lane ([0-9]{1,3}): ([0-9]{1,20})")

STATISTICS = ("corrected_blocks", "uncorrectable_blocks", "corrected_bits")


@dataclass(frozen=True)
class Count:
    """A statistic: its total, and its lanes from lane 0 on where all of them are known."""

    total: int | None = None
    per_lane: list[int] | None = None


@dataclass(frozen=True)
class Fec:
    """Encodings in the words Auto, None, Off, RS, BaseR, LLRS.

    `Off` is an encoding (FEC is off), `None` says that the device names no encoding. A statistic
    that the driver does not keep, or that was not asked for with `-I`, is None. The lanes of the
    last statistic can be told to be complete only by those of another: None where there is none.
    """

    device: str
    configured: list[str]
    active: list[str]
    corrected_blocks: int | None
    corrected_blocks_per_lane: list[int] | None
    uncorrectable_blocks: int | None
    uncorrectable_blocks_per_lane: list[int] | None
    corrected_bits: int | None
    corrected_bits_per_lane: list[int] | None


def command(netdev: str) -> tuple[str, ...]:
    """Return the command line that shows the FEC of a network device with its statistics."""
    return ethtool_common.command(netdev, "-I", "--show-fec")


def parse(text: str) -> list[Fec]:
    """Return the FEC of each device that the text shows.

    Raises ToolError for what ethtool says instead, NotRecognisedError for any other text, also for
    one whose last line is cut off.
    """
    if strict_json.is_json(text):
        rows = strict_json.rows(strict_json.load(text))
        if not rows:
            raise NotRecognisedError("expected a network device in JSON, got none")
        return [_from_row(row) for row in rows]
    if not text.startswith("FEC parameters"):
        complaints.check(text, ethtool_common.KNOWN)
    lines = ethtool_common.whole_lines(text)
    return [_from_lines(*block) for block in ethtool_common.blocks(lines, TITLE)]


def _from_lines(device: str, lines: list[str]) -> Fec:
    stripped = [line.strip() for line in lines]
    configured = CONFIGURED.fullmatch(stripped[0]) if stripped else None
    active = ACTIVE.fullmatch(stripped[1]) if len(stripped) > 1 else None
    if configured is None or active is None:
        raise NotRecognisedError(f"expected configured and active FEC of {device}")
    counts = _counts(stripped[2:])
    return _fec(device, configured[1].split(), active[1].split(), counts)


def _counts(lines: list[str]) -> dict[str, Count]:
    """Return the statistics; lines of lanes belong to the statistic before them."""
    totals: dict[str, int] = {}
    lanes: dict[str, list[int]] = {}
    inline: dict[str, list[int]] = {}
    name = ""
    if lines and lines[0] != "Statistics:":
        raise NotRecognisedError(f"expected FEC statistics, got {lines[0][:80]!r}")
    for line in lines[1:]:
        lane, count = LANE.fullmatch(line), STATISTIC.fullmatch(line)
        if count is not None and count[1] not in totals:
            name = count[1]
            totals[name] = int(count[2])
            if count[3] is not None:
                inline[name] = [int(value) for value in count[3].split(", ")]
        elif lane is not None and name and int(lane[1]) == len(lanes.get(name, [])):
            lanes.setdefault(name, []).append(int(lane[2]))
        else:
            raise NotRecognisedError(f"expected FEC statistics, got {line[:80]!r}")
    sizes = {len(values) for key, values in lanes.items() if key != name}
    if name in lanes and len(lanes[name]) not in sizes:
        del lanes[name]
    return {key: Count(total, lanes.get(key, inline.get(key))) for key, total in totals.items()}


def _from_row(row: strict_json.Row) -> Fec:
    device = strict_json.text_of(row, "ifname")
    configured, active = strict_json.words_of(row, "config"), strict_json.words_of(row, "active")
    if device is None or not configured or not active:
        raise NotRecognisedError("expected ifname, config and active in JSON")
    statistics = strict_json.object_of(row, "statistics")
    found = {key: strict_json.object_of(statistics, key) for key in STATISTICS if key in statistics}
    return _fec(device, configured, active, {key: _count(value) for key, value in found.items()})


def _count(row: strict_json.Row) -> Count:
    total, lanes = strict_json.integer_of(row, "total"), row.get("lanes")
    if total is None or not (lanes is None or isinstance(lanes, list)):
        raise NotRecognisedError("expected total and lanes of FEC statistics in JSON")
    values = [strict_json.integer_of({"lanes": lane}, "lanes") for lane in lanes or []]
    per_lane = [value for value in values if value is not None]
    if len(per_lane) != len(values):
        raise NotRecognisedError("expected a number for each lane in JSON")
    return Count(total, per_lane or None)


def _fec(device: str, configured: list[str], active: list[str], counts: Mapping[str, Count]) -> Fec:
    corrected, uncorrectable, bits = (counts.get(key, Count()) for key in STATISTICS)
    return Fec(
        device=device,
        configured=[ethtool_common.fec_word(word) for word in configured],
        active=[ethtool_common.fec_word(word) for word in active],
        corrected_blocks=corrected.total,
        corrected_blocks_per_lane=corrected.per_lane,
        uncorrectable_blocks=uncorrectable.total,
        uncorrectable_blocks_per_lane=uncorrectable.per_lane,
        corrected_bits=bits.total,
        corrected_bits_per_lane=bits.per_lane,
    )


def records(text: str) -> list[dict[str, object]]:
    """Return one plain record per device."""
    return [asdict(fec) for fec in parse(text)]
