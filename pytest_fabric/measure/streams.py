"""What iperf3, the kernel and the netdevs say of TCP streams: held against each other, all pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import fmean

from pytest_fabric.errors import FabricError, MeasurementError, NotRecognisedError
from pytest_fabric.measure.settings import Settings
from pytest_fabric.measure.window import FOREIGN_SHARE
from pytest_fabric.results import Port, Tcp, Traffic
from pytest_fabric.tools import iperf3, ss, sysfs
from pytest_fabric.transport import Outcome
from pytest_fabric.units import render

#: What the kernel counts, in 64 bits.
COUNT = re.compile(r"[0-9]{1,20}")

#: iperf3 ends a run within this of what was asked for; one that is shorter was ended early.
SHORTER_S = 1.0

#: A connection with less is iperf3's own control connection: its results are some kilobytes.
LEAST_BYTES = 1_000_000

#: Rates and seconds are rounded where bytes were counted.
ROUNDED = 0.99

#: Headers of a segment (40 B of IP and TCP, 12 of time stamps, 14 of Ethernet), and what was still
#: on its way when the tool ended, in seconds of the rate: they are ours, as is what was sent again.
HEADER_BYTES, UNCOUNTED_S = 66, 0.5


def row(told: iperf3.Run, asked: Settings, sockets: str) -> Tcp:
    """Return the run that was asked for; `sockets` is what `ss` said, look by look.

    Raises NotRecognisedError for the text of any other run.
    """
    found = (told.protocol, told.role, told.parallel, len(told.streams), told.reverse)
    wanted = ("TCP", "client", asked.streams, asked.streams, False)
    seconds, sent, received = told.seconds, told.sent_mbps, told.received_mbps
    if found != wanted or told.bidirectional:
        raise NotRecognisedError(f"iperf3: expected {asked.streams} streams of TCP, found {found}")
    if seconds is None or seconds < (asked.duration_s or 0) - SHORTER_S:
        raise NotRecognisedError(f"iperf3: expected {asked.duration_s} s, found {seconds} s")
    if sent is None or received is None:
        raise NotRecognisedError("iperf3: expected the rates of both ends, found that of one")
    shares = [one.received_mbps for one in told.streams if one.received_mbps is not None]
    if len(shares) != len(told.streams):  # before 3.1 only the sum of the receiver was told
        shares = [one.sent_mbps or 0.0 for one in told.streams]
    trips = [
        (one.rtt_min_us, one.rtt_mean_us, one.rtt_max_us)
        for one in told.streams
        if one.rtt_min_us and one.rtt_mean_us and one.rtt_max_us
    ]
    windows = [size for one in told.streams for size in one.snd_cwnd_bytes]
    receiver, buffer, count = limited(sockets)
    return Tcp(
        version=told.version,
        streams=len(told.streams),
        seconds=seconds,
        sent_bps=sent * 1e6,
        received_bps=received * 1e6,
        retransmits=told.retransmits,
        mss_bytes=told.mss_bytes or None,
        fairness=round(jain(shares), 4),
        rtt_min_s=min(low for low, _, _ in trips) / 1e6 if trips else None,
        rtt_mean_s=fmean(mean for _, mean, _ in trips) / 1e6 if trips else None,
        rtt_max_s=max(high for _, _, high in trips) / 1e6 if trips else None,
        cwnd_bytes=max(windows, default=None),
        cpu_sender=_share(told.cpu_host_percent),
        cpu_receiver=_share(told.cpu_remote_percent),
        congestion=told.sender_congestion,
        receiver_limited=receiver,
        buffer_limited=buffer,
        sockets=count,
    )


def _share(percent: float | None) -> float | None:
    return None if percent is None else round(percent / 100, 4)


def jain(shares: Sequence[float]) -> float:
    """Return Jain's fairness index of rates (Jain, Chiu, Hawe: DEC-TR-301, 1984); 0 for none.

    1 when all are equal, 1/n when one of n has everything.
    """
    squares = len(shares) * sum(share**2 for share in shares)
    return sum(shares) ** 2 / squares if squares else 0.0


def limited(sockets: str) -> tuple[float | None, float | None, int]:
    """Return for which share of their time the receiver's window and the sender's buffer held the
    streams up, and how many sockets the last look that saw any tells of; None where none was seen.
    """
    looks = [_streams(text) for text in sockets.split("\f")]
    seen = next((look for look in reversed(looks) if look), [])
    if not seen:
        return None, None, 0
    shares = [
        fmean((getattr(one, f"{name}_percent") or 0.0) / 100 for one in seen)
        for name in ("rwnd_limited", "sndbuf_limited")
    ]
    return round(shares[0], 4), round(shares[1], 4), len(seen)


def _streams(text: str) -> list[ss.Connection]:
    """Return the connections that carry data; none of a text that is not recognised.

    It explains and is no value: a run is not lost because `ss` is of another kind.
    """
    try:
        return [one for one in ss.parse(text) if (one.bytes_sent or 0) >= LEAST_BYTES]
    except FabricError:
        return []


def moved(port: str, sections: Mapping[str, Outcome], way: str) -> int:
    """Return the bytes that a port's netdevs sent (`tx`) or received. Raises MeasurementError."""
    counts = []
    for when in ("before", "after"):
        files = sysfs.parse(sections[f"{when}-netdevs"].stdout)
        found = [text for path, text in files.items() if path.endswith(f"/{way}_bytes")]
        if not found or not all(COUNT.fullmatch(text) for text in found):
            raise MeasurementError(
                port,
                "counters",
                f"expected /sys/class/net/NETDEV/statistics/{way}_bytes of its netdevs, found "
                f"{', '.join(found)[:60] or 'none'}",
            )
        counts.append(sum(map(int, found)))
    if counts[1] < counts[0]:
        raise MeasurementError(
            port, "counters", f"{way}_bytes of its netdevs fell: reset meanwhile"
        )
    return counts[1] - counts[0]


def doubts(
    row: Tcp, traffic: Traffic, ends: tuple[Port, Port], line_bps: float | None, window_s: float
) -> tuple[str, ...]:
    """Return why the values of a run must not be judged: its bytes did not pass the ports, or
    somebody else's did. `line_bps` is the declared speed; None skips the upper bound.
    """
    found = []
    mss = row.mss_bytes or 536  # the least that every host takes (RFC 9293)
    most = row.sent_bps * (row.seconds + UNCOUNTED_S) / 8 + (row.retransmits or 0) * mss
    most *= 1.1 * (1 + HEADER_BYTES / mss)
    foreign = None if line_bps is None else FOREIGN_SHARE["bandwidth"] * line_bps / 8 * window_s
    for port, count, way in (
        (ends[0], traffic.sent_bytes, "sent"),
        (ends[1], traffic.received_bytes, "received"),
    ):
        if count is None or count < ROUNDED * traffic.expected_bytes:
            found.append(
                f"{port} {way} {render(count or 0, 'B')} by the counters of its netdevs, expected "
                f"at least {traffic.expected_bytes:,} B: the streams went by another way (see the "
                "routes to the rail's network)"
            )
        elif foreign is not None and count - most > foreign:
            found.append(f"{port} {way} {count - most:,.0f} B that are not ours: foreign traffic")
    return tuple(found)
