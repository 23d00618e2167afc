"""The InfiniBand fabric as one node sees it: its subnet manager, and a sweep of all its links.

Asked from every InfiniBand port of the node, since rails may be subnets of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pytest_fabric.config import Cable, has_infiniband
from pytest_fabric.declare import FABRIC
from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics import heard
from pytest_fabric.measure.topics.heard import Unread
from pytest_fabric.measure.topics.topic import Facts, Subject, Topic
from pytest_fabric.measure.topics.wiring import state, switch_of
from pytest_fabric.results import Fact
from pytest_fabric.tools import ib_words, iblinkinfo, sminfo
from pytest_fabric.tools.iblinkinfo import FabricLink
from pytest_fabric.tools.sminfo import SubnetManager
from pytest_fabric.transport import Outcome
from pytest_fabric.transport.jobs import Word

#: A sweep asks every port of the fabric: some seconds for thousands of them, per port of the node.
DEADLINE_S = 300.0

#: What sminfo says of a manager that is not there, or was and does not answer any more.
SILENT = frozenset({"unreachable", "query_failed", "timeout"})

#: Lines of what is wrong that are kept; the number says how many there are.
SHOWN = 20

Sweep = Sequence[FabricLink]


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the commands: the manager and the links, from each InfiniBand port."""
    found: dict[str, tuple[Word, ...]] = {}
    for place, end in _ends(subject):
        if re.fullmatch(ib_words.NAME, end.rdma.device):
            device, port = end.rdma.device, end.rdma.number
            asked = sminfo.command(device, port)
            swept = iblinkinfo.command(device=device, port=port)
            found[f"sminfo-{place}"] = (*subject.asroot(asked[0]), *asked[1:])
            found[f"links-{place}"] = (*subject.asroot(swept[0]), *swept[1:])
    return found


def _infiniband(subject: Subject) -> list[tuple[int, End]]:
    ends = enumerate(subject.ends)
    return [(place, end) for place, end in ends if end.rdma.link_layer == "InfiniBand"]


def _ends(subject: Subject) -> list[tuple[int, End]]:
    """Return the ports that can ask: one that is down has its own checks."""
    return [(n, end) for n, end in _infiniband(subject) if end.rdma.physical_state == "LinkUp"]


def _name(end: End) -> str:
    """Return the device of a port, with its number where it is not the first."""
    return end.rdma.device if end.rdma.number == 1 else f"{end.rdma.device}/{end.rdma.number}"


def read(subject: Subject, outcomes: Mapping[str, Outcome]) -> Facts:
    """Return what the fabric is like, as the target `fabric`."""
    ends = _ends(subject)
    if not ends:
        problem = f"{subject.node} has no InfiniBand port whose link is up, to ask from"
        return {FABRIC: dict.fromkeys(METRICS, Fact(None, problem))}
    blind = [
        str(end.port) for _, end in _infiniband(subject) if end.rdma.physical_state != "LinkUp"
    ]
    if blind:
        problem = f"the link of {blind[0]} is down, so that its subnet is not seen from there"
        return {FABRIC: dict.fromkeys(METRICS, Fact(None, problem))}
    sweeps: dict[str, Sweep] = {}
    facts: dict[str, Fact] = {}
    try:
        for place, end in ends:
            sweeps[_name(end)] = heard.read(
                outcomes, f"links-{place}", "iblinkinfo", iblinkinfo.parse, strict=True
            )
        facts |= _links(subject, sweeps)
    except Unread as error:
        problem = f"from {subject.node}: {error}"
        facts |= dict.fromkeys(LINK_METRICS, Fact(None, problem))
    facts |= _managers(subject, ends, outcomes, sweeps)
    return {FABRIC: facts}


def _managers(
    subject: Subject,
    ends: Iterable[tuple[int, End]],
    outcomes: Mapping[str, Outcome],
    sweeps: Mapping[str, Sweep],
) -> dict[str, Fact]:
    """Return the state of the managers, and how many masters a subnet has at most, or at least."""
    found: dict[str, SubnetManager | None] = {}
    try:
        for place, end in ends:
            found[_name(end)] = _manager(f"sminfo-{place}", outcomes)
    except Unread as error:
        problem = f"from {subject.node}: {error}"
        return dict.fromkeys(MANAGER_METRICS, Fact(None, problem))
    detail = tuple(
        f"from {subject.node} {device}: {_described(manager, sweeps.get(device, ()))}"
        for device, manager in found.items()
    )
    states = Fact("+".join(sorted({_state(one) for one in found.values()})), detail=detail)
    unswept = [device for device in found if device not in sweeps]
    if unswept:
        problem = f"from {subject.node}: {unswept[0]} swept nothing, so its subnet is not known"
        return {"subnet.manager": states, "subnet.managers": Fact(None, problem)}
    # Ports that sweep the same switches are in one subnet, which has one master.
    masters: dict[frozenset[str | None], set[str | None]] = {}
    for device, manager in found.items():
        switches = frozenset(link.guid for link in sweeps[device])
        known = masters.setdefault(switches, set())
        known |= {manager.guid} if manager is not None and manager.state == "master" else set()
    counts = [len(guids) for guids in masters.values()]
    return {
        "subnet.manager": states,
        "subnet.managers": Fact(next((n for n in counts if n != 1), 1), detail=detail),
    }


def _manager(section: str, outcomes: Mapping[str, Outcome]) -> SubnetManager | None:
    """Return the manager that a port knows, None when none answers. Raises Unread."""
    try:
        return heard.read(outcomes, section, "sminfo", sminfo.parse)
    except Unread as error:
        if error.kind in SILENT:
            return None
        raise


def _state(manager: SubnetManager | None) -> str:
    if manager is None:
        return "none"
    return manager.state or "unknown"


def _described(manager: SubnetManager | None, links: Sweep) -> str:
    if manager is None:
        return "no subnet manager answers: is opensm, or that of a switch, running?"
    at = next((_node(link) for link in links if link.lid == manager.lid), "a port not swept")
    priority = f"priority {manager.priority}"
    return f"{_state(manager)} at LID {manager.lid}, {at}, GUID {manager.guid}, {priority}"


def _links(subject: Subject, sweeps: Mapping[str, Sweep]) -> dict[str, Fact]:
    """Return what is wrong with links; one that several ports have swept counts once."""
    links = list({(link.guid, link.port): link for s in sweeps.values() for link in s}.values())
    asked = (f"{len(links)} ports swept from {subject.node} {', '.join(sweeps)}",)
    planned = {_key(cable.switch, cable.switch_port): cable for cable in subject.cables}
    down = {_ends_of(link): line for link in links if (line := _down(link, planned))}
    slow = {
        _ends_of(link): _slow(link) for link in links if link.could_be_width or link.could_be_speed
    }
    without = {
        _node(link): f"{_node(link)}: no LID"
        for link in links
        if link.lid is None and link.physical_state == "LinkUp"
    }
    counted = ([*down.values()], [*slow.values()], [*without.values()])
    return {
        metric: Fact(len(lines), detail=(*lines[:SHOWN], *asked))
        for metric, lines in zip(LINK_METRICS, counted, strict=True)
    }


def _down(link: FabricLink, planned: Mapping[tuple[str, str], Cable]) -> str | None:
    """Return the line of a link that should carry traffic and does not, None for any other.

    A port that has no light may have no cable either: it counts where the plan has one.
    """
    if link.state in ("ACTIVE", "ACTIVE_DEFER"):
        return None
    cable = planned.get(_key(switch_of(link.node_name), str(link.port)))
    has_signal = link.physical_state not in ("Polling", "Disabled", "Sleep")
    if cable is None and not has_signal:
        return None
    to = f", planned for {cable.port} ({cable.source})" if cable else ""
    peer = f" to {link.peer_name} port {link.peer_port}" if link.peer_name else ""
    return f"{_node(link)} port {link.port}{peer}: {state(link)}{to}"


def _slow(link: FabricLink) -> str:
    now = f"{link.width or '?'}X {link.speed or 'unknown speed'}"
    could = f"{link.could_be_width or link.width or '?'}X {link.could_be_speed or link.speed}"
    to = f"{link.peer_name} port {link.peer_port}"
    return f"{_node(link)} port {link.port} to {to}: {now}, could be {could}"


def _ends_of(link: FabricLink) -> frozenset[tuple[str | None, int | None]]:
    return frozenset({(link.guid, link.port), (link.peer_guid, link.peer_port)})


def _key(switch: str, port: str) -> tuple[str, str]:
    return switch.casefold(), port.casefold()


def _node(link: FabricLink) -> str:
    return switch_of(link.node_name) or str(link.guid)


MANAGER_METRICS = ("subnet.manager", "subnet.managers")
LINK_METRICS = ("subnet.links_down", "subnet.slow_links", "subnet.ports_without_lid")
METRICS = (*MANAGER_METRICS, *LINK_METRICS)

TOPIC = Topic(
    "subnet",
    sections,
    read,
    deadline_s=DEADLINE_S,
    of=has_infiniband,
    vantage=True,
)
