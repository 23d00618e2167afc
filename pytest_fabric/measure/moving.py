"""The bytes that a port moves while nothing of ours runs on it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from pytest_fabric.counters import refresh_s
from pytest_fabric.measure.end import End
from pytest_fabric.results import Port
from pytest_fabric.tools import sysfs
from pytest_fabric.transport import Collect, Job, Outcome, Session, Word
from pytest_fabric.units import render

#: What a port may move and still be idle: keep-alives, route and address resolution, log-ins.
IDLE_SHARE = 0.001

#: The line of a port that has none, declared or trained: the slowest that RDMA is used on.
UNKNOWN_LINE_BPS = 10e9

#: A second look reads counters only.
DEADLINE_S = 20.0

#: Bytes in `counters/` are in words of four; 32 bits full say that the counter stands still.
WORD_BYTES = 4
SATURATED = 2**32 - 1
NUMBER = re.compile(r"[0-9]{1,20}")


def sections(ends: Sequence[End]) -> dict[str, tuple[Word, ...]]:
    """Return the commands that read the byte counters of ports, wait, and read them again."""
    files = ("grep", "-sH", ".", *(path for end in ends for path in _files(end)))
    uptime = ("cat", "/proc/uptime")
    # A driver that refreshes its counters more slowly would look idle for a second.
    pause = max([1, *(math.ceil(refresh_s(end.rdma.driver)) for end in ends)])
    return {
        "uptime0": uptime,
        "bytes0": files,
        "pause": ("sleep", str(pause)),
        "bytes1": files,
        "uptime1": uptime,
    }


def _files(end: End) -> list[str]:
    """Return the byte counters of a port: of RDMA, and of the netdevs that share its line."""
    port = _base(end)
    return [
        f"{port}/counters/port_xmit_data",
        f"{port}/counters/port_rcv_data",
        f"{port}/hw_counters/tx_bytes",
        f"{port}/hw_counters/rx_bytes",
        *(
            f"{port}/hw_counters/ip{version}{way}Octets"
            for version in "46"
            for way in ("Out", "In")
        ),
        *(f"{sysfs.NET}/{name}/statistics/tx_bytes" for name in end.rdma.netdevs),
        *(f"{sysfs.NET}/{name}/statistics/rx_bytes" for name in end.rdma.netdevs),
    ]


def _base(end: End) -> str:
    return f"{sysfs.RDMA}/{end.rdma.device}/ports/{end.rdma.number}"


def reasons(
    session: Session, ends: Sequence[End], outcomes: Mapping[str, Outcome], deadline_s: float
) -> tuple[str, ...]:
    """Return which ports move bytes that no run accounts for. Raises TransportError.

    A second look is taken before that is said: another run may be between two measurements.
    """
    found = _suspects(session, ends, outcomes, deadline_s)
    if found:
        again = [end for end in ends if end.port in found]
        outcomes = session.collect(Collect(sections(again), DEADLINE_S))
        found = _suspects(session, again, outcomes, DEADLINE_S)
    return tuple(found.values())


def _suspects(
    session: Session, ends: Sequence[End], outcomes: Mapping[str, Outcome], deadline_s: float
) -> dict[Port, str]:
    seen = [(end, movement(end, outcomes, deadline_s)) for end in ends]
    return {end.port: why for end, why in seen if why and not _is_leased(session, end)}


def movement(end: End, outcomes: Mapping[str, Outcome], deadline_s: float) -> str | None:
    """Return what a port moves that is too much for an idle one, or why that cannot be told."""
    name = end.port
    late = next((key for key in sections([end]) if outcomes[key].end != "exit"), None)
    if late is not None:
        return (
            f"{name}: cannot tell whether it is in use: expected its byte counters within "
            f"{deadline_s:g} s, {late} did not come"
        )
    seconds = _uptime(outcomes["uptime1"].stdout) - _uptime(outcomes["uptime0"].stdout)
    before, after = (_moved(end, outcomes[key].stdout) for key in ("bytes0", "bytes1"))
    grown = [after[key] - before[key] for key in before.keys() & after.keys()]
    if not seconds > 0 or not grown or min(grown) < 0:
        what = f"{min(grown)} B of growth" if grown else "no counter in both of two reads"
        return (
            f"{name}: cannot tell whether it is in use: expected byte counters that grow with "
            f"time, found {what} in {seconds:g} s"
        )
    rate = max(grown) * 8 / seconds
    if rate <= IDLE_SHARE * _line_bps(end):
        return None
    return f"{name} moves {render(rate, 'b/s')} that are not ours"


def _uptime(text: str) -> float:
    """Return the seconds of /proc/uptime, not a number for anything else."""
    match = re.match(r"[0-9]+(\.[0-9]+)? ", text)
    return float(match.group()) if match else math.nan


def _moved(end: End, text: str) -> dict[str, int]:
    """Return the bytes by source and direction, members of a bond added up.

    What the sources count overlaps in a way that each driver has for itself, so the largest counts.
    """
    tree = sysfs.parse(text)
    counts = {p: int(tree[p]) for p in _files(end) if NUMBER.fullmatch(tree.get(p, ""))}
    moved: Counter[str] = Counter()
    for path, value in counts.items():
        place, _, name = path.rpartition("/")
        words = place.endswith("/counters")
        if words and value == SATURATED:
            continue
        source = "netdev" if place.startswith(sysfs.NET) else place
        moved[f"{source} {name}"] += value * (WORD_BYTES if words else 1)
    return dict(moved)


def _line_bps(end: End) -> float:
    declared = end.rail.profile.link.speed
    return declared.number if declared else end.rdma.speed_bps or UNKNOWN_LINE_BPS


def lease_files(ends: Sequence[End]) -> dict[str, str]:
    """Return by device the file that a run on one of these ports has locked."""
    return {end.rdma.device: end.lease for end in ends}


def _is_leased(session: Session, end: End) -> bool:
    """Return whether another run measures on the port: then it will be waited for."""
    probe = session.run(Job(("uname", "-r"), 10.0, lease=end.lease))
    return probe.end == "lease"
