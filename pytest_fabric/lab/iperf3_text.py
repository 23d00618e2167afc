"""What iperf3 prints with `-J`: one JSON document, in which releases differ in a few keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pytest_fabric.lab.process import Result
from pytest_fabric.lab.tcp import Rates

USAGE = "Usage: iperf3 [-s|-c host] [options]\n       iperf3 [-h|--help] [-v|--version]\n"

#: First releases that end with status 1 although the error is in the JSON, that say what rate was
#: asked for, and that tell the receiver's window.
ENDS_WITH_STATUS = (3, 14)
NAMES_TARGET = (3, 11)
TELLS_WINDOW = (3, 12)

Row = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """Who sent where, and for how many seconds."""

    address: str
    host: str
    port: int
    seconds: int


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers."""
    return tuple(int(part) for part in version.split("."))


def failed(version: str, message: str) -> Result:
    """Return what a run leaves that failed."""
    document = {
        "start": {"connected": [], "version": f"iperf {version}", "system_info": "Linux"},
        "intervals": [],
        "end": {},
        "error": message,
    }
    return Result(int(numbers(version) >= ENDS_WITH_STATUS), _shown(document))


def report(asked: Asked, rates: Rates, share: float, version: str, is_server: bool) -> str:
    """Return the document of an end; `share` is what other traffic left to the streams."""
    sockets = range(5, 5 + 2 * len(rates.bps), 2)
    bps = [rate * share for rate in rates.bps]
    rows = [
        _stream(socket, rate, asked.seconds, rates, version)
        for socket, rate in zip(sockets, bps, strict=True)
    ]
    sent = {"sender": not is_server}
    total = _rate(sum(bps), asked.seconds)
    lost = sum(row["sender"]["retransmits"] for row in rows)
    cores = [100 * share * used for used in rates.cores]
    host, remote = reversed(cores) if is_server else cores
    end = {
        "streams": rows,
        "sum_sent": {**total, "retransmits": lost, **sent},
        "sum_received": {**total, **sent},
        "cpu_utilization_percent": {
            **_used("host", host),
            **_used("remote", remote),
        },
        "sender_tcp_congestion": "cubic",
        "receiver_tcp_congestion": "cubic",
    }
    start = _start(asked, list(sockets), rates, version, is_server)
    seconds = [_interval(second, rows, bps, version) for second in range(asked.seconds)]
    return _shown({"start": start, "intervals": seconds, "end": end})


def _shown(document: Row) -> str:
    return json.dumps(document, indent="\t") + "\n"


def _used(whose: str, percent: float) -> Row:
    return {
        f"{whose}_total": percent,
        f"{whose}_user": percent * 0.05,
        f"{whose}_system": percent * 0.95,
    }


def _rate(bps: float, seconds: float, start: float = 0) -> Row:
    return {
        "start": start,
        "end": start + seconds,
        "seconds": seconds,
        "bytes": int(bps * seconds / 8),
        "bits_per_second": bps,
    }


def _stream(socket: int, bps: float, seconds: int, rates: Rates, version: str) -> Row:
    segments = bps * seconds / 8 / rates.mss
    trip = rates.rtt_s * 1e6
    window = {"max_snd_wnd": rates.window} if numbers(version) >= TELLS_WINDOW else {}
    sender = {
        "socket": socket,
        **_rate(bps, seconds),
        "retransmits": int(segments * rates.loss),
        "max_snd_cwnd": _cwnd(bps, rates),
        **window,
        "max_rtt": int(trip * 1.4),
        "min_rtt": int(trip * 0.9),
        "mean_rtt": int(trip),
        "sender": True,
    }
    return {"sender": sender, "receiver": {"socket": socket, **_rate(bps, seconds), "sender": True}}


def _cwnd(bps: float, rates: Rates) -> int:
    return max(10 * rates.mss, int(bps * rates.rtt_s / 8))


def _interval(second: int, rows: list[Row], bps: list[float], version: str) -> Row:
    streams = []
    for row, rate in zip(rows, bps, strict=True):
        sender = row["sender"]
        told = {
            "socket": sender["socket"],
            **_rate(rate, 1, second),
            "retransmits": sender["retransmits"] // max(1, int(sender["seconds"])),
            "snd_cwnd": sender["max_snd_cwnd"],
            "rtt": sender["mean_rtt"],
            "rttvar": sender["mean_rtt"] // 20,
            "pmtu": 9000,
            "omitted": False,
        }
        if numbers(version) >= TELLS_WINDOW:
            told["snd_wnd"] = sender["max_snd_wnd"]
        streams.append({**told, "sender": True})
    return {"streams": streams, "sum": {**_rate(sum(bps), 1, second), "omitted": False}}


def _start(asked: Asked, sockets: list[int], rates: Rates, version: str, is_server: bool) -> Row:
    target = {"target_bitrate": 0} if numbers(version) >= NAMES_TARGET else {}
    place = (
        {"accepted_connection": {"host": asked.address, "port": 40_002}}
        if is_server
        else {"connecting_to": {"host": asked.host, "port": asked.port}}
    )
    ends = [
        {
            "socket": socket,
            "local_host": asked.host if is_server else asked.address,
            "local_port": asked.port if is_server else 45_000 + place_ * 2,
            "remote_host": asked.address if is_server else asked.host,
            "remote_port": 45_000 + place_ * 2 if is_server else asked.port,
        }
        for place_, socket in enumerate(sockets)
    ]
    return {
        "connected": ends,
        "version": f"iperf {version}",
        "system_info": "Linux",
        "timestamp": {"time": "Sun, 29 Nov 2026 11:38:01 GMT", "timesecs": 1795952281},
        **place,
        "cookie": "lab",
        "tcp_mss_default": rates.mss,
        **target,
        "sock_bufsize": 0,
        "test_start": {
            "protocol": "TCP",
            "num_streams": len(sockets),
            "blksize": 131072,
            "omit": 0,
            "duration": asked.seconds,
            "bytes": 0,
            "blocks": 0,
            "reverse": 0,
            "tos": 0,
            **target,
        },
    }
