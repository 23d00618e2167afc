"""`ibnetdiscover`: the topology of an InfiniBand fabric, as nodes with links or as ports (`-p`).

Format: infiniband-diags/ibnetdiscover.c. Without `-p` only ports that have a peer are shown.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ib_words
from pytest_fabric.tools.complaints import check
from pytest_fabric.tools.printable import printable

#: What stands around the nodes, with and without grouping by chassis (`-g`).
AROUND = re.compile(
    r"#.*|(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=0x[0-9a-f]+(?:\([0-9a-f]+\))?"
    r"(?:\s+# .*)?|Chassis [0-9]+(?: \(guid 0x[0-9a-f]+\))?|Hostname: .*"
)

_ID = r'"([SHR?])-([0-9a-f]{16})"'
_EXTERNAL = r"(?:\[ext [0-9]+\])?"
NODE = re.compile(
    rf'(?:Switch|Ca|Rt|\?\?\?)\s+[0-9]{{1,3}} {_ID}\s+# "(?P<name>.*)"'
    r"(?: (?:enhanced|base) port 0 lid (?P<lid>[0-9]{1,5}) lmc [0-7])?(?: \(scp\))?"
)
PORT = re.compile(
    rf"\[(?P<port>[0-9]{{1,3}})\]{_EXTERNAL}(?:\((?P<guid>[0-9a-f]{{1,16}})\))?\s+"
    rf"{_ID}\[(?P<peer_port>[0-9]{{1,3}})\]{_EXTERNAL}\s*"
    r"(?:\((?P<peer_guid>[0-9a-f]{1,16})\))?\s+# (?:lid (?P<lid>[0-9]{1,5}) lmc [0-7] )?"
    r'"(?P<peer_name>.*)" lid (?P<peer_lid>[0-9]{1,5}) '
    r"(?P<width>[0-9]{1,2}x|\?\?)(?P<speed>[A-Z]+(?:10)?|\?\?\?)"
    r"(?: s=[0-9]+ w=[0-9]+ v=[0-9]+)?(?: slot [0-9]+| \(scp\))?"
)

_END = r"(SW|CA|RT|\?\?) +([0-9]{1,5}) +([0-9]{1,3}) (0x[0-9a-f]{16})"
LISTED = re.compile(
    rf"{_END} ([0-9]{{1,2}}x|\?\?) ([A-Z]+(?:10)?|\?\?\?)"
    rf"(?: - {_END} \( '(?P<names>.*)' \)| +'(?P<name>.*)')"
)

TYPES = {"S": "switch", "H": "ca", "R": "router", "SW": "switch", "CA": "ca", "RT": "router"}


@dataclass(frozen=True)
class FabricPort:
    """A port and its peer. `width` counts lanes, `speed` is a word such as EDR.

    `node_guid` is None with `-p`; port GUIDs of a switch are those of the node, and then only with
    `-p`. A port that is listed without a peer has neither width nor speed.
    """

    node_type: str | None
    node_guid: str | None
    node_name: str | None
    port: int
    port_guid: str | None
    lid: int | None
    width: int | None
    speed: str | None
    peer_type: str | None
    peer_guid: str | None
    peer_name: str | None
    peer_port: int | None
    peer_port_guid: str | None
    peer_lid: int | None


def command(*, ports: bool = False) -> tuple[str, ...]:
    """Return the command line that shows the topology, or with `ports` every port on one line."""
    return ("ibnetdiscover", "-p") if ports else ("ibnetdiscover",)


def parse(text: str) -> list[FabricPort]:
    """Return the ports in the order in which they are shown: a link from both ends.

    Raises ToolError when the fabric, or a part of it, did not answer; NotRecognisedError for any
    other text, also for one without any link.
    """
    check(text, ib_words.COMPLAINTS, row=re.compile(r"#.*|.*\s# .*|.*\( \'.*"))
    lines = [line.strip() for line in ib_words.output(text)]
    if LISTED.fullmatch(lines[0]):
        return [_listed(line) for line in lines]
    ports: list[FabricPort] = []
    node: re.Match[str] | None = None
    for line in lines:
        if AROUND.fullmatch(line):
            continue
        found = NODE.fullmatch(line)
        match = PORT.fullmatch(line)
        if found is None and (match is None or node is None):
            raise NotRecognisedError(f"expected a node or a port, got {line[:80]!r}")
        if found is None and match is not None and node is not None:
            ports.append(_port(node, match))
        node = found or node
    if not ports:
        raise NotRecognisedError("expected the links of a fabric, got none")
    return ports


def _port(node: re.Match[str], match: re.Match[str]) -> FabricPort:
    lid = match["lid"] or node["lid"]
    if lid is None:
        raise NotRecognisedError(f"expected the LID of a port, got {match[0][:80]!r}")
    return FabricPort(
        node_type=TYPES.get(node[1]),
        node_guid=ib_words.guid(node[2]),
        node_name=printable(node["name"].strip()),
        port=int(match["port"]),
        port_guid=ib_words.guid(match["guid"]) if match["guid"] else None,
        lid=ib_words.lid(int(lid)),
        width=_width(match["width"]),
        speed=_speed(match["speed"]),
        peer_type=TYPES.get(match[3]),
        peer_guid=ib_words.guid(match[4]),
        peer_name=printable(match["peer_name"].strip()),
        peer_port=int(match["peer_port"]),
        peer_port_guid=ib_words.guid(match["peer_guid"]) if match["peer_guid"] else None,
        peer_lid=ib_words.lid(int(match["peer_lid"])),
    )


def _listed(line: str) -> FabricPort:
    match = LISTED.fullmatch(line)
    if match is None:
        raise NotRecognisedError(f"expected a port of 'ibnetdiscover -p', got {line[:80]!r}")
    kind, lid, port, guid, width, speed, peer, peer_lid, peer_port, peer_guid = match.groups()[:10]
    name, peer_name = match["name"], None
    if match["names"] is not None:
        names = match["names"].split("' - '")
        # A name may hold the separator; then nobody can tell where the first one ends.
        name, peer_name = names if len(names) == 2 else (None, None)
    return FabricPort(
        node_type=TYPES.get(kind),
        node_guid=None,
        node_name=None if name is None else printable(name.strip()),
        port=int(port),
        port_guid=ib_words.guid(guid),
        lid=ib_words.lid(int(lid)),
        width=_width(width) if peer else None,
        speed=_speed(speed) if peer else None,
        peer_type=TYPES.get(peer or ""),
        peer_guid=None,
        peer_name=None if peer_name is None else printable(peer_name.strip()),
        peer_port=int(peer_port) if peer else None,
        peer_port_guid=ib_words.guid(peer_guid) if peer else None,
        peer_lid=ib_words.lid(int(peer_lid)) if peer else None,
    )


def _width(word: str) -> int | None:
    return None if "?" in word else int(word.removesuffix("x"))


def _speed(word: str) -> str | None:
    return None if "?" in word else word


def records(text: str) -> list[dict[str, object]]:
    """Return the ports as plain records."""
    return [asdict(port) for port in parse(text)]
