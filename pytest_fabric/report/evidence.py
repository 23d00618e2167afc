"""What a measurement itself says about a failure: its numbers, its window, and its commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_fabric.metrics import MEANINGS
from pytest_fabric.report.places import nodes_of
from pytest_fabric.report.text import listed
from pytest_fabric.results import Bandwidth, Growth, Latency, Measurement, Member, Reach, Tcp
from pytest_fabric.units import render

#: So many counters and neighbours are named; the rest is counted.
NAMED = 4

#: Whoever sends pause frames is slow to receive; whoever only receives them is a victim.
PAUSE = {
    "tx": ("sent", "its receive side is slow"),
    "rx": ("received", "its peer or the switch makes it wait"),
}


def details(measurement: Measurement) -> list[tuple[str, str]]:
    """Return labels and texts for `text.failure`; a text is empty where nothing is known."""
    return [
        ("measured", "; ".join(filter(None, (_values(measurement), _attempts(measurement))))),
        ("doubts", "\n".join(measurement.doubts)),
        ("versions", _versions(measurement)),
        ("beside", "\n".join(_grown(measurement.growth))),
        ("beside", _neighbours(measurement.beside)),
        ("by hand", "\n".join(_by_hand(measurement))),
    ]


def _values(measurement: Measurement) -> str:
    if measurement.latency is not None:
        return _latency(measurement.latency)
    if measurement.reach:
        return "; ".join(map(_reach, measurement.reach))
    if measurement.tcp is not None:
        return _tcp(measurement.tcp)
    if measurement.members:
        return _together(measurement.members)
    return _bandwidth(measurement.bandwidth) if measurement.bandwidth is not None else ""


def _together(members: Sequence[Member]) -> str:
    """Return the slowest and the fastest pair of a group, and how well their clients met."""
    by_rate = sorted(members, key=lambda member: member.bandwidth.average_bps)
    ends = [f"{it.pair} {render(it.bandwidth.average_bps, 'b/s')}" for it in by_rate]
    apart = max(member.began_s for member in members)
    return f"{len(members)} pairs, {ends[0]} to {ends[-1]}; started within {apart:.3f} s"


def _reach(one: Reach) -> str:
    """Return what became of the packets of one end."""
    extra = {"twice": one.duplicates, "in errors": one.errors}
    counts = "".join(f", {count:,} {name}" for name, count in extra.items() if count)
    times = {"min": one.rtt_min_s, "median": one.rtt_median_s, "max": one.rtt_max_s}
    shown = [f"{name} {render(time, 's')}" for name, time in times.items() if time is not None]
    trip = f"; round trip {', '.join(shown)}" if shown else ""
    limit = f"; too long for an MTU of {one.mtu}" if one.mtu is not None else ""
    return (
        f"{one.port} sent {one.sent:,} packets of {one.packet_bytes} B, {one.received:,} came back"
        f"{counts}{trip}{limit}"
    )


def _latency(row: Latency) -> str:
    named = {
        "min": row.min_s,
        "median": row.median_s,
        "mean": row.mean_s,
        "P99": row.p99_s,
        "P99.9": row.p999_s,
        "max": row.max_s,
    }
    shown = [f"{name} {render(time, 's')}" for name, time in named.items() if time is not None]
    return f"{', '.join(shown)} in {row.iterations:,} iterations"


def _bandwidth(row: Bandwidth) -> str:
    peak = f", peak {render(row.peak_bps, 'b/s')}" if row.peak_bps is not None else ""
    return f"average {render(row.average_bps, 'b/s')}{peak} in {row.iterations:,} iterations"


def _tcp(row: Tcp) -> str:
    """Return what became of the streams, and what each end's processor did for it."""
    times = {"min": row.rtt_min_s, "mean": row.rtt_mean_s, "max": row.rtt_max_s}
    trips = [f"{name} {render(time, 's')}" for name, time in times.items() if time is not None]
    ends = {"sender": row.cpu_sender, "receiver": row.cpu_receiver}
    cores = [f"{end} {share:.2f}" for end, share in ends.items() if share is not None]
    parts = [
        f"{row.streams} streams: {render(row.sent_bps, 'b/s')} sent, "
        f"{render(row.received_bps, 'b/s')} received",
        f"{row.retransmits:,} segments sent again" if row.retransmits is not None else "",
        f"fairness {row.fairness:.2f}",
        f"round trip {', '.join(trips)}" if trips else "",
        f"cores used: {', '.join(cores)}" if cores else "",
        f"congestion control {row.congestion}" if row.congestion else "",
    ]
    return "; ".join(filter(None, parts))


def _versions(measurement: Measurement) -> str:
    """Return the versions of the tool at both ends where they differ."""
    shown = [f"{end} {version}" for end, version in measurement.versions.items()]
    return ", ".join(shown) if len(set(measurement.versions.values())) > 1 else ""


def _attempts(measurement: Measurement) -> str:
    tried = [
        f"port {attempt.control_port} {attempt.outcome}"
        if attempt.control_port
        else attempt.outcome
        for attempt in measurement.attempts
    ]
    return f"{len(tried)} attempts: {', '.join(tried)}" if len(tried) > 1 else ""


def _grown(growth: Iterable[Growth]) -> list[str]:
    telling = [entry for entry in growth if entry.delta and entry.meaning in MEANINGS]
    telling.sort(key=lambda entry: (MEANINGS.index(entry.meaning), -entry.delta))
    more = [f"and {len(telling) - NAMED} more counters grew"] if len(telling) > NAMED else []
    return [*(_sentence(entry) for entry in telling[:NAMED]), *more]


def _sentence(entry: Growth) -> str:
    if entry.meaning != "pause" or entry.direction not in PAUSE:
        return f"{entry} ({entry.meaning.replace('_', ' ')})"
    verb, hint = PAUSE[entry.direction]
    priority = f" on priority {entry.priority}" if entry.priority is not None else ""
    return f"{entry.port} {verb} {entry.delta:,} pause frames{priority} ({entry.name}): {hint}"


def _neighbours(beside: tuple[str, ...]) -> str:
    return f"at the same time: {listed(beside, NAMED)}" if beside else ""


def _by_hand(measurement: Measurement) -> list[str]:
    if measurement.members:
        slowest = min(measurement.members, key=lambda member: member.bandwidth.average_bps).pair
        commands = {
            name.removeprefix(f"{slowest} "): command
            for name, command in measurement.commands.items()
            if name.startswith(f"{slowest} ")
        }
        return _by_hand(replace(measurement, target=slowest, commands=commands, members=()))
    ends = nodes_of(measurement.target)
    nodes = {"client": ends[0], "server": ends[-1]}
    # The server comes first: the client finds nobody otherwise.
    order = sorted(measurement.commands, key=lambda end: end != "server")
    return [f"{nodes.get(end, end)}$ {measurement.commands[end]}" for end in order]
