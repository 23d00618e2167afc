"""What a measurement is run with: the declaration, filled up from the profiles of its ends."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from pytest_fabric.config import Profile
from pytest_fabric.declare import Declaration
from pytest_fabric.errors import MeasurementError
from pytest_fabric.metrics import LATENCY_TOOLS
from pytest_fabric.results import Pair


@dataclass(frozen=True)
class Settings:
    """Everything about a run that both ends share.

    `traffic_class` is the byte of the GRH (DSCP and ECN bits) on RoCE, `service_level` the SL on
    InfiniBand; the other is None. `priority` is where the traffic is declared to travel.
    """

    tool: str
    size: int
    iterations: int | None
    duration_s: int | None
    qps: int | None
    traffic_class: int | None
    service_level: int | None
    priority: int | None

    @property
    def key(self) -> str:
        """Return what makes two measurements on one target the same."""
        fields = {name: value for name, value in asdict(self).items() if value is not None}
        return " ".join(
            [str(fields.pop("tool")), *(f"{name}={value}" for name, value in fields.items())]
        )

    @property
    def expected_s(self) -> float:
        """Return about how long the traffic lasts; a sample of latency rarely takes 100 us."""
        return self.duration_s or (self.iterations or 0) * 1e-4


def resolve(declaration: Declaration, pair: Pair, client: Profile, server: Profile) -> Settings:
    """Return the settings of a pair. Raises MeasurementError when its ends do not fit together."""
    classes = {_class_of(profile) for profile in (client, server)}
    if len(classes) != 1:
        raise MeasurementError(
            str(pair),
            "profiles",
            f"expected one traffic class at both ends, found profiles {client.name} and "
            f"{server.name} with different ones",
        )
    traffic_class, service_level, priority = classes.pop()
    traffic = client.traffic
    is_latency = declaration.tool in LATENCY_TOOLS
    return Settings(
        tool=declaration.tool,
        size=declaration.size or int(traffic.size.number),
        iterations=(declaration.iterations or traffic.iterations) if is_latency else None,
        duration_s=None if is_latency else _seconds(declaration, client),
        qps=None if is_latency else (declaration.qps or traffic.qps),
        traffic_class=traffic_class,
        service_level=service_level,
        priority=priority,
    )


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
