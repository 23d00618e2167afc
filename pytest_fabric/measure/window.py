"""The window of a measurement: counters of both ends before and after, and what they prove."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pytest_fabric.counters import refresh_s, snapshot
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure.settings import Settings
from pytest_fabric.metrics import LATENCY_TOOLS
from pytest_fabric.results import (
    Bandwidth,
    Growth,
    Latency,
    Pair,
    Port,
    RdmaPort,
    Snapshot,
    Traffic,
)
from pytest_fabric.tools import ethtool_statistics
from pytest_fabric.transport import Collect, Glob, Outcome, Session
from pytest_fabric.units import render

#: Headers of a RoCE v2 packet over IPv4 with Ethernet framing, per packet; InfiniBand needs less.
HEADER_BYTES = 78

#: Read with the counters, first of all: when they were read.
UPTIME = "/proc/uptime"
_UPTIME_LINE = re.compile(rf"{UPTIME}:([0-9]{{1,12}}(?:\.[0-9]+)?) ")

#: More growth than this beside our own traffic is somebody else's: 2 % of line during bandwidth,
#: 0.1 % during latency, where a little queueing already shows.
FOREIGN_SHARE = {"bandwidth": 0.02, "latency": 0.001}

#: The bandwidth that a tool says, or several at one port in sum, may exceed the line by the jitter
#: of their clocks, and no more.
ABOVE_LINE = 1.02

#: perftest sends for a moment before and after what it counts (set-up, warm-up, the margin of -D).
UNCOUNTED_S = 2.0

#: The payload is on the declared priority as a whole; the rest allows for counters that lag.
CLASS_SHARE = 0.9

#: Drivers that count every packet they send again: their growth has no upper bound.
COUNTS_RESENDS = frozenset({"rdma_rxe", "siw"})


@dataclass(frozen=True)
class Window:
    """Growth at both ends, the problems met by meaning, and how long the window was, in seconds."""

    growth: tuple[Growth, ...]
    problems: dict[str, str]
    duration_s: float

    @cached_property
    def moved(self) -> tuple[Growth, ...]:
        """Return the growth of what counts traffic."""
        return tuple(grown for grown in self.growth if grown.meaning in ("bytes", "packets"))


def joined(problems: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the problems of several ends or pairs by meaning, each told once."""
    told: dict[str, dict[str, None]] = {}
    for one in problems:
        for meaning, text in one.items():
            told.setdefault(meaning, {})[text] = None
    return {meaning: "; ".join(texts) for meaning, texts in told.items()}


def sections(port: RdmaPort, sudo: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the commands that read every counter of a port; `sudo` names tools that need it."""
    return _sections(port.device, port.number, port.netdevs, tuple(sudo))


@lru_cache(maxsize=256)  # ports of the same name on all nodes
def _sections(
    device: str, number: int, netdevs: tuple[str, ...], sudo: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    base = f"/sys/class/infiniband/{device}/ports/{number}"
    files = (Glob(f"{base}/counters/*"), Glob(f"{base}/hw_counters/*"))
    found: dict[str, tuple[str, ...]] = {"sysfs": ("grep", "-sH", ".", UPTIME, *files)}
    for place, netdev in enumerate(netdevs):
        asroot = ("sudo", "-n") if "ethtool" in sudo else ()
        found[f"ethtool{place}"] = (*asroot, *ethtool_statistics.command(netdev))
    return found


def before(port: RdmaPort, sudo: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the commands that open a window."""
    return {f"before-{name}": words for name, words in sections(port, sudo).items()}


def after(port: RdmaPort, sudo: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the commands that close a window, once the driver's slowest counter is fresh."""
    wait = refresh_s(port.driver)
    settle = {"settle": ("sleep", f"{wait:g}")} if wait else {}
    return {
        **settle,
        **{f"after-{name}": words for name, words in sections(port, sudo).items()},
    }


def moment(
    which: str, outcomes: Mapping[str, Outcome], name: Port, port: RdmaPort
) -> tuple[Snapshot, float]:
    """Return counters and uptime `before` or `after` a tool's run. Raises MeasurementError."""
    start = f"{which}-"
    mine = {key[len(start) :]: value for key, value in outcomes.items() if key.startswith(start)}
    return parsed(mine, name, port)


def read(
    session: Session, name: Port, port: RdmaPort, sudo: Sequence[str] = ()
) -> tuple[Snapshot, float]:
    """Return the counters of a port and the node's uptime in seconds. Raises MeasurementError."""
    return parsed(session.collect(Collect(sections(port, sudo), 20.0)), name, port)


def parsed(outcomes: Mapping[str, Outcome], name: Port, port: RdmaPort) -> tuple[Snapshot, float]:
    """Return the counters and the uptime that a job read. Raises MeasurementError."""
    for section, outcome in outcomes.items():
        if outcome.end != "exit":
            told = f"expected counters, {section} did not end"
            raise MeasurementError(str(name), "counters", told)
    ethtool = [outcome for section, outcome in outcomes.items() if section.startswith("ethtool")]
    # One member of a bond that cannot be read makes the sum of the others a lie.
    text = None if any(o.status for o in ethtool) else "\n".join(o.stdout for o in ethtool)
    first, _, sysfs = outcomes["sysfs"].stdout.partition("\n")
    uptime_s = _uptime(name, first)
    shot = snapshot(str(name), port.driver, sysfs, text, port.link_layer)
    if not shot.values:
        raise MeasurementError(
            str(name), "counters", f"expected counters of {port.device}, found none readable"
        )
    return shot, uptime_s


def _uptime(name: Port, line: str) -> float:
    match = _UPTIME_LINE.match(line)
    if match is None:
        message = f"expected seconds in {UPTIME}, found {line[:60]!r}"
        raise MeasurementError(str(name), "counters", message)
    return float(match[1])


def sender(settings: Settings, pair: Pair) -> Port:
    """Return the end whose NIC sends the payload: a read is answered by the server."""
    return pair.server if settings.tool.startswith("ib_read") else pair.client


def receiver(settings: Settings, pair: Pair) -> Port:
    """Return the end that takes the payload in."""
    return pair.client if settings.tool.startswith("ib_read") else pair.server


def traffic(
    settings: Settings, pair: Pair, row: Latency | Bandwidth, mtu: int | None, window: Window
) -> Traffic:
    """Return what the byte counters of both ends say about a run.

    Drivers without byte counters (Soft-RoCE) count packets: each is taken as a full one, so that
    only too few of them show.
    """
    source, sink = sender(settings, pair), receiver(settings, pair)
    growth = window.moved
    sent = moved_bytes(growth, source, "tx", mtu)
    received = moved_bytes(growth, sink, "rx", mtu)
    expected = row.bytes * row.iterations
    shares = class_shares(settings, pair, growth, expected)
    worst = min(shares, key=lambda name: shares[name]) if len(shares) == 2 else None
    return Traffic(
        expected_bytes=expected,
        sent_bytes=sent,
        received_bytes=received,
        class_share=shares[worst] if worst else None,
        class_port=worst,
    )


def class_shares(
    settings: Settings, pair: Pair, growth: Iterable[Growth], expected: int
) -> dict[str, float]:
    """Return the share of the payload on the declared priority at each end that can tell it."""
    ends = ((sender(settings, pair), "tx"), (receiver(settings, pair), "rx"))
    return {
        str(port): share
        for port, direction in ends
        if (share := _share(settings, growth, port, direction, expected)) is not None
    }


def moved_bytes(
    growth: Iterable[Growth], port: Port, direction: str, mtu: int | None
) -> int | None:
    """Return the most that a counter of the port says: names overlap, so they are not added up."""
    name = str(port)
    mine = [g for g in growth if g.port == name and g.direction == direction]
    whole = [g.delta for g in mine if g.meaning == "bytes" and g.priority is None]
    if whole:
        return max(whole)
    packets = [g.delta for g in mine if g.meaning == "packets" and g.priority is None]
    return max(packets) * (mtu or 256) if packets else None


def _share(
    settings: Settings, growth: Iterable[Growth], port: Port, direction: str, expected: int
) -> float | None:
    """Return the share of a port's bytes on the declared priority; None without such counters.

    Bandwidth is held against all that moved: under -D the tool counts the middle of the run only.
    The little that a latency run moves is held against what was sent: other packets weigh too much.
    """
    wanted = (str(port), direction, "bytes")
    moved = {
        entry.priority: entry.delta
        for entry in growth
        if (entry.port, entry.direction, entry.meaning) == wanted and entry.priority is not None
    }
    if settings.priority is None or settings.priority not in moved:
        return None
    whole = max(expected, sum(moved.values()) if _kind(settings) == "bandwidth" else 0)
    return min(1.0, moved[settings.priority] / whole)


def doubts(
    settings: Settings,
    pair: Pair,
    row: Latency | Bandwidth,
    mtu: int | None,
    window: Window,
    seen: Traffic,
    drivers: dict[str, str],
    line_bps: float | None,
) -> tuple[str, ...]:
    """Return why the values of a run must not be judged, if anything speaks against them.

    The port's own counters must have moved by what was sent; more is foreign traffic, less means
    that the traffic went elsewhere. `seen` is the run's `traffic`; `line_bps` is the declared
    speed, None skips the upper bound.
    """
    found = []
    for port, moved, way in (
        (sender(settings, pair), seen.sent_bytes, "sent"),
        (receiver(settings, pair), seen.received_bytes, "received"),
    ):
        if moved is None:
            found.append(f"{port} has no counter of bytes or packets that proves its traffic")
        elif moved < seen.expected_bytes:
            found.append(
                f"{port} {way} {render(moved, 'B')} by its counters, expected at least "
                f"{seen.expected_bytes:,} B: the traffic went elsewhere"
            )
        elif line_bps is not None and drivers[str(port)] not in COUNTS_RESENDS:
            foreign = moved - most_bytes(settings, row, mtu)
            allowed = FOREIGN_SHARE[_kind(settings)] * line_bps / 8 * window.duration_s
            if foreign > allowed:
                found.append(f"{port} {way} {foreign:,.0f} B that are not ours: foreign traffic")
    # One end that can tell is enough for a doubt; only a share that is judged needs both.
    shares = class_shares(settings, pair, window.moved, seen.expected_bytes)
    return (*found, *other_class(settings, shares))


def other_class(settings: Settings, shares: Mapping[str, float]) -> tuple[str, ...]:
    """Return the doubt that traffic went on another priority, by the shares of ports on it."""
    name = min(shares, key=lambda port: shares[port]) if shares else ""
    if not shares or shares[name] >= CLASS_SHARE:
        return ()
    return (
        f"{name} moved only {100 * shares[name]:.0f}% of the payload on the declared priority "
        f"{settings.priority}, so the judged class was not tested: compare trust mode and "
        "DSCP map there with the profile",
    )


def _kind(settings: Settings) -> str:
    return "latency" if settings.tool in LATENCY_TOOLS else "bandwidth"


def most_bytes(settings: Settings, row: Latency | Bandwidth, mtu: int | None) -> float:
    """Return the most bytes that our own run can have moved in one direction, headers included."""
    packets = max(1, math.ceil(row.bytes / (mtu or 256)))
    wire = row.bytes + packets * HEADER_BYTES
    if isinstance(row, Latency):
        return 2.2 * (row.iterations + 1000) * wire  # messages, acknowledgements, warm-up
    seconds = (settings.duration_s or 0) + UNCOUNTED_S
    rate = row.average_bps / 8 / (settings.directions or 1)
    return 1.1 * max(row.iterations * wire, rate * seconds * wire / row.bytes)
