"""`rdma link`: the ports of the RDMA devices with state and netdev, as text or JSON (`-j`).

Format: iproute2, rdma/link.c. Without a device, nothing or an empty list is printed.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ib_words, rdma_tool
from pytest_fabric.tools.complaints import check
from pytest_fabric.tools.printable import printable

#: `link mlx5_0/1 state ...`; the first releases print `1/1: mlx5_0/1: state ...`.
LINE = re.compile(
    rf"(?:link|[0-9]+/[0-9]+:) (?P<device>{rdma_tool.NAME})/(?P<port>[0-9]{{1,3}}):?"
    r"(?P<fields>(?: [a-z_]+ [^\s<>]+)+)"
)
FIELD = re.compile(r" ([a-z_]+) (\S+)")
CAPS = re.compile(r"caps: <[A-Z_, ]*>")  # with -d

#: `rdma dev`, which people show together with the links.
DEVICE = re.compile(rf"[0-9]+: {rdma_tool.NAME}: node_type \S.*")

#: Words and numbers that are read.
KEYS = ("state", "physical_state", "netdev", "lid", "sm_lid")
NETDEV = re.compile(ib_words.NAME)


@dataclass(frozen=True)
class RdmaLink:
    """A port; InfiniBand has a `lid` and seldom a netdev here, Ethernet the other way round.

    States are in the kernel's spelling; None is a word that no release knows. LIDs of a port that
    is down are those of an earlier time, and therefore None.
    """

    device: str
    port: int
    state: str | None
    physical_state: str | None
    netdev: str | None
    lid: int | None
    sm_lid: int | None


def command() -> tuple[str, ...]:
    """Return the command line that shows every link, as JSON."""
    return ("rdma", "-j", "link", "show")


def parse(text: str) -> list[RdmaLink]:
    """Return the ports in the order in which they are shown; none for an empty text.

    Raises ToolError when the tool or the kernel cannot tell, NotRecognisedError for any other
    text, also for one whose last line is cut off.
    """
    rows = rdma_tool.rows_of(text)
    if rows is not None:
        return [_link(*rdma_tool.port_of(row), row) for row in rows]
    check(text, rdma_tool.COMPLAINTS, row=LINE)
    lines = [line.strip() for line in ib_words.output(text)]
    links = [line for line in lines if not DEVICE.fullmatch(line) and not CAPS.fullmatch(line)]
    if not links:
        raise NotRecognisedError(f"expected 'link NAME/PORT ...', got {lines[0][:80]!r}")
    return [_from_line(line) for line in links]


def _from_line(line: str) -> RdmaLink:
    match = LINE.fullmatch(line)
    pairs = FIELD.findall(match["fields"]) if match else []
    fields = dict(pairs)
    if match is None or len(fields) != len(pairs):
        raise NotRecognisedError(f"expected 'link NAME/PORT state ...', got {line[:80]!r}")
    row: dict[str, object] = {key: fields[key] for key in KEYS if key in fields}
    row |= {
        key: int(fields[key])
        for key in ("lid", "sm_lid")
        if re.fullmatch(r"[0-9]{1,9}", fields.get(key, ""))
    }
    return _link(match["device"], int(match["port"]), row)


def _link(device: str, port: int, row: dict[str, object]) -> RdmaLink:
    state, physical, netdev = row.get("state"), row.get("physical_state"), row.get("netdev")
    lid, sm_lid = row.get("lid", 0), row.get("sm_lid", 0)
    if not isinstance(state, str) or not isinstance(physical, str):
        raise NotRecognisedError(f"expected state and physical_state of {device}/{port}")
    if netdev is not None and (not isinstance(netdev, str) or not NETDEV.fullmatch(netdev)):
        raise NotRecognisedError(f"expected a netdev of {device}/{port}, got {str(netdev)[:40]!r}")
    if type(lid) is not int or type(sm_lid) is not int or lid < 0 or sm_lid < 0:
        raise NotRecognisedError(f"expected numbers for the LIDs of {device}/{port}")
    is_down = ib_words.state(state) in ("DOWN", "NOP")
    return RdmaLink(
        device=device,
        port=port,
        state=ib_words.state(state),
        physical_state=ib_words.physical_state(physical),
        netdev=None if netdev is None else printable(str(netdev)),
        lid=None if is_down else ib_words.lid(lid),
        sm_lid=None if is_down else ib_words.lid(sm_lid),
    )


def records(text: str) -> list[dict[str, object]]:
    """Return the ports as plain records."""
    return [asdict(link) for link in parse(text)]
