"""`ibdev2netdev`: the network device of each RDMA port, also with `-v`; a script of MLNX_OFED.

`Up` and `Down` are the state of the network device: a healthy InfiniBand port without IPoIB is
`Down`. With `-v`, the state of the port stands before the arrow.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ib_words
from pytest_fabric.tools.complaints import Known, check
from pytest_fabric.tools.printable import printable

#: Blanks may have been widened by `column -t`, and people add comments.
LINE = re.compile(
    r"(?:(?P<pci>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) +)?"
    rf"(?P<device>{ib_words.NAME})"
    r"(?: +\((?P<chip>[A-Za-z0-9]+) +- +(?P<part>[^()\s]+) *\)(?P<title> .*)? +fw +(?P<fw>\S+))?"
    r" +port +(?P<port>[0-9]{1,3})(?: +\((?P<state>[A-Z_]+) *\))?"
    rf" +(?:==>|<===>) +(?:(?P<netdev>{ib_words.NAME}) +)?\((?P<up>Up|Down)\)(?: +#.*)?"
)
KNOWN: Known = (("no_devices", re.compile(r"/sys/class/infiniband/?'?: No such file")),)


@dataclass(frozen=True)
class NetdevOfPort:
    """A port and its network device; only `-v` tells `pci` and what comes after it."""

    device: str
    port: int
    netdev: str | None
    netdev_up: bool
    pci: str | None
    chip: str | None
    part_number: str | None
    fw: str | None
    port_state: str | None


def command(*, verbose: bool = False) -> tuple[str, ...]:
    """Return the command line that shows every port."""
    return ("ibdev2netdev", "-v") if verbose else ("ibdev2netdev",)


def parse(text: str) -> list[NetdevOfPort]:
    """Return the ports in the order in which they are shown.

    Raises ToolError when there is no device, NotRecognisedError for any other text, also for one
    whose last line is cut off.
    """
    check(text, KNOWN, row=LINE)
    return [_port(line.strip()) for line in ib_words.output(text)]


def _port(line: str) -> NetdevOfPort:
    match = LINE.fullmatch(line)
    if match is None:
        raise NotRecognisedError(f"expected 'NAME port N ==> NETDEV (Up)', got {line[:80]!r}")
    part = match["part"]
    return NetdevOfPort(
        device=match["device"],
        port=int(match["port"]),
        netdev=match["netdev"],
        netdev_up=match["up"] == "Up",
        pci=match["pci"],
        chip=match["chip"],
        part_number=None if part in (None, "NA") else printable(part),
        fw=None if match["fw"] is None else printable(match["fw"]),
        port_state=ib_words.state(match["state"] or ""),
    )


def records(text: str) -> list[dict[str, object]]:
    """Return the ports as plain records."""
    return [asdict(port) for port in parse(text)]
