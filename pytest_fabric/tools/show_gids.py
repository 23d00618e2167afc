"""`show_gids`: the GID tables of the RDMA ports without their empty entries; a script of MLNX_OFED.

The column of the IPv4 address may be empty, which leaves nothing but tabs.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ib_words
from pytest_fabric.tools.complaints import Known, check

TITLE = "DEV PORT INDEX GID IPv4 VER DEV"
RULE = re.compile(r"-+(?:\s+-+){6}")
ROW = re.compile(
    rf"(?P<device>{ib_words.NAME})\s+(?P<port>[0-9]{{1,3}})\s+(?P<index>[0-9]{{1,4}})\s+"
    r"(?P<gid>[0-9a-f]{4}(?::[0-9a-f]{4}){7})(?:\s+(?P<ipv4>[0-9]{1,3}(?:\.[0-9]{1,3}){3}))?"
    rf"(?:\s+v(?P<version>[12]))?(?:\s+(?P<netdev>{ib_words.NAME}))?"
)
COUNT = re.compile(r"n_gids_found=([0-9]{1,6})")
COLOURS = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z]|\([A-Z0-9])")
KNOWN: Known = (("no_devices", re.compile(r"/sys/class/infiniband/?'?: No such file")),)


@dataclass(frozen=True)
class GidRow:
    """An entry; `version` is 1 or 2 for RoCE, 1 on InfiniBand, None where the driver has no type.

    `ipv4` is what the GID maps: the script prints one for other GIDs that begin with zeros too.
    """

    device: str
    port: int
    index: int
    gid: str
    ipv4: str | None
    version: int | None
    netdev: str | None


def command(device: str | None = None) -> tuple[str, ...]:
    """Return the command line that shows every GID, or those of one device."""
    return ("show_gids",) if device is None else ("show_gids", ib_words.device(device))


def parse(text: str) -> list[GidRow]:
    """Return the entries in the order in which they are shown.

    The last line counts them; without it, some must be there. Raises NotRecognisedError for any
    other text, also for one whose last line is cut off.
    """
    check(text, KNOWN, row=ROW)
    lines = [line.strip() for line in ib_words.output(COLOURS.sub("", text))]
    if " ".join(lines[0].split()) != TITLE or not RULE.fullmatch("".join(lines[1:2])):
        raise NotRecognisedError(f"expected {TITLE!r} and a rule, got {lines[0][:80]!r}")
    count = COUNT.fullmatch(lines[-1])
    rows = [_row(line) for line in (lines[2:-1] if count else lines[2:])]
    if len(rows) != int(count[1]) if count else not rows:
        raise NotRecognisedError(f"expected {lines[-1][:40]!r} to count {len(rows)} GIDs")
    return rows


def _row(line: str) -> GidRow:
    match = ROW.fullmatch(line)
    if match is None:
        raise NotRecognisedError(f"expected a row of show_gids, got {line[:80]!r}")
    mapped = ipaddress.IPv6Address(match["gid"]).ipv4_mapped is not None
    return GidRow(
        device=match["device"],
        port=int(match["port"]),
        index=int(match["index"]),
        gid=match["gid"],
        ipv4=match["ipv4"] if mapped else None,
        version=int(match["version"]) if match["version"] else None,
        netdev=match["netdev"],
    )


def records(text: str) -> list[dict[str, object]]:
    """Return the entries as plain records."""
    return [asdict(row) for row in parse(text)]
