"""The switch end of a cable: whose port it is planned for, and which port of the switch it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_fabric.config import Cable, Cluster, Profile
from pytest_fabric.measure.topics.heard import Outcomes, Unread, read
from pytest_fabric.results import Fact, Port
from pytest_fabric.tools.names import is_switch_port
from pytest_fabric.tools.sonic_status import PortStatus

T = TypeVar("T")

#: What mends what a switch complains about, by the kind of the complaint.
REMEDIES = {
    "tool_missing": "is not there: expected SONiC, as `os: sonic` says, and its log-in shell",
    "permission": "is not allowed: let the user be of the switch's groups admin and redis",
    "no_database": "finds no database: are the switch's containers up (`docker ps`)?",
    "not_running": "finds no daemon: are the switch's containers up (`docker ps`)?",
}

#: By id of the port at the host's end, then by metric.
Facts = Mapping[str, Mapping[str, Fact]]


@dataclass(frozen=True)
class Far:
    """The switch end of the cable of a port, as it is planned and as the profile declares it."""

    port: Port
    cable: Cable
    profile: Profile

    @property
    def lossless(self) -> tuple[int, ...]:
        """Return the priorities that must lose nothing; the queue of each has its number."""
        return self.profile.roce.lossless if self.profile.roce is not None else ()

    @property
    def has_ecn(self) -> bool:
        """Return whether the switch must mark what is lossless: wherever ECN is not ruled out."""
        return self.profile.roce is not None and self.profile.roce.ecn is not False


def told(
    outcomes: Outcomes,
    section: str,
    words: Mapping[str, tuple[str, ...]],
    parse: Callable[[str], T],
) -> T:
    """Return what a section's output says; `words` are the commands. Raises Unread."""
    program = " ".join(words[section])
    try:
        return read(outcomes, section, program, parse)
    except Unread as error:
        remedy = REMEDIES.get(error.kind)
        if remedy is None:
            raise
        raise Unread(f"`{program}` {remedy}", error.kind) from error


def ends(cluster: Cluster, switch: str) -> tuple[Far, ...]:
    """Return the switch ends of all cables that the plan has at a switch."""
    return tuple(
        Far(cable.port, cable, cluster.rail(cable.port).profile) for cable in cluster.cabled(switch)
    )


def find(far: Far, ports: Sequence[PortStatus]) -> PortStatus:
    """Return the switch port that the plan means, by its name or its alias. Raises Unread."""
    wanted = far.cable.switch_port
    exact = [port for port in ports if wanted.casefold() in (port.port.casefold(), _alias(port))]
    alike = (port for port in ports if is_switch_port(wanted, port.port, port.alias or ""))
    found = exact or list(alike)
    if len(found) == 1:
        return found[0]
    seen = ", ".join(_shown(port) for port in ports[:3])
    raise Unread(
        f"expected port {far.cable.switch_port} of {far.cable.switch} once ({far.cable.source}), "
        f"found it {len(found) or 'nowhere'}: it has {seen}, ..."
    )


def _alias(port: PortStatus) -> str:
    return (port.alias or "").casefold()


def _shown(port: PortStatus) -> str:
    return f"{port.port} ({port.alias})" if port.alias else port.port
