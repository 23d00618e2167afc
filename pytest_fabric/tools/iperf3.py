"""`iperf3 -J` and `--json-stream`: TCP or UDP throughput between two nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import complaints, json_text
from pytest_fabric.tools.iperf3_errors import KNOWN
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.printable import printable

HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:%-]{0,254}")
VERSION = re.compile(r'"version":\s*"iperf ([0-9][\w.+-]{0,30})"', re.ASCII)

#: What may stand before the JSON, and what says after it that the run failed (before 3.10).
BEFORE = re.compile(r"(?i)(?:warning\b|iperf3: getsockopt|sudo: unable to resolve host).*")
PART = re.compile(r'\s*"\w+":')
SAID = re.compile(r"iperf3: (?:error - )?(.*)")


@dataclass(frozen=True)
class Stream:
    """A stream of the run; the lists have one value per interval, warm-up left out.

    The round trip is what the sending kernel smoothed (srtt) and its mean deviation (rttvar).
    """

    socket: int | None
    sent_mbps: float | None
    received_mbps: float | None
    retransmits: int | None
    rtt_min_us: float | None
    rtt_mean_us: float | None
    rtt_max_us: float | None
    rtt_us: tuple[float, ...]
    rttvar_us: tuple[float, ...]
    snd_cwnd_bytes: tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """A whole run: rates in megabits per second over all streams, and what each stream saw.

    `duration_s` was asked for, `seconds` measured: a run that was ended early is shorter.
    """

    version: str | None
    protocol: str
    role: str
    parallel: int | None
    reverse: bool
    bidirectional: bool
    duration_s: float | None
    seconds: float | None
    sent_mbps: float | None
    received_mbps: float | None
    reverse_sent_mbps: float | None
    reverse_received_mbps: float | None
    retransmits: int | None
    jitter_ms: float | None
    packets: int | None
    lost_packets: int | None
    lost_percent: float | None
    cpu_host_percent: float | None
    cpu_remote_percent: float | None
    sender_congestion: str | None
    receiver_congestion: str | None
    mss_bytes: int | None
    streams: tuple[Stream, ...]


def command(
    host: str,
    seconds: int = 10,
    parallel: int = 1,
    port: int = 5201,
    reverse: bool = False,
    source: str | None = None,
) -> tuple[str, ...]:
    """Return the client's command line; ValueError for a name or a number out of range.

    It sends from the address `source`, where one is given.
    """
    for name in (host, source or host):
        _require_host(name)
    if not (1 <= seconds <= 86_400 and 1 <= parallel <= 128 and 1 <= port <= 65_535):
        raise ValueError("expected 1-86400 s, 1-128 streams and a port from 1 to 65535")
    back = ("-R",) if reverse else ()
    numbers = ("-p", str(port), "-t", str(seconds), "-P", str(parallel))
    bind = ("-B", source) if source is not None else ()
    return ("iperf3", "-J", "-c", host, *bind, *numbers, *back)


def server_command(address: str, port: int) -> tuple[str, ...]:
    """Return the command line of a server that ends after one client; ValueError as above."""
    _require_host(address)
    if not 1 <= port <= 65_535:
        raise ValueError("expected a port from 1 to 65535")
    return ("iperf3", "-J", "-s", "-1", "-B", address, "-p", str(port))


def _require_host(name: str) -> None:
    if not HOST.fullmatch(name):
        raise ValueError(f"host: expected a name or an address, got {name!r}")


def find_error(text: str) -> ToolError | None:
    """Return the error that a text tells, None for a whole run and for what is not recognised."""
    try:
        parse(text)
    except ToolError as error:
        return error
    except NotRecognisedError:
        return None
    return None


def find_version(text: str) -> str | None:
    """Return the version that a text shows, None when it shows none."""
    match = VERSION.search(text)
    return match[1] if match else None


def parse(text: str) -> Run:
    """Return the run.

    Raises ToolError when iperf3 says that it failed, whatever its exit status and even when rates
    stand beside it; NotRecognisedError for any other text, also when the JSON is cut off or gives
    a wanted key twice (both directions before 3.11).
    """
    document = _document(text)
    message = document.get("error")
    if message is not None:
        if not isinstance(message, str):
            raise NotRecognisedError(f"expected the error as a text, got {str(message)[:60]!r}")
        raise _failure(message)
    if not json_text.part(document, "end"):
        raise NotRecognisedError("expected the results at the end of the run, got none")
    return _run(document)


def _failure(message: str) -> ToolError:
    kind = next((kind for kind, pattern in KNOWN if pattern.search(message)), "failed")
    return ToolError(kind, printable(message.strip())[:200])


def _document(text: str) -> dict[str, Any]:
    """Return the JSON of a run, put together from the events when they were streamed."""
    lines = text.split("\n")
    start = next((place for place, x in enumerate(lines) if x.lstrip().startswith("{")), None)
    before = [line.strip() for line in lines[:start] if line.strip()]
    if start is None or not all(BEFORE.fullmatch(line) for line in before):
        complaints.check(text)
        said = next((match[1] for line in before if (match := SAID.fullmatch(line))), None)
        if said:
            raise _failure(said)
        part = ", a part of it: of which sum or stream it is, it does not show" * bool(
            PART.match(text)
        )
        raise NotRecognisedError(f"expected the JSON of iperf3, got {text.strip()[:40]!r}{part}")
    return _joined(_objects("\n".join(lines[start:])))


def _objects(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while text.strip():
        said = SAID.match(text.lstrip())
        if found and said:
            raise _failure(said[1])
        value, text = json_text.first(text)
        if not isinstance(value, dict):
            raise NotRecognisedError(f"expected an object of iperf3, got {str(value)[:60]!r}")
        found.append(value)
    return found


def _joined(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the one whole document; it follows the events where both were asked for."""
    whole = [row for row in objects if "event" not in row]
    if len(whole) == 1 and {"start", "intervals", "end"} <= whole[0].keys():
        return whole[0]
    if whole:
        raise NotRecognisedError("expected one run of iperf3, with start, intervals and end")
    events = [(str(row["event"]), row.get("data")) for row in objects]
    single = {name: data for name, data in events if name in ("start", "end", "error")}
    named = [name for name, _ in events]
    if "error" not in named and (named.count("start"), named.count("end")) != (1, 1):
        raise NotRecognisedError("expected one start and one end of the run: the text is cut off")
    return {**single, "intervals": [data for name, data in events if name == "interval"]}


def _run(document: dict[str, Any]) -> Run:
    start, end = json_text.part(document, "start"), json_text.part(document, "end")
    asked = json_text.part(start, "test_start")
    protocol = json_text.word(asked, "protocol")
    if protocol not in ("TCP", "UDP", "SCTP"):
        raise NotRecognisedError(f"expected TCP, UDP or SCTP, got {protocol!r}")
    sent, received = json_text.part(end, "sum_sent"), json_text.part(end, "sum_received")
    total = json_text.part(end, "sum") if protocol == "UDP" else {}
    reverse, role = json_text.number(asked, "reverse") == 1, _role(start)
    if not (sent or received or total):
        raise NotRecognisedError("expected the sums of the run, got none")
    cpu = json_text.part(end, "cpu_utilization_percent")
    forward = total if not sent and not reverse and role == "client" else sent
    return Run(
        version=_version(start),
        protocol=protocol,
        role=role,
        parallel=json_text.count(asked, "num_streams"),
        reverse=reverse,
        bidirectional=json_text.number(asked, "bidir") == 1,
        duration_s=json_text.number(asked, "duration"),
        seconds=json_text.number(sent or total, "seconds"),
        sent_mbps=_mbps(forward),
        received_mbps=_mbps(received),
        reverse_sent_mbps=_mbps(json_text.part(end, "sum_sent_bidir_reverse")),
        reverse_received_mbps=_mbps(json_text.part(end, "sum_received_bidir_reverse")),
        retransmits=json_text.count(sent, "retransmits"),
        **_loss(total),
        cpu_host_percent=json_text.number(cpu, "host_total"),
        cpu_remote_percent=json_text.number(cpu, "remote_total"),
        sender_congestion=json_text.word(end, "sender_tcp_congestion"),
        receiver_congestion=json_text.word(end, "receiver_tcp_congestion"),
        mss_bytes=json_text.count(start, "tcp_mss_default") if protocol == "TCP" else None,
        streams=_streams(document, end),
    )


def _role(start: Mapping[str, Any]) -> str:
    return "server" if "accepted_connection" in start else "client"


def _version(start: Mapping[str, Any]) -> str | None:
    return (json_text.word(start, "version") or "").removeprefix("iperf ") or None


def _mbps(row: Mapping[str, Any]) -> float | None:
    """Return a rate; None also for the side of which this end was told nothing."""
    rate = json_text.number(row, "bits_per_second")
    nothing = rate == 0 and not json_text.number(row, "seconds")
    return None if rate is None or nothing else rate / 1e6


def _loss(total: Mapping[str, Any]) -> dict[str, Any]:
    """Return what UDP lost; without packets there is neither jitter nor a share."""
    packets, lost = json_text.count(total, "packets"), json_text.count(total, "lost_packets", -1e15)
    # Packets that come late or twice are taken off the lost ones, which can fall below none.
    lost = None if lost is not None and lost < 0 else lost
    share = None if not packets or lost is None or lost > packets else 100 * lost / packets
    jitter = json_text.number(total, "jitter_ms") if packets else None
    return {"packets": packets, "lost_packets": lost, "lost_percent": share, "jitter_ms": jitter}


def _streams(document: Mapping[str, Any], end: Mapping[str, Any]) -> tuple[Stream, ...]:
    seen: dict[int | None, list[dict[str, Any]]] = {}
    for interval in json_text.parts(document, "intervals"):
        for row in json_text.parts(interval, "streams"):
            if row.get("omitted") is not True:
                seen.setdefault(json_text.count(row, "socket"), []).append(row)
    return tuple(_stream(row, seen) for row in json_text.parts(end, "streams"))


def _stream(row: Mapping[str, Any], seen: Mapping[int | None, list[dict[str, Any]]]) -> Stream:
    sender, receiver = json_text.part(row, "sender"), json_text.part(row, "receiver")
    udp = json_text.part(row, "udp")
    socket = json_text.count(sender or udp, "socket")
    rows = seen.get(socket, [])
    return Stream(
        socket=socket,
        sent_mbps=_mbps(sender),
        received_mbps=_mbps(receiver),
        retransmits=json_text.count(sender, "retransmits"),
        rtt_min_us=json_text.number(sender, "min_rtt") or None,
        rtt_mean_us=json_text.number(sender, "mean_rtt") or None,
        rtt_max_us=json_text.number(sender, "max_rtt") or None,
        rtt_us=_told(rows, "rtt"),
        rttvar_us=_told(rows, "rttvar"),
        snd_cwnd_bytes=tuple(int(value) for value in _told(rows, "snd_cwnd")),
    )


def _told(rows: list[dict[str, Any]], key: str) -> tuple[float, ...]:
    return tuple(value for row in rows if (value := json_text.number(row, key)) is not None)


def records(text: str) -> list[dict[str, object]]:
    """Return the run (`part` is `run`), then each of its streams, as plain records."""
    run = parse(text)
    whole = {key: value for key, value in plain(run).items() if key != "streams"}
    streams = [{"part": "stream", **plain(stream)} for stream in run.streams]
    return [{"part": "run", **whole}, *streams]
