"""What is at the other end of a port's cable: by LLDP on Ethernet, by a scan of one hop else.

A whole sweep from every node would load the fabric's management: one hop is two packets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics import heard
from pytest_fabric.measure.topics.heard import Unread
from pytest_fabric.measure.topics.topic import Facts, Subject, Topic
from pytest_fabric.metrics import NOBODY, TOPICS
from pytest_fabric.results import Fact
from pytest_fabric.tools import ib_words, iblinkinfo, lldp, names
from pytest_fabric.tools.iblinkinfo import FabricLink
from pytest_fabric.tools.lldp import Neighbour
from pytest_fabric.transport import Outcome
from pytest_fabric.transport.jobs import Word

METRICS = TOPICS["wiring"]

#: How a managed switch of NVIDIA describes itself to the subnet: `MF0;leaf-1:MQM9700/U1`.
DESCRIPTION = re.compile(r"MF0;([^:;]+):.*")


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the commands: LLDP once for all ports, a scan for each InfiniBand port."""
    found: dict[str, tuple[Word, ...]] = {}
    for place, end in enumerate(subject.ends):
        if _is_infiniband(end):
            if re.fullmatch(ib_words.NAME, end.rdma.device):
                words = iblinkinfo.command(
                    device=end.rdma.device, port=end.rdma.number, is_near=True
                )
                found[f"near-{place}"] = (*subject.asroot(words[0]), *words[1:])
            continue
        found["lldpcli"] = (*subject.asroot("lldpcli"), *lldp.command()[1:])
        for member, netdev in enumerate(end.rdma.netdevs):
            if re.fullmatch(names.NETDEV, netdev):
                words = lldp.lldptool_command(netdev)
                found[f"lldptool-{place}-{member}"] = (*subject.asroot(words[0]), *words[1:])
    return found


def read(subject: Subject, outcomes: Mapping[str, Outcome]) -> Facts:
    """Return where each port's cable ends."""
    facts = {}
    for place, end in enumerate(subject.ends):
        try:
            if _is_infiniband(end):
                facts[str(end.port)] = _infiniband(place, end, outcomes)
            else:
                facts[str(end.port)] = _ethernet(place, end, outcomes)
        except Unread as error:
            facts[str(end.port)] = dict.fromkeys(METRICS, Fact(None, str(error)))
    return facts


def _is_infiniband(end: End) -> bool:
    return end.rdma.link_layer == "InfiniBand"


def _ethernet(place: int, end: End, outcomes: Mapping[str, Outcome]) -> dict[str, Fact]:
    """Return the neighbours of a port's network devices: several have those of a bond."""
    netdevs = end.rdma.netdevs
    if not netdevs:
        raise Unread(f"{end.rdma.device} has no network device, so nothing speaks LLDP for it")
    found = [
        _neighbour(f"{place}-{member}", netdev, outcomes) for member, netdev in enumerate(netdevs)
    ]
    detail = tuple(
        f"{netdev}: {_shown(neighbour)}" for netdev, neighbour in zip(netdevs, found, strict=True)
    )
    words = [
        (one.system_name or one.chassis_id, one.port_id, _other_name(one))
        if one is not None
        else (NOBODY, NOBODY, NOBODY)
        for one in found
    ]
    return _facts([*zip(*words, strict=True)], detail)


def _other_name(neighbour: Neighbour) -> str:
    """Return what else the port of a switch may be called in a plan.

    SONiC gives its ports aliases as IDs, and describes them by the names that people use. Where
    the ID is the name of an interface, a description is what somebody has typed in one day.
    """
    if neighbour.port_id_kind == "ifname":
        return neighbour.port_id
    return neighbour.port_description or neighbour.port_id


def _facts(columns: list[tuple[str, ...]], detail: tuple[str, ...]) -> dict[str, Fact]:
    return {
        metric: Fact("+".join(words), detail=detail)
        for metric, words in zip(METRICS, columns, strict=True)
    }


def _neighbour(member: str, netdev: str, outcomes: Mapping[str, Outcome]) -> Neighbour | None:
    """Return the LLDP neighbour of a network device, None when nobody is heard. Raises Unread."""
    try:
        told = heard.read(outcomes, "lldpcli", "lldpcli", lldp.parse)
        mine = [one for one in told if one.interface == netdev]
    except Unread as error:
        if error.kind != "tool_missing":
            raise
        mine = _by_lldptool(member, outcomes)
    mine = [one for one in mine if one.protocol.upper() == "LLDP"] or mine
    places = {(one.system_name, one.chassis_id, one.port_id) for one in mine}
    if len(places) > 1:
        shown = " and ".join(_shown(one) for one in mine[:2])
        raise Unread(
            f"{netdev} hears {len(places)} LLDP neighbours, {shown}: something between forwards "
            "LLDP, or speaks it on the card; expected one"
        )
    return mine[0] if mine else None


def _by_lldptool(member: str, outcomes: Mapping[str, Outcome]) -> list[Neighbour]:
    try:
        return heard.read(outcomes, f"lldptool-{member}", "lldptool", lldp.parse)
    except Unread as error:
        if error.kind != "tool_missing":
            raise
        raise Unread(
            "expected LLDP neighbours, found neither lldpcli nor lldptool: install lldpd and start "
            "it (`systemctl enable --now lldpd`)"
        ) from error


def _shown(neighbour: Neighbour | None) -> str:
    if neighbour is None:
        return "no LLDP neighbour (a switch speaks every 30 s, where LLDP is on)"
    named = neighbour.port_description
    also = f" ({named})" if named and named != neighbour.port_id else ""
    return f"{neighbour.system_name or neighbour.chassis_id} {neighbour.port_id}{also}"


def _infiniband(place: int, end: End, outcomes: Mapping[str, Outcome]) -> dict[str, Fact]:
    device, number = end.rdma.device, end.rdma.number
    links = heard.read(outcomes, f"near-{place}", "iblinkinfo", iblinkinfo.parse, strict=True)
    mine = [link for link in links if link.port == number]
    if len(mine) != 1:
        raise Unread(f"iblinkinfo: expected port {number} of {device} once, found {len(mine)}")
    link = mine[0]
    if link.peer_name is None or link.peer_port is None:
        told = f"{device}: nothing at the other end, {state(link)}"
        return _facts([(NOBODY,)] * 3, (told,))
    switch = switch_of(link.peer_name)
    detail = (f"{device}: {link.peer_name} port {link.peer_port}",)
    return _facts([(switch,), (str(link.peer_port),), (link.peer_guid or switch,)], detail)


def switch_of(description: str) -> str:
    """Return the name of a switch from what it tells the subnet of itself."""
    match = DESCRIPTION.fullmatch(description)
    return match[1] if match else description


def state(link: FabricLink) -> str:
    """Return the logical and the physical state of a link, as tools show both."""
    return f"{link.state or 'unknown'}/{link.physical_state or 'unknown'}"


TOPIC = Topic("wiring", sections, read)
