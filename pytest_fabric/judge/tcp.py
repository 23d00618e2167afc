"""What a run of TCP says to a test, and why it was not faster: host, window, or network."""

from __future__ import annotations

from pytest_fabric.errors import MissingValueError
from pytest_fabric.metrics import TCP_STATISTICS
from pytest_fabric.results import Measurement, Tcp
from pytest_fabric.units import render

#: From this share of a core on, a thread does nothing else: the rest are interrupts of its own.
CPU_BOUND = 0.95

#: A window that holds streams up for so much of their time is what limits them.
MOSTLY = 0.5

LABELS = {
    "throughput": "throughput",
    "retransmissions": "share of segments sent again",
    "rtt": "mean round trip under load",
    "rtt_max": "longest round trip under load",
    "fairness": "fairness of the streams",
}


def statistic(record: Measurement, name: str) -> float:
    """Return a value of a run. Raises MissingValueError for what was not measured."""
    row = record.tcp
    number = None if row is None else _numbers(row)[name]
    if number is None:
        version = f" {row.version}" if row is not None and row.version else ""
        raise MissingValueError(
            f"{record.target}: {record.tool}{version} did not measure {name}: the sender's kernel "
            "or this release does not tell it"
        )
    return number


def _numbers(row: Tcp) -> dict[str, float | None]:
    found = {
        "throughput": row.received_bps,
        "retransmissions": row.resent,
        "rtt": row.rtt_mean_s,
        "rtt_max": row.rtt_max_s,
        "fairness": row.fairness,
    }
    assert found.keys() == TCP_STATISTICS.keys()
    return found


def title(record: Measurement) -> str:
    """Return the run as people name it."""
    return f"{record.tool} of {record.tcp.streams} streams" if record.tcp else record.tool


def why(record: Measurement, line_bps: float | None) -> tuple[str, ...]:
    """Return what held the streams up, as far as it was told; `line_bps` is the declared speed."""
    row = record.tcp
    if row is None:
        return ()
    client, _, server = record.target.partition("..")
    found = (
        _cpu(row.cpu_sender, row, f"sender {client}"),
        _cpu(row.cpu_receiver, row, f"receiver {server}"),
        *_windows(row, line_bps),
    )
    return tuple(line for line in found if line) or ("neither a core nor a window was the limit",)


def _cpu(share: float | None, row: Tcp, whose: str) -> str:
    """Return that a core was the limit: of one thread for all streams, or of one for each."""
    threads = row.streams if row.has_threads else 1
    if share is None or share < CPU_BOUND * threads:
        return ""
    each = (
        f"each of its {threads} threads"
        if threads > 1
        else f"the one thread of iperf3 {row.version}"
    )
    return (
        f"CPU-bound, not the network: {each} at the {whose} used its core ({100 * share:.0f} % of "
        f"one in all): more streams from iperf3 3.16 on, larger packets, or a faster core"
    )


def _windows(row: Tcp, line_bps: float | None) -> list[str]:
    """Return which window held the streams up, with the bandwidth-delay product beside it.

    A window of W bytes lets a stream have W per round trip (RFC 7323, section 1.1).
    """
    told = []
    for share, what in (
        (row.receiver_limited, "the receiver's window (net.ipv4.tcp_rmem there)"),
        (row.buffer_limited, "the sender's buffer (net.ipv4.tcp_wmem there)"),
    ):
        if share is not None and share >= MOSTLY:
            told.append(
                f"{100 * share:.0f} % of the time limited by {what}{_product(row, line_bps)}"
            )
    if not told and row.retransmits and (product := _product(row, line_bps)):
        told.append(f"limited by congestion: {row.retransmits:,} segments sent again{product}")
    return told


def _product(row: Tcp, line_bps: float | None) -> str:
    """Return the bytes in flight, and those that would fill the line; empty where nothing tells."""
    trip = row.rtt_mean_s
    if trip is None:
        return ""
    each = row.received_bps * trip / 8 / row.streams
    had = f": {row.streams} streams had {_size(each)} each in flight at {render(trip, 's')}"
    if line_bps is None:
        return had
    product = line_bps * trip / 8
    return f"{had}, a line of {render(line_bps, 'b/s')} takes {_size(product)} (bandwidth x delay)"


def _size(octets: float) -> str:
    """Return an amount of memory in three digits."""
    for unit in ("B", "KiB", "MiB"):
        if octets < 1024:
            return f"{octets:.3g} {unit}"
        octets /= 1024
    return f"{octets:.3g} GiB"
