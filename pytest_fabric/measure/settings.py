"""What a measurement is run with: the declaration, filled up from the profiles of its ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_fabric.config import Absolute, Profile
from pytest_fabric.declare import Declaration
from pytest_fabric.errors import MeasurementError
from pytest_fabric.metrics import LATENCY_TOOLS, PROBES, TCP_TOOLS
from pytest_fabric.results import Pair
from pytest_fabric.tools.sysfs import ROCE_HEADERS

#: Packets of a ping, and seconds between them: when none of 3,000 is lost, the loss is below 0.1 %
#: with a confidence of 95 %. Ordinary users may send no faster.
PACKETS = 3000
INTERVAL_S = 0.002

#: ping's own payload, and the headers of IPv4 and of the echo request in front of it, in bytes.
PAYLOAD = 56
PING_HEADERS = 28

#: What iperf3 writes to a socket at a time, in bytes (DEFAULT_TCP_BLKSIZE of its iperf.h).
TCP_BLOCK = 131_072


@dataclass(frozen=True)
class Settings:
    """Everything about a run that both ends share.

    `expected_s` is how long the traffic may last, in seconds, before it hangs. `traffic_class` is
    the byte of the GRH (DSCP and ECN bits) on RoCE, `service_level` the SL on InfiniBand; the other
    is None. `priority` is where the traffic is declared to travel, `isolate` what nobody else may
    use meanwhile. `directions` is 2 where both ends send at once, None otherwise. `packet` is
    `full` for a ping of the largest packets; a ping's `iterations` are packets and its `size` is
    the payload of each, for full ones the least that it must be. `streams` are connections of TCP,
    `senders` counts those of an incast. `memory` is the kind of GPU memory that messages lie in.
    `window` counts those of a soak, from 1. `connection` is that of queue pairs, None for RC.
    """

    tool: str
    size: int
    iterations: int | None
    duration_s: int | None
    qps: int | None
    traffic_class: int | None
    service_level: int | None
    priority: int | None
    isolate: str | None = None
    packet: str | None = None
    expected_s: float = 0.0
    directions: int | None = None
    streams: int | None = None
    senders: int | None = None
    memory: str | None = None
    window: int | None = None
    connection: str | None = None

    @property
    def key(self) -> str:
        """Return what makes two measurements on one target the same."""
        return _key(self)


@lru_cache(maxsize=256)  # a run has few, and asks for them all the time
def _key(settings: Settings) -> str:
    fields = {name: value for name, value in vars(settings).items() if value is not None}
    del fields["expected_s"]
    return " ".join(
        [str(fields.pop("tool")), *(f"{name}={value}" for name, value in fields.items())]
    )


def resolve(declaration: Declaration, pair: Pair, client: Profile, server: Profile) -> Settings:
    """Return the settings of a pair. Raises MeasurementError when its ends do not fit together."""
    if declaration.tool in PROBES:
        return _probe(declaration, client)
    if declaration.tool in TCP_TOOLS:
        return _tcp(declaration, client)
    classes = {_class_of(profile) for profile in (client, server)}
    if len(classes) != 1:
        raise MeasurementError(
            str(pair),
            "profiles",
            f"expected one traffic class at both ends, found profiles {client.name} and "
            f"{server.name} with different ones",
        )
    _refuse_partition(pair, client, server)
    traffic_class, service_level, priority = classes.pop()
    traffic = client.traffic
    is_latency = declaration.tool in LATENCY_TOOLS
    iterations = (declaration.iterations or traffic.iterations) if is_latency else None
    seconds = None if is_latency else _seconds(declaration, client)
    return Settings(
        tool=declaration.tool,
        size=declaration.size or int(traffic.size.number),
        iterations=iterations,
        duration_s=seconds,
        qps=None if is_latency else (declaration.qps or traffic.qps),
        traffic_class=traffic_class,
        service_level=service_level,
        priority=priority,
        isolate=declaration.isolate,
        directions=2 if declaration.bidirectional else None,
        senders=declaration.senders,
        memory=_memory(pair, client, server) if declaration.memory else None,
        expected_s=seconds or (iterations or 0) * _slowest(declaration.tool, client),
        connection=_connection(pair, client, server),
    )


def _probe(declaration: Declaration, client: Profile) -> Settings:
    """Return the settings of a ping, which has no class: it shows the path, not the queue."""
    packets = declaration.iterations or PACKETS
    is_full = declaration.packet == "full"
    return Settings(
        tool=declaration.tool,
        size=(client.link.mtu or 0) + ROCE_HEADERS - PING_HEADERS if is_full else PAYLOAD,
        iterations=packets,
        duration_s=None,
        qps=None,
        traffic_class=None,
        service_level=None,
        priority=None,
        isolate=declaration.isolate,
        packet=declaration.packet,
        expected_s=packets * INTERVAL_S,
    )


def _tcp(declaration: Declaration, client: Profile) -> Settings:
    """Return the settings of TCP, which travels beside the class of RDMA: best effort."""
    seconds = _seconds(declaration, client)
    return Settings(
        tool=declaration.tool,
        size=TCP_BLOCK,
        iterations=None,
        duration_s=seconds,
        qps=None,
        traffic_class=None,
        service_level=None,
        priority=None,
        isolate=declaration.isolate,
        expected_s=seconds,
        streams=declaration.streams,
    )


def _refuse_partition(pair: Pair, *profiles: Profile) -> None:
    """Raise for a declared partition: perftest runs in the default one, which proves nothing."""
    for profile in profiles:
        partition = profile.infiniband.partition if profile.infiniband else None
        if partition is not None and int(partition, 16) & 0x7FFF != 0x7FFF:
            raise MeasurementError(
                str(pair),
                "partition",
                f"expected the default partition, found {partition} in profile {profile.name}: "
                "this version measures in no other",
            )


def _connection(pair: Pair, client: Profile, server: Profile) -> str | None:
    """Return the connection of queue pairs, None for RC. Raises MeasurementError for two kinds."""
    kinds = [profile.traffic.connection for profile in (client, server)]
    if len({*kinds}) > 1:
        raise MeasurementError(
            str(pair),
            "profiles",
            f"expected one traffic.connection at both ends, found {kinds[0]} in profile "
            f"{client.name} and {kinds[1]} in {server.name}",
        )
    return None if kinds[0] == "RC" else kinds[0]


def _memory(pair: Pair, client: Profile, server: Profile) -> str:
    """Return the kind of GPU memory of both ends. Raises MeasurementError for two kinds."""
    kinds = {profile.gpu_memory for profile in (client, server)}
    found = kinds.pop()
    if kinds or found is None:
        raise MeasurementError(
            str(pair),
            "profiles",
            f"expected one `gpu_memory` at both ends, found {client.gpu_memory or 'none'} in "
            f"profile {client.name} and {server.gpu_memory or 'none'} in {server.name}",
        )
    return found


def _slowest(tool: str, profile: Profile) -> float:
    """Return how long one iteration may take, in seconds: four times the limit of its median.

    That is a whole round trip of half ones, twice as slow as allowed; at least 1 ms, so that a path
    that loses packets is measured as slow and not taken for a hang.
    """
    limit = profile.limits.get(f"{tool}.median")
    bounds = [c.quantity.number for c in limit.clauses if isinstance(c, Absolute)] if limit else []
    return max(1e-3, 4 * max(bounds, default=0.0))


def _seconds(declaration: Declaration, profile: Profile) -> int:
    """Return whole seconds: perftest's -D takes nothing else."""
    wanted = declaration.duration_s or profile.traffic.duration.number
    return max(1, round(wanted))


def _class_of(profile: Profile) -> tuple[int | None, int | None, int | None]:
    """Return traffic class, service level and priority of the profile's link layer."""
    if profile.link.layer == "InfiniBand":
        level = profile.infiniband.service_level if profile.infiniband else 0
        return None, level, None
    roce = profile.roce
    return (roce.traffic_class, None, roce.class_priority) if roce else (None, None, None)
