"""The record of what a test declares."""

from __future__ import annotations

from dataclasses import dataclass

#: What a measurement can have for itself, besides its ports.
ISOLATE = ("node", "leaf", "fabric")

#: Measurements of several pairs at once.
GROUPS = ("node_bandwidth", "gpu_bandwidth", "incast", "bisection", "soak_window")

#: What is asked about the windows of a soak, all of them together.
SOAK = "soak"

#: The target of what is judged about all nodes together.
FABRIC = "fabric"


@dataclass(frozen=True)
class Declaration:
    """A measurement as a test declares it; None leaves the choice to the profile of the target.

    `over` says what it is made on: `pair`, `port` or `node`. Equal declarations on the same target
    are measured once and shared. `isolate` is what nothing else may use meanwhile: both `node`s,
    their `leaf` switches too, or the whole `fabric`; without it, both ports. `bidirectional` says
    that both ends send at the same time. `packet` is `full` for a ping of the largest packets; its
    `iterations` are packets. `streams` are connections of TCP side by side. A group of pairs that
    are measured at once is made on a `node`, a receiver (`incast`, of so many `senders`) or the
    fabric (`bisection`): `is_group` says so. `memory` is `gpu` where messages
    lie in the memory of GPUs, of the kind that the profiles declare. `congested` says that a
    window is looked at for what forced congestion did in it. `window` counts those of a soak,
    from 1.
    """

    tool: str
    over: str
    size: int | None = None
    iterations: int | None = None
    duration_s: float | None = None
    qps: int | None = None
    isolate: str | None = None
    bidirectional: bool | None = None
    packet: str | None = None
    streams: int | None = None
    senders: int | None = None
    memory: str | None = None
    congested: bool | None = None
    window: int | None = None

    @property
    def is_group(self) -> bool:
        """Return whether it measures several pairs at the same time."""
        return self.tool in GROUPS

    def __str__(self) -> str:
        set_by_test = {
            "size": self.size,
            "iterations": self.iterations,
            "duration_s": self.duration_s,
            "qps": self.qps,
            "isolate": self.isolate,
            "bidirectional": self.bidirectional,
            "packet": self.packet,
            "streams": self.streams,
            "senders": self.senders,
            "memory": self.memory,
            "congested": self.congested,
            "window": self.window,
        }
        options = [f"{name}={value}" for name, value in set_by_test.items() if value is not None]
        return " ".join([self.tool, *options])


def whole(tool: str, name: str, value: int | None, least: int) -> None:
    """Raise ValueError for an option of a tool that is no whole number, or too small."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{tool}({name}={value!r}): expected a whole number of at least {least}")


def isolated(tool: str, isolate: str | None) -> None:
    """Raise ValueError for something that a measurement cannot have for itself."""
    if isolate not in (None, *ISOLATE):
        raise ValueError(f"{tool}(isolate={isolate!r}): expected one of {', '.join(ISOLATE)}")
