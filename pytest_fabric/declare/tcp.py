"""TCP between two ports, as iperf3 measures it."""

from __future__ import annotations

from pytest_fabric.declare.declaration import Declaration, isolated, whole

#: Streams side by side: one is what one core of each end can do.
STREAMS = 4


def iperf3(
    streams: int = STREAMS, duration: float | None = None, isolate: str | None = None
) -> Declaration:
    """Declare `streams` TCP connections from rail to rail, `duration` seconds at full rate.

    It is measured only where the profile declares a limit of `tcp`: what TCP reaches depends on the
    hosts more than on the network.
    """
    whole("iperf3", "streams", streams, 1)
    isolated("iperf3", isolate)
    if streams > 128:  # iperf3 refuses more
        raise ValueError(f"iperf3(streams={streams!r}): expected at most 128 streams")
    if duration is not None and not 1 <= duration <= 3600:
        raise ValueError(f"iperf3(duration={duration!r}): expected 1 to 3600 seconds")
    return Declaration("iperf3", "pair", duration_s=duration, isolate=isolate, streams=streams)
