"""What a test declares: the measurement it asserts about."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Iterations of a latency run that only shows whether RDMA reaches the other end: milliseconds.
REACH_ITERATIONS = 100

#: What a measurement can have for itself, besides its ports.
ISOLATE = ("node", "leaf", "fabric")

#: The target of what is judged about all nodes together.
FABRIC = "fabric"


@dataclass(frozen=True)
class Declaration:
    """A measurement as a test declares it; None leaves the choice to the profile of the target.

    `over` says what it is made on: `pair`, `port` or `node`. Equal declarations on the same target
    are measured once and shared. `isolate` is what nothing else may use meanwhile: both `node`s,
    their `leaf` switches too, or the whole `fabric`; without it, both ports. `bidirectional` says
    that both ends send at the same time. `packet` is `full` for a ping of the largest packets; its
    `iterations` are packets.
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

    def __str__(self) -> str:
        set_by_test = {
            "size": self.size,
            "iterations": self.iterations,
            "duration_s": self.duration_s,
            "qps": self.qps,
            "isolate": self.isolate,
            "bidirectional": self.bidirectional,
            "packet": self.packet,
        }
        options = [f"{name}={value}" for name, value in set_by_test.items() if value is not None]
        return " ".join([self.tool, *options])


def _latency(tool: str, size: int, iterations: int | None, isolate: str | None) -> Declaration:
    _whole(tool, "size", size, 1)
    _whole(tool, "iterations", iterations, 5)
    _place(tool, isolate)
    return Declaration(tool, "pair", size=size, iterations=iterations, isolate=isolate)


def _bandwidth(
    tool: str,
    size: int | None,
    duration: float | None,
    qps: int | None,
    isolate: str | None,
    bidirectional: bool,
) -> Declaration:
    _whole(tool, "size", size, 1)
    _whole(tool, "qps", qps, 1)
    _place(tool, isolate)
    if duration is not None and not 1 <= duration <= 86400:
        raise ValueError(f"{tool}(duration={duration!r}): expected 1 to 86400 seconds")
    return Declaration(
        tool,
        "pair",
        size=size,
        duration_s=duration,
        qps=qps,
        isolate=isolate,
        bidirectional=bidirectional or None,
    )


def _whole(tool: str, name: str, value: int | None, least: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{tool}({name}={value!r}): expected a whole number of at least {least}")


def _place(tool: str, isolate: str | None) -> None:
    if isolate not in (None, *ISOLATE):
        raise ValueError(f"{tool}(isolate={isolate!r}): expected one of {', '.join(ISOLATE)}")


def ib_write_lat(
    size: int = 2, iterations: int | None = None, isolate: str | None = None
) -> Declaration:
    """Declare the latency of RDMA writes of `size` bytes: half a round trip."""
    return _latency("ib_write_lat", size, iterations, isolate)


def ib_read_lat(
    size: int = 2, iterations: int | None = None, isolate: str | None = None
) -> Declaration:
    """Declare the latency of RDMA reads of `size` bytes: a whole round trip."""
    return _latency("ib_read_lat", size, iterations, isolate)


def ib_send_lat(
    size: int = 2, iterations: int | None = None, isolate: str | None = None
) -> Declaration:
    """Declare the latency of sends of `size` bytes: half a round trip."""
    return _latency("ib_send_lat", size, iterations, isolate)


def ib_write_bw(
    size: int | None = None,
    duration: float | None = None,
    qps: int | None = None,
    isolate: str | None = None,
    bidirectional: bool = False,
) -> Declaration:
    """Declare the bandwidth of RDMA writes: `size` bytes, `duration` seconds, `qps` queue pairs.

    `bidirectional` lets both ends send at once; its value is the sum of both directions.
    """
    return _bandwidth("ib_write_bw", size, duration, qps, isolate, bidirectional)


def ib_read_bw(
    size: int | None = None,
    duration: float | None = None,
    qps: int | None = None,
    isolate: str | None = None,
    bidirectional: bool = False,
) -> Declaration:
    """Declare the bandwidth of RDMA reads: `size` bytes, `duration` seconds, `qps` queue pairs.

    `bidirectional` lets both ends send at once; its value is the sum of both directions.
    """
    return _bandwidth("ib_read_bw", size, duration, qps, isolate, bidirectional)


def ib_send_bw(
    size: int | None = None,
    duration: float | None = None,
    qps: int | None = None,
    isolate: str | None = None,
    bidirectional: bool = False,
) -> Declaration:
    """Declare the bandwidth of sends: `size` bytes, `duration` seconds, `qps` queue pairs.

    `bidirectional` lets both ends send at once; its value is the sum of both directions.
    """
    return _bandwidth("ib_send_bw", size, duration, qps, isolate, bidirectional)


def ping(
    full_size: bool = False, packets: int | None = None, isolate: str | None = None
) -> Declaration:
    """Declare echo requests from rail to rail; of `full_size`, the largest both ways, never split.

    Without `packets` as many as tell a loss of one in a thousand.
    """
    _whole("ping", "packets", packets, 1)
    _place("ping", isolate)
    size = "full" if full_size else None
    return Declaration("ping", "pair", iterations=packets, isolate=isolate, packet=size)


def rdma_reach() -> Declaration:
    """Declare a short run of RDMA writes of 2 bytes: whether RDMA reaches the other end at all.

    A pair where it does not is not measured with anything longer.
    """
    return ib_write_lat(size=2, iterations=REACH_ITERATIONS)


def port_facts() -> Declaration:
    """Declare what a port says about itself: state, speed, width, MTU, firmware, PCIe link."""
    return Declaration("port_facts", "port")


def node_facts() -> Declaration:
    """Declare what a node says about itself: kernel, tools, memory limit."""
    return Declaration("node_facts", "node")


def host_facts(over: str = "node") -> Declaration:
    """Declare how a node's system is set up; over `fabric`, what all nodes say at once."""
    return _topic("host", over, "node")


def link_facts(over: str = "port") -> Declaration:
    """Declare what a port says of its signal: FEC, bit errors, flaps, module, errors of PCIe."""
    return _topic("link", over, "port")


def wiring_facts(over: str = "port") -> Declaration:
    """Declare where a port's cable ends, held against the plan; over `fabric`, all cables."""
    return _topic("wiring", over, "port")


def infiniband_facts(over: str = "port") -> Declaration:
    """Declare what the subnet manager gave an InfiniBand port: its LID, and its partitions."""
    return _topic("infiniband", over, "port")


def subnet_facts() -> Declaration:
    """Declare what a sweep of the InfiniBand fabric shows, made from one of its nodes."""
    return Declaration("subnet", "fabric")


def qos_facts(over: str = "port") -> Declaration:
    """Declare how a port treats RDMA traffic; over `fabric`, what all ports say at once."""
    return _topic("qos", over, "port")


def _topic(topic: str, over: str, usual: str) -> Declaration:
    if over not in (usual, "fabric"):
        raise ValueError(f"{topic}_facts(over={over!r}): expected {usual} or fabric")
    return Declaration(topic, over)


#: The layers of the suites, bottom up, which `-m` selects; and what each is about.
LAYERS = {
    "wiring": "every cable is where the plan says",
    "link": "ports, modules and slots are as declared",
    "host": "systems are set up for RDMA",
    "firmware": "firmware and drivers are those that are declared, and alike",
    "qos": "the class of RDMA traffic, at the hosts",
    "reach": "ports reach each other, with small and with full packets",
    "subnet": "the InfiniBand subnet as one node sees it",
    "pair": "latency, bandwidth and counters of pairs",
}


def layer_of(module: str) -> str:
    """Return the layer that a suite's module name carries: `test_4_pair` is `pair`."""
    stem = module.rpartition("/")[2].removesuffix(".py")
    return re.sub(r"^test_(\d+_)?", "", stem) or stem
