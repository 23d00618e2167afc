"""What a ping told: read, held against what was asked, and kept as evidence, all pure."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from pytest_fabric.errors import MeasurementError, NotRecognisedError, ToolError
from pytest_fabric.results import Reach
from pytest_fabric.tools import ping, sysfs
from pytest_fabric.transport import Outcome

#: Lines that are kept as evidence: of answers, and of all others. Thousands say nothing new.
KEPT = {True: 10, False: 100}


@dataclass(frozen=True)
class Asked:
    """A ping as it was asked for; `where` names the end that sent, for messages."""

    pair: str
    where: str
    host: str
    payload: int
    packets: int

    def error(self, kind: str, message: str) -> MeasurementError:
        """Return an error about the pair that names the end."""
        return MeasurementError(self.pair, kind, f"ping: {self.where}: {message}")


def read(asked: Asked, outcome: Outcome) -> ping.Ping:
    """Return what ping told. Raises MeasurementError, ToolError, NotRecognisedError."""
    if outcome.end != "exit":
        kind = "hang" if outcome.end == "deadline" else outcome.end
        raise asked.error(kind, f"did not end within {outcome.duration_s:.0f} s and was ended")
    if outcome.truncated:
        raise asked.error("output", "printed without end")
    try:
        found = ping.parse(_joined(outcome))
    except ToolError as error:
        raise ToolError(error.kind, f"ping: {asked.where}: {error}") from None
    except NotRecognisedError as error:
        raise NotRecognisedError(f"ping: {asked.where}: {error}") from None
    if outcome.status not in (0, 1):  # 1 tells that nothing came back
        raise asked.error("tool_failed", f"ended with status {outcome.status}")
    _require_same(asked, found)
    return found


def _joined(outcome: Outcome) -> str:
    """Return both streams as one text; beside statistics, only what ping itself complains of."""
    lines = [line for line in outcome.stderr.splitlines() if line.strip()]
    if any(ping.TITLE.fullmatch(line.rstrip()) for line in outcome.stdout.splitlines()):
        lines = [line for line in lines if line.startswith(("ping", "WARNING"))]
    return outcome.stdout + "".join(f"{line}\n" for line in lines)


def _require_same(asked: Asked, told: ping.Ping) -> None:
    """Raise NotRecognisedError for statistics of another ping than the one that was asked for."""
    found = (_address(told.address), told.payload_bytes, told.transmitted)
    wanted = (_address(asked.host), asked.payload, asked.packets)
    if found != wanted or told.received > told.transmitted:
        raise NotRecognisedError(
            f"ping: {asked.where}: expected {asked.packets:,} packets of {asked.payload} B to "
            f"{asked.host}, found {told.received:,} back of {told.transmitted:,} of "
            f"{told.payload_bytes} B to {told.address}"
        )


def _address(text: str) -> object:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def reach(port: str, packet_bytes: int, told: ping.Ping) -> Reach:
    """Return what became of the packets that a port sent; the first one's time is left out."""
    first = 0 if 0 in told.reply_seqs else 1
    timed = zip(told.reply_seqs, told.reply_ms, strict=True)
    times = [ms / 1000 for seq, ms in timed if ms is not None and seq != first]
    return Reach(
        port=port,
        packet_bytes=packet_bytes,
        sent=told.transmitted,
        received=told.received,
        duplicates=told.duplicates,
        errors=told.errors,
        rtt_min_s=min(times, default=None),
        rtt_median_s=median(times) if times else None,
        rtt_max_s=max(times, default=None),
        mtu=told.mtu_bytes,
    )


def rdma_mtu(found: Sequence[Reach]) -> int | None:
    """Return the RDMA MTU that the path carries each way, or None where nothing came back."""
    if not found or not all(one.received for one in found):
        return None
    return sysfs.rdma_mtu(min(one.packet_bytes for one in found))


def abridged(outcome: Outcome) -> Outcome:
    """Return an outcome with the first of thousands of like lines, and with how many were more."""
    return replace(outcome, stdout=_few(outcome.stdout), stderr=_few(outcome.stderr))


def _few(text: str) -> str:
    lines = text.splitlines(keepends=True)
    seen: Counter[bool] = Counter()
    kept = []
    last = len(lines) - KEPT[True]  # the statistics
    for place, line in enumerate(lines):
        is_reply = ping.REPLY.fullmatch(line.rstrip()) is not None
        seen[is_reply] += 1
        if seen[is_reply] <= KEPT[is_reply] or (place >= last and not is_reply):
            kept.append(line)
    more = len(lines) - len(kept)
    return "".join(kept) + (f"[{more:,} more lines are left out here]\n" if more else "")
