"""`ss -ti`: what the kernel knows of each TCP connection (iproute2; it has no JSON)."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from itertools import pairwise

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.printable import printable

STATES = (
    *("ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN"),
    *("CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING"),
)
#: Without a state where one state was asked for, with the network where several were.
HEADER = re.compile(
    r"(?:Netid +)?(?:State +)?Recv-Q +Send-Q +Local Address:Port +Peer Address:Port *(?:Process)? *"
)
SOCKET = re.compile(
    rf"(?:tcp +)?(?:(?P<state>{'|'.join(STATES)}) +)?[0-9]+ +[0-9]+ +"
    r"(?P<local>\S+:[\w*-]+) +(?P<peer>\S+:[\w*-]+)(?:\s+(?P<info>\S.*))?",
    re.ASCII,
)
RATE = re.compile(r"([0-9]{1,18}(?:\.[0-9]+)?)([KMGT]?)bps(?:/\S+)?")
SCALE = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
LIMIT = re.compile(r"([0-9]{1,15})ms(?:\(([0-9]{1,3}(?:\.[0-9]+)?)%\))?")
PAIR = re.compile(r"([0-9]{1,12}(?:\.[0-9]+)?)/([0-9]{1,12}(?:\.[0-9]+)?)")
WHOLE = re.compile(r"[0-9]{1,18}")

#: Rates stand behind their name and a blank; everything else is `name:value` or a word alone.
RATES = ("send", "pacing_rate", "delivery_rate")
FLAGS = ("ts", "sack", "ecn", "ecnseen", "fastopen")
ALGORITHM = re.compile(r"[a-z][a-z0-9_]{1,15}")

KNOWN = (
    ("usage", re.compile(r"^Usage: ss |ss: (?:invalid|unrecognized) option")),
    ("not_supported", re.compile(r"Cannot open netlink socket|[Pp]rotocol not supported")),
)


@dataclass(frozen=True)
class Connection:
    """A TCP connection: windows in segments, times in milliseconds, rates in bits per second.

    ss leaves out what is 0, so `retrans_now`, `retrans_total` and `lost_segments` are 0 when the
    rest was told; everything else that is absent is None. A rate with a unit is rounded to three
    digits: with `-n` it is whole.
    """

    state: str | None
    local: str
    peer: str
    congestion: str | None = None
    rtt_ms: float | None = None
    rttvar_ms: float | None = None
    min_rtt_ms: float | None = None
    cwnd_segments: int | None = None
    mss_bytes: int | None = None
    retrans_now: int | None = None
    retrans_total: int | None = None
    bytes_sent: int | None = None
    bytes_retrans: int | None = None
    lost_segments: int | None = None
    send_bps: float | None = None
    pacing_bps: float | None = None
    delivery_bps: float | None = None
    busy_ms: int | None = None
    rwnd_limited_ms: int | None = None
    rwnd_limited_percent: float | None = None
    sndbuf_limited_ms: int | None = None
    sndbuf_limited_percent: float | None = None


def command(address: str | None = None, port: int | None = None) -> tuple[str, ...]:
    """Return the command line that shows every TCP connection, one line each.

    With an address and a port only connections to there; then without `-O`, which came with
    iproute2 5.2. Raises ValueError for what is none.
    """
    if address is None or port is None:
        return ("ss", "-tinHO")
    host = ipaddress.ip_address(address)
    shown = f"[{host}]" if host.version == 6 else str(host)
    return ("ss", "-tinH", "dst", f"{shown}:{port}")


def parse(text: str) -> list[Connection]:
    """Return the connections; an empty text, or the titles alone, say that there is none.

    Raises ToolError when ss complains, NotRecognisedError for any other text: also when its last
    line is cut off, or an established connection comes without what `-i` tells.
    """
    if not text.strip():
        return []
    lines = [line for line in text.split("\n") if line.strip()]
    complaints.check(text, KNOWN, row=SOCKET)
    if not text.endswith("\n"):
        raise NotRecognisedError("expected whole lines of ss: the text is cut off")
    if HEADER.fullmatch(lines[0]):
        lines = lines[1:]
    return [_connection(line) for line in _joined(lines)]


def _joined(lines: list[str]) -> list[str]:
    """Return one line per connection: the second one starts with a tab."""
    found: list[str] = []
    for line in lines:
        if line[0] not in " \t":
            found.append(line.rstrip())
        elif found:
            found[-1] += " " + line.strip()
        else:
            raise NotRecognisedError(f"expected a connection, got {line.strip()[:80]!r}")
    return found


def _connection(line: str) -> Connection:
    match = SOCKET.fullmatch(line)
    if match is None:
        raise NotRecognisedError(f"expected a connection, got {line[:80]!r}")
    told = match["info"] or ""
    state, local, peer = match["state"], printable(match["local"]), printable(match["peer"])
    if " rto:" not in f" {told}":
        if state in (None, "ESTAB"):
            raise NotRecognisedError(f"expected what -i tells of {local} {peer}: cut off?")
        return Connection(state, local, peer)
    return _told(state, local, peer, told.split())


def _told(state: str | None, local: str, peer: str, words: list[str]) -> Connection:
    values = dict(word.split(":", 1) for word in words if ":" in word)
    rates = {word: after for word, after in pairwise(words) if word in RATES}
    rtt, rttvar = _pair(values, "rtt")
    now, total = _pair(values, "retrans")
    receiver, receiver_share = _limit(values, "rwnd_limited")
    buffer, buffer_share = _limit(values, "sndbuf_limited")
    sent = _whole(values, "bytes_sent")
    again = _whole(values, "bytes_retrans")
    return Connection(
        state=state,
        local=local,
        peer=peer,
        congestion=_algorithm(words),
        rtt_ms=rtt,
        rttvar_ms=rttvar,
        min_rtt_ms=_real(values, "minrtt"),
        cwnd_segments=_whole(values, "cwnd"),
        mss_bytes=_whole(values, "mss"),
        retrans_now=int(now or 0),
        retrans_total=int(total or 0),
        bytes_sent=sent,
        # Both came with one kernel: where one is counted, the other was 0.
        bytes_retrans=0 if again is None and sent is not None else again,
        lost_segments=_whole(values, "lost") or 0,
        send_bps=_rate(rates, "send"),
        pacing_bps=_rate(rates, "pacing_rate"),
        delivery_bps=_rate(rates, "delivery_rate"),
        busy_ms=_limit(values, "busy")[0],
        rwnd_limited_ms=receiver,
        rwnd_limited_percent=receiver_share,
        sndbuf_limited_ms=buffer,
        sndbuf_limited_percent=buffer_share,
    )


def _algorithm(words: list[str]) -> str | None:
    """Return the congestion control: the word behind the flags, in front of the first value."""
    end = next(at for at, word in enumerate(words) if word.startswith(("wscale:", "rto:")))
    last = words[end - 1] if end else ""
    return last if ALGORITHM.fullmatch(last) and last not in FLAGS else None


def _matched(values: dict[str, str], key: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    if key not in values:
        return None
    match = pattern.fullmatch(values[key])
    if match is None:
        raise NotRecognisedError(f"expected {key} as ss writes it, got {values[key][:60]!r}")
    return match


def _whole(values: dict[str, str], key: str) -> int | None:
    match = _matched(values, key, WHOLE)
    return int(match[0]) if match else None


_REAL = re.compile(r"[0-9]{1,12}(?:\.[0-9]+)?")


def _real(values: dict[str, str], key: str) -> float | None:
    match = _matched(values, key, _REAL)
    return float(match[0]) if match else None


def _pair(values: dict[str, str], key: str) -> tuple[float | None, float | None]:
    match = _matched(values, key, PAIR)
    return (float(match[1]), float(match[2])) if match else (None, None)


def _limit(values: dict[str, str], key: str) -> tuple[int | None, float | None]:
    match = _matched(values, key, LIMIT)
    if match is None:
        return None, None
    return int(match[1]), float(match[2]) if match[2] else None


def _rate(rates: dict[str, str], key: str) -> float | None:
    match = _matched(rates, key, RATE)
    return round(float(match[1]) * SCALE[match[2]], 3) if match else None


def records(text: str) -> list[dict[str, object]]:
    """Return the connections as plain records."""
    return [plain(connection) for connection in parse(text)]
