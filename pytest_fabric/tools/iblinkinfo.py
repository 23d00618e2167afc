"""`iblinkinfo`: every link of an InfiniBand fabric, from both ends; also with `--line`.

Format: infiniband-diags/iblinkinfo.c and libibmad/dump.c. A link below what both ends can do is
marked with `Could be`.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ib_words
from pytest_fabric.tools.complaints import check
from pytest_fabric.tools.printable import printable

NODE = re.compile(r"(Switch|CA|Router):? (?:0x([0-9a-f]{16}) )?(.*):")

_GUID = r"0x[0-9a-f]{16}"
_ODD = r"undefined \([0-9]+\)|\?\([0-9]+\)"
_WORD = rf"[A-Za-z]+|{_ODD}"
_SPEED = rf"[0-9.]+ Gbps(?: \(FDR10\))?|(?:No )?Extended [Ss]peed(?: 2)?|{_ODD}"

#: A down port has no width and no speed, since both may be of an earlier time.
PORT = re.compile(
    rf'(?:(?P<guid>{_GUID}) +(?:"(?P<name>.*?)" +)?)?'
    r"(?P<lid>[0-9]{1,5}) +(?P<port>[0-9]{1,3})\[ *[0-9]*\] "
    rf"==\( *(?:(?P<width>[0-9]{{1,2}}X|{_ODD}) +(?P<speed>{_SPEED}) +)?"
    rf"(?P<state>{_WORD})/ *(?P<physical>{_WORD})\)(?: \(HOQ:[0-9]+ VL_Stall:[0-9]+\))?==> +"
    rf"(?:(?:(?P<peer_guid>{_GUID}) +)?(?P<peer_lid>[0-9]{{1,5}}) +(?P<peer_port>[0-9]{{1,3}})"
    r'\[ *[0-9]*\] "(?P<peer_name>.*)" \((?P<hints>[^"]*)\)'
    r'|\[ *\] "" \( *\)|"Port not available")'
)
HINTS = re.compile(
    r" *(?:Could be (?P<width>[0-9]{1,2})X)? *"
    r"(?:Could be (?P<speed>[0-9.]+ Gbps|FDR10)(?: \(Found link at [^()]*\))?)? *"
)

#: Gb/s of a lane, as it is printed, and the word for it.
SPEEDS = {
    "2.5": "SDR",
    "5.0": "DDR",
    "10.0": "QDR",
    "14.0625": "FDR",
    "25.78125": "EDR",
    "53.125": "HDR",
    "106.25": "NDR",
    "212.5": "XDR",
}


@dataclass(frozen=True)
class FabricLink:
    """A port of the fabric and its peer.

    `guid` is that of the port, for a switch that of all its ports. `width` counts lanes, `speed` is
    a word such as EDR; `could_be_*` is what both ends can do and do not. With `--line` the type of
    the node is not told. A port that is down has no peer.
    """

    node_type: str | None
    node_name: str
    guid: str | None
    lid: int | None
    port: int
    state: str | None
    physical_state: str | None
    width: int | None
    speed: str | None
    peer_guid: str | None
    peer_lid: int | None
    peer_port: int | None
    peer_name: str | None
    could_be_width: int | None
    could_be_speed: str | None


def command(
    *, line: bool = True, device: str | None = None, port: int = 1, is_near: bool = False
) -> tuple[str, ...]:
    """Return the command line that shows every link; with `line` each stands for itself.

    `device` and `port` say from where; `is_near` asks for the links of that device alone, by a
    partial scan of one hop. Raises ValueError for a device or port that is none.
    """
    words = ("iblinkinfo", *(("--line",) if line else ()))
    if device is not None:
        words += ("-C", ib_words.device(device), "-P", ib_words.number("port", port, 255))
    return (*words, "-D", "0") if is_near else words


def parse(text: str) -> list[FabricLink]:
    """Return the ports in the order in which they are shown.

    Raises ToolError when the fabric, or a part of it, did not answer; NotRecognisedError for any
    other text, also for one that is cut off below a node.
    """
    check(text, ib_words.COMPLAINTS, row=PORT)
    links: list[FabricLink] = []
    node: re.Match[str] | None = None
    is_empty = True
    for line in (line.strip() for line in ib_words.output(text)):
        match = PORT.fullmatch(line)
        if match is not None:
            links.append(_link(node, match))
            is_empty = False
            continue
        node, is_empty = NODE.fullmatch(line), True
        if node is None:
            raise NotRecognisedError(f"expected a node or a link, got {line[:80]!r}")
    if is_empty:
        raise NotRecognisedError("expected a link below the last node, got none: it is cut off")
    return links


def _link(node: re.Match[str] | None, match: re.Match[str]) -> FabricLink:
    name = match["name"] if node is None else node[3]
    guid = match["guid"] or (node[2] if node else None)
    hints = HINTS.fullmatch(match["hints"] or "")
    if name is None or guid is None or hints is None:
        raise NotRecognisedError(f"expected a node and its link, got {match[0][:80]!r}")
    peer_lid, peer_port, peer_name = match["peer_lid"], match["peer_port"], match["peer_name"]
    return FabricLink(
        node_type=node[1].lower() if node else None,
        node_name=printable(name.strip()),
        guid=ib_words.guid(guid),
        lid=ib_words.lid(int(match["lid"])),
        port=int(match["port"]),
        state=ib_words.state(match["state"]),
        physical_state=ib_words.physical_state(match["physical"]),
        width=_width(match["width"]),
        speed=_speed(match["speed"]),
        peer_guid=ib_words.guid(match["peer_guid"]) if match["peer_guid"] else None,
        peer_lid=ib_words.lid(int(peer_lid)) if peer_lid else None,
        peer_port=int(peer_port) if peer_port else None,
        peer_name=None if peer_name is None else printable(peer_name.strip()),
        could_be_width=_width(hints["width"]),
        could_be_speed=_speed(hints["speed"]),
    )


def _width(word: str | None) -> int | None:
    """Return a number of lanes, or None for an undefined one."""
    digits = (word or "").removesuffix("X")
    return int(digits) if re.fullmatch(r"[0-9]{1,2}", digits) else None


def _speed(word: str | None) -> str | None:
    """Return the word for a speed, the number itself where there is none, or None."""
    if word is not None and "FDR10" in word:
        return "FDR10"
    number, _, unit = (word or "").partition(" ")
    return SPEEDS.get(number, word) if unit == "Gbps" else None


def records(text: str) -> list[dict[str, object]]:
    """Return the ports as plain records."""
    return [asdict(link) for link in parse(text)]
