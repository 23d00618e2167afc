"""`ip -j -s addr` and `ip -j -s link`: network devices with state, MTU, addresses and counters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, strict_json
from pytest_fabric.tools.printable import printable

KNOWN: complaints.Known = (
    ("no_such_device", re.compile(r'Device "[^"]*" does not exist|Cannot find device')),
    ("not_supported", re.compile(r'Option "[^"]*" is unknown|Object "[^"]*" is unknown')),
    ("failed", re.compile(r"^(?:Cannot open netlink socket|RTNETLINK answers|Dump terminated)")),
)

#: Counters in each direction; those that `-s` alone does not show need `-s -s`.
RX = (
    "bytes",
    "packets",
    "errors",
    "dropped",
    "over_errors",
    "multicast",
    "length_errors",
    "crc_errors",
    "frame_errors",
    "fifo_errors",
    "missed_errors",
)
TX = (
    "bytes",
    "packets",
    "errors",
    "dropped",
    "carrier_errors",
    "collisions",
    "aborted_errors",
    "fifo_errors",
    "window_errors",
    "heartbeat_errors",
    "carrier_changes",
)


@dataclass(frozen=True)
class Link:
    """A network device; `state` is the kernel's operstate: UP, DOWN, UNKNOWN, LOWERLAYERDOWN ...

    `addresses` are `ADDRESS/PREFIX`; None when `link` was asked and not `addr`. `counters` are by
    `rx_` or `tx_` and the name that ip gives; None is for one that is not shown.
    """

    index: int
    name: str
    state: str
    is_up: bool
    has_carrier: bool
    mtu: int
    link_type: str | None
    mac: str | None
    master: str | None
    parent: str | None
    alternative_names: list[str]
    addresses: list[str] | None
    counters: Mapping[str, int | None]


def command(netdev: str | None = None) -> tuple[str, ...]:
    """Return the command line that shows all network devices, or one."""
    if netdev is None:
        return ("ip", "-j", "-s", "addr")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]*", netdev):
        raise ValueError(f"netdev: expected a name such as eth0, got {netdev!r}")
    return ("ip", "-j", "-s", "addr", "show", "dev", netdev)


def parse(text: str) -> list[Link]:
    """Return the network devices; an empty list in JSON says that there is none.

    Raises ToolError for what ip says instead, NotRecognisedError for any other text.
    """
    if not strict_json.is_json(text):
        complaints.check(text, KNOWN)
        raise NotRecognisedError(f"expected the JSON of ip, got {text.strip()[:80]!r}")
    # What a filter passes over shows as an empty object in some releases.
    return [_link(row) for row in strict_json.rows(strict_json.load(text)) if row]


def _link(row: strict_json.Row) -> Link:
    index, mtu = strict_json.integer_of(row, "ifindex"), strict_json.integer_of(row, "mtu")
    name, state = strict_json.text_of(row, "ifname"), strict_json.text_of(row, "operstate")
    flags = strict_json.words_of(row, "flags")
    if index is None or mtu is None or name is None or state is None or flags is None:
        raise NotRecognisedError("expected ifindex, ifname, flags, mtu and operstate in JSON")
    return Link(
        index=index,
        name=name,
        state=state.upper(),
        is_up="UP" in flags,
        has_carrier="LOWER_UP" in flags,
        mtu=mtu,
        link_type=strict_json.text_of(row, "link_type"),
        mac=strict_json.text_of(row, "address"),
        master=strict_json.text_of(row, "master"),
        parent=strict_json.text_of(row, "link"),
        alternative_names=strict_json.words_of(row, "altnames") or [],
        addresses=_addresses(row),
        counters=_counters(strict_json.object_of(row, "stats64")),
    )


def _addresses(row: strict_json.Row) -> list[str] | None:
    if "addr_info" not in row:
        return None
    return [_address(entry) for entry in strict_json.rows(row["addr_info"]) if entry]


def _address(entry: strict_json.Row) -> str:
    local, length = strict_json.text_of(entry, "local"), strict_json.integer_of(entry, "prefixlen")
    if local is None or length is None:
        raise NotRecognisedError("expected local and prefixlen of an address in JSON")
    return printable(f"{local}/{length}")


def _counters(stats: strict_json.Row) -> dict[str, int | None]:
    rx, tx = strict_json.object_of(stats, "rx"), strict_json.object_of(stats, "tx")
    return {
        **{f"rx_{name}": strict_json.integer_of(rx, name) for name in RX},
        **{f"tx_{name}": strict_json.integer_of(tx, name) for name in TX},
    }


def records(text: str) -> list[dict[str, object]]:
    """Return one plain record per device, its counters as `rx_bytes`, `tx_bytes` and so on."""
    rows = []
    for link in parse(text):
        row = asdict(link)
        counters = row.pop("counters")
        rows.append({**row, **counters})
    return rows
