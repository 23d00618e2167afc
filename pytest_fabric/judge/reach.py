"""What a ping says to a test: the worst direction counts, and every direction is told."""

from __future__ import annotations

from pytest_fabric.errors import MissingValueError
from pytest_fabric.results import Measurement, Reach

#: Packets without which a loss of nothing says nothing: 0 of 100 is below 3 % with 95 % confidence.
PACKETS = 100

LABELS = {
    "loss": "share of packets lost",
    "rtt_min": "shortest round trip",
    "rtt_median": "median round trip",
    "rtt_max": "longest round trip",
}


def size(record: Measurement) -> str:
    """Return what a limit calls the size of the packets: `full`, or nothing for the usual one."""
    return str(record.settings.get("packet") or "")


def family(record: Measurement) -> str:
    """Return what the metrics of a ping begin with."""
    return f"{record.tool}.{size(record)}".rstrip(".")


def is_silent(record: Measurement) -> bool:
    """Return whether nothing at all came back to an end: load loses some, and never everything."""
    return any(not one.received for one in record.reach)


def title(record: Measurement) -> str:
    """Return the ping as people name it."""
    largest = max(one.packet_bytes for one in record.reach)
    return f"{record.tool} {largest} B whole" if size(record) == "full" else record.tool


def lines(record: Measurement) -> tuple[str, ...]:
    """Return what became of each direction."""
    return tuple(
        f"{one.port}: {one.received:,} of {one.sent:,} packets of {one.packet_bytes} B came back"
        for one in record.reach
    )


def statistic(record: Measurement, name: str) -> float:
    """Return the worst of all directions. Raises MissingValueError for what was not measured."""
    if not record.reach:
        raise MissingValueError(f"{record.target}: {record.tool} did not measure {name}")
    return max(_number(record, one, name) for one in record.reach)


def _number(record: Measurement, one: Reach, name: str) -> float:
    if name == "loss":
        if one.sent < PACKETS:
            raise MissingValueError(
                f"{record.target}: loss needs at least {PACKETS} packets, this ping had "
                f"{one.sent}: raise packets"
            )
        return one.loss
    number = {"rtt_min": one.rtt_min_s, "rtt_median": one.rtt_median_s, "rtt_max": one.rtt_max_s}[
        name
    ]
    if number is None:
        raise MissingValueError(
            f"{record.target}: {title(record)}: expected round trips of {one.port}, "
            f"{one.received:,} of {one.sent:,} packets came back"
        )
    return number


def mtu(record: Measurement) -> int:
    """Return the RDMA MTU that the path carries both ways. Raises MissingValueError."""
    if size(record) != "full":
        raise MissingValueError(f"{record.target}: only a ping of full size tells the MTU")
    if record.mtu is None:
        told = "; ".join(lines(record)) or "nothing"
        raise MissingValueError(
            f"{record.target}: expected full packets to come back both ways, found {told}: a "
            "switch or the other end takes in smaller ones only, or echo requests are filtered"
        )
    return record.mtu
