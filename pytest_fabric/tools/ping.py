"""`ping`: packets that came back, and how long each took (iputils, busybox and inetutils)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.printable import printable

HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:%-]{0,254}")
DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}")

#: iputils prints no name, but the blank behind it, where the address has none; for IPv6 it repeats
#: the name in front of the address.
HEADER = re.compile(
    r"PING (?P<host>[^\s()]*) ?\((?:[^\s()]+ \()?(?P<address>[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\){1,2}"
    r"(?: from \S+(?: [\w.-]*)?)?:? (?P<payload>[0-9]{1,6})"
    r"(?:\([0-9]+\) bytes of data\.| data bytes)(?:, id .*)?",
    re.ASCII,
)
REPLY = re.compile(
    r"(?:\[[0-9.]+\] )?[0-9]+ bytes from .{1,300}?: (?:icmp_[sr]eq|seq)=(?P<seq>[0-9]{1,9})"
    r"(?: ident=[0-9]+)? (?:ttl|hlim)=[0-9]+(?: time=(?P<ms>[0-9]{1,12}(?:\.[0-9]+)?) ms)?"
    r"(?P<note>(?: \([A-Za-z !]+\))*)"
)
TITLE = re.compile(r"--- (\S*) ping statistics ---")
#: busybox and inetutils write `packets received`, busybox no plus before the duplicates.
COUNTS = re.compile(
    r"([0-9]{1,15}) packets transmitted, ([0-9]{1,15}) (?P<others>packets )?received"
    r"(?:, \+?(?P<duplicates>[0-9]{1,15}) duplicates)?(?:, \+(?P<corrupted>[0-9]{1,15}) corrupted)?"
    r"(?:, \+(?P<errors>[0-9]{1,15}) errors)?(?P<loss>, [0-9.e+-]+% packet loss)?"
    r"(?:, time -?[0-9]+ ?ms)?(?:, -- somebody is printing forged packets!)?"
)
_MS = r"([0-9]{1,12}(?:\.[0-9]+)?)"
TIMES = re.compile(
    rf"(?:rtt|round-trip) min/avg/max(?:/(?:mdev|stddev))? = {_MS}/{_MS}/{_MS}(?:/{_MS})? ms"
    r"(?:, pipe [0-9]+)?(?:, ipg/ewma [0-9.]+/[0-9.]+ ms)?"
)
PIPE = re.compile(r"pipe [0-9]+|, pipe [0-9]+|ping: .*|WARNING: .*")
REASON = re.compile(r"From .{1,300}? (?:icmp_[sr]eq|seq)=[0-9]+ (\S.*)")
TOO_LONG = re.compile(
    r"[Mm]essage too long(?:, mtu[=:] ?(?P<local>[0-9]{1,6}))?|"
    r"Frag needed and DF set \(mtu = (?P<far>[0-9]{1,6})\)|"
    r"Packet too big: mtu=(?P<six>[0-9]{1,6})"
)

#: The smallest payload that holds the time at which it was sent.
TIMED = 16

KNOWN = (
    (
        "unknown_host",
        re.compile(
            r"^ping6?: (?:unknown host|bad address '|.*(?:Name or service not known|"
            r"name resolution|No address associated|Name does not resolve|nodename nor servname))"
        ),
    ),
    ("interval_too_short", re.compile(r"cannot flood")),
    ("permission", re.compile(r"permission denied \(are you root|socket: Operation not perm")),
    ("unreachable", re.compile(r"^(?:ping6?|connect): .*(?:is unreachable|No route to host)")),
    ("no_such_device", re.compile(r"[Uu]nknown iface|^ping6?: .*(?:No such device|BINDTODEVICE)")),
    ("usage", re.compile(r"(?:invalid|unrecognized) (?:option|argument)|[Uu]sage: ?ping")),
)

#: On stderr, apart from the statistics; below the first line it is one packet's fate among others.
ALONE = ("message_too_long", TOO_LONG)


@dataclass(frozen=True)
class Ping:
    """What came back: `received` has neither the duplicates nor what was corrupted.

    `reply_seqs` and `reply_ms` list the first answer to each packet as far as it was shown; the
    first packet includes the look-up of the neighbour. `lost_seqs` is None when that list is not
    whole (`-q`, garbled lines), so that the lost ones cannot be named. `mtu_bytes` is the limit
    that a packet which must not be split ran into, where it was told.
    """

    host: str | None
    address: str
    payload_bytes: int
    transmitted: int
    received: int
    duplicates: int
    corrupted: int
    errors: int
    loss_percent: float | None
    rtt_min_ms: float | None
    rtt_avg_ms: float | None
    rtt_max_ms: float | None
    rtt_mdev_ms: float | None
    reply_seqs: tuple[int, ...]
    reply_ms: tuple[float | None, ...]
    lost_seqs: tuple[int, ...] | None
    reasons: tuple[str, ...]
    too_long: bool
    mtu_bytes: int | None


def command(
    host: str,
    packets: int = 20,
    interval_s: float = 0.2,
    payload_bytes: int = 56,
    device: str | None = None,
    whole: bool = False,
    source: str | None = None,
    linger_s: int | None = None,
) -> tuple[str, ...]:
    """Return the command line; `whole` forbids that packets are split on their way.

    `source` is the address that packets come from: an address alone leaves the route to the routing
    table, so that rails in one subnet need the `device` too. `linger_s` is how long the last packet
    is waited for. Users may send every 2 ms, with older releases every 200 ms.

    Raises ValueError for a name or a number that ping or its rules for users would refuse.
    """
    if not HOST.fullmatch(host):
        raise ValueError(f"host: expected a name or an address, got {host!r}")
    if source is not None and not HOST.fullmatch(source):
        raise ValueError(f"source: expected an address, got {source!r}")
    if device is not None and not DEVICE.fullmatch(device):
        raise ValueError(f"device: expected the name of an interface, got {device!r}")
    if (
        not 1 <= packets <= 100_000
        or not 0.002 <= interval_s <= 60
        or not 0 <= payload_bytes <= 65_507
    ):
        raise ValueError("expected 1-100000 packets, 0.002-60 s between them, 0-65507 bytes")
    if linger_s is not None and not 1 <= linger_s <= 60:
        raise ValueError(f"expected to wait 1-60 s for the last packet, got {linger_s}")
    only = (*(("-I", device) if device else ()), *(("-I", source) if source else ()))
    linger = ("-W", str(linger_s)) if linger_s is not None else ()
    split = ("-M", "do") if whole else ()
    numbers = ("-c", str(packets), "-i", f"{interval_s:g}", "-s", str(payload_bytes))
    return ("ping", "-n", *numbers, *linger, *split, *only, host)


def parse(text: str) -> Ping:
    """Return what one run of ping told.

    Lines between the first one and the statistics that are none of ping's are left out. Raises
    ToolError when ping could not start, NotRecognisedError for any other text, also for one that
    ends before its statistics do.
    """
    lines = [line.rstrip() for line in text.split("\n")]
    headers = [match for line in lines if (match := HEADER.fullmatch(line))]
    titles = [place for place, line in enumerate(lines) if TITLE.fullmatch(line)]
    if len(headers) == 1 and len(titles) == 1 and text.endswith("\n"):
        return _run(headers[0], lines[: titles[0]], [x for x in lines[titles[0] + 1 :] if x])
    if not titles:
        complaints.check(text, KNOWN if headers else (*KNOWN, ALONE), row=REPLY)
    raise NotRecognisedError(
        f"expected one run of ping with its statistics, got {len(headers)} starts, "
        f"{len(titles)} statistics: {text.strip()[:60]!r}"
    )


def _run(header: re.Match[str], body: list[str], tail: list[str]) -> Ping:
    counts = COUNTS.fullmatch(tail[0]) if tail else None
    times = next((match for line in tail[1:] if (match := TIMES.fullmatch(line))), None)
    strangers = [
        line for line in tail[1:] if not TIMES.fullmatch(line) and not PIPE.fullmatch(line)
    ]
    if counts is None or strangers:
        raise NotRecognisedError(
            f"expected the statistics of ping, got {(strangers or tail)[:1]!r}"
        )
    sent, received, payload = int(counts[1]), int(counts[2]), int(header["payload"])
    if sent and not counts["loss"]:
        raise NotRecognisedError(f"expected the loss of packets, got {tail[0][:80]!r}")
    replies = _replies(body)
    if times is None and received and payload >= TIMED:
        raise NotRecognisedError("expected the line with the times: the text is cut off")
    long = [match for line in (*body, *tail) if (match := TOO_LONG.search(line))]
    limits = [int(limit) for match in long for limit in match.groups() if limit]
    loss = None if not sent or received > sent else 100 * (sent - received) / sent
    return Ping(
        host=printable(header["host"]) or None,
        address=header["address"],
        payload_bytes=payload,
        transmitted=sent,
        received=received,
        **{key: int(counts[key] or 0) for key in ("duplicates", "corrupted", "errors")},
        loss_percent=loss,
        rtt_min_ms=_ms(times, 1),
        rtt_avg_ms=_ms(times, 2),
        rtt_max_ms=_ms(times, 3),
        rtt_mdev_ms=_ms(times, 4),
        reply_seqs=tuple(replies),
        reply_ms=tuple(replies.values()),
        lost_seqs=_lost(counts, sent, received, replies),
        reasons=_reasons(body),
        too_long=bool(long),
        mtu_bytes=min((limit for limit in limits if limit), default=None),
    )


def _ms(times: re.Match[str] | None, place: int) -> float | None:
    return None if times is None or times[place] is None else float(times[place])


def _replies(body: list[str]) -> dict[int, float | None]:
    """Return the time of the first answer to each packet, by its number."""
    found: dict[int, float | None] = {}
    for line in body:
        match = REPLY.fullmatch(line)
        if match is not None and not match["note"].strip():
            found.setdefault(int(match["seq"]), float(match["ms"]) if match["ms"] else None)
    return found


def _lost(
    counts: re.Match[str], sent: int, received: int, replies: dict[int, float | None]
) -> tuple[int, ...] | None:
    """Return the numbers that no answer has; iputils counts from 1, the others from 0."""
    start = 0 if counts["others"] else 1
    numbers = range(start, start + sent)
    if len(replies) != received or sent > 65_535 or not set(replies) <= set(numbers):
        return None
    return tuple(seq for seq in numbers if seq not in replies)


def _reasons(body: list[str]) -> tuple[str, ...]:
    """Return the first different words with which gateways and the own host refused packets."""
    told = [printable(match[1])[:100] for line in body if (match := REASON.fullmatch(line))]
    return tuple(dict.fromkeys(told))[:8]


def records(text: str) -> list[dict[str, object]]:
    """Return the run as one plain record."""
    return [plain(parse(text))]
