"""How the switch end of each cable is set up: link, neighbour, PFC, and ECN of lossless queues."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_fabric.measure.switches.far import Facts, Far, find, told
from pytest_fabric.measure.topics.heard import Outcomes, Unread, is_complete
from pytest_fabric.metrics import NOBODY, TOPICS
from pytest_fabric.results import Fact
from pytest_fabric.tools import sonic_config, sonic_lldp, sonic_status, sonic_version
from pytest_fabric.tools.sonic_config import Row
from pytest_fabric.tools.sonic_lldp import Neighbour
from pytest_fabric.tools.sonic_status import PortStatus

METRICS = TOPICS["switch"]

#: What is told of a switch and judged by nothing.
VERSION = "switch.version"

#: The tables of the configuration by section.
TABLES = {"pfc": "PORT_QOS_MAP", "queues": "QUEUE", "wred": "WRED_PROFILE"}

#: The commands by section; files that a site captures have these names.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "version": sonic_version.command(),
    "status": sonic_status.command(),
    "lldp": sonic_lldp.command(detail=True),
    **{section: sonic_config.command(table) for section, table in TABLES.items()},
}

#: SONiC's word for a code, and that of `ethtool --show-fec` at the host's end.
FEC = {"rs": "RS", "fc": "BaseR", "none": "Off"}

DOWN = "the port is down, so that nothing is negotiated"

#: Which packets a WRED profile marks: lossless traffic is green (`ecn` in sonic-wred-profile.yang).
MARKS = re.compile(r"ecn_(?:all|green(?:_yellow|_red)?)")
OTHER_MARKS = ("ecn_none", "ecn_yellow", "ecn_red", "ecn_yellow_red")


def read_facts(ends: Sequence[Far], outcomes: Outcomes) -> Facts:
    """Return what the switch says of each end; every metric has a value or its problem."""
    version = _version(outcomes)
    return {str(far.port): {VERSION: version, **dict(_end(far, outcomes))} for far in ends}


def _version(outcomes: Outcomes) -> Fact:
    """Return the release of the switch, which nothing is judged by, or why it is not known."""
    if "version" not in outcomes:
        return Fact(None, "version.txt was not captured")
    try:
        return Fact(told(outcomes, "version", SECTIONS, sonic_version.parse).version)
    except Unread as error:
        return Fact(None, str(error))


def _end(far: Far, outcomes: Outcomes) -> Iterator[tuple[str, Fact]]:
    try:
        port = find(far, told(outcomes, "status", SECTIONS, sonic_status.parse))
    except Unread as error:
        yield from dict.fromkeys(METRICS, Fact(None, f"{far.cable.switch}: {error}")).items()
        return
    yield from _link(far, port)
    for metrics, tell in (
        (("switch.neighbour", "switch.neighbour_port", "switch.neighbour_description"), _heard),
        (("switch.pfc_missing",), _pfc),
        (("switch.ecn_missing",), _ecn),
    ):
        try:
            found = tell(far, port, outcomes)
        except Unread as error:
            found = (Fact(None, f"{far.cable.switch}: {error}"),) * len(metrics)
        yield from zip(metrics, found, strict=True)


def _link(far: Far, port: PortStatus) -> Iterator[tuple[str, Fact]]:
    where = f"{far.cable.place} ({port.port})"
    untold = f"{where}: `{' '.join(sonic_status.command())}` does not say it"
    detail = (f"{where}: {port.oper or 'unknown'}, set {port.admin or 'unknown'}",)
    yield "switch.state", Fact(port.oper, None if port.oper else untold, detail)
    down = Fact(None, f"{where}: {DOWN}")
    speed = None if port.speed_mbps is None else port.speed_mbps * 1e6
    found = Fact(speed, None if speed else untold, (where,))
    yield "switch.speed", found if port.oper == "up" else down
    yield "switch.fec", _fec(where, port) if port.oper == "up" else down
    yield "switch.mtu", Fact(port.mtu_bytes, None if port.mtu_bytes else untold, (where,))


def _fec(where: str, port: PortStatus) -> Fact:
    if port.fec in FEC:
        return Fact(FEC[port.fec], detail=(f"{where}: {port.fec}",))
    remedy = f"set it: `config interface fec {port.port} rs`"
    return Fact(None, f"{where}: expected rs, fc or none, found {port.fec or 'N/A'}: {remedy}")


def _heard(far: Far, port: PortStatus, outcomes: Outcomes) -> tuple[Fact, ...]:
    """Return the neighbour of a port: its system, its port, and what it calls that port."""
    heard = told(outcomes, "lldp", SECTIONS, sonic_lldp.parse)
    mine = [one for one in heard if one.local_port == port.port]
    where = f"{far.cable.place} ({port.port})"
    if not mine:
        detail = (f"{where} hears no LLDP neighbour",)
        return (Fact(NOBODY, detail=detail),) * 3
    if len(mine) > 1:
        shown = " and ".join(_shown(one) for one in mine[:2])
        raise Unread(
            f"{where} hears {len(mine)} LLDP neighbours, {shown}: the card speaks LLDP beside "
            "the host, or something between forwards it; expected one"
        )
    one = mine[0]
    detail = (f"{where} hears {_shown(one)}",)
    words = (one.remote_device or one.chassis_id, one.remote_port, one.remote_port_description)
    return tuple(Fact(word or NOBODY, detail=detail) for word in words)


def _shown(one: Neighbour) -> str:
    named = f" ({one.remote_port_description})" if one.remote_port_description else ""
    return f"{one.remote_device or one.chassis_id} {one.remote_port}{named}"


def _pfc(far: Far, port: PortStatus, outcomes: Outcomes) -> tuple[Fact]:
    """Return how many lossless priorities have no PFC at a port."""
    if not far.lossless:
        return (_without_lossless(far),)
    rows = [row for row in _table("pfc", outcomes) if port.port in row.key[0].split(",")]
    on = {one for row in rows for one in _numbers(row.fields.get("pfc_enable", ""))}
    missing = [priority for priority in far.lossless if priority not in on]
    shown = ",".join(map(str, sorted(on))) or "no priority"
    wanted = ",".join(map(str, far.lossless))
    detail = f"{far.cable.place} ({port.port}): PFC is on for {shown}, declared {wanted}"
    return (Fact(len(missing), detail=(detail,)),)


def _ecn(far: Far, port: PortStatus, outcomes: Outcomes) -> tuple[Fact]:
    """Return how many lossless queues of a port have no thresholds at which packets are marked.

    The queue of a priority has its number, as SONiC's own QoS configuration has it.
    """
    if not far.lossless:
        return (_without_lossless(far),)
    if not far.has_ecn:
        return (Fact(None, inapplicable=f"profile {far.profile.name} declares no ECN"),)
    queues = _table("queues", outcomes)
    profiles = {row.key[0]: row for row in _table("wred", outcomes)}
    found = [_queue(port.port, number, queues, profiles) for number in far.lossless]
    detail = tuple(f"{far.cable.place} ({port.port}) {line}" for _, line in found)
    return (Fact(sum(not marks for marks, _ in found), detail=detail),)


def _queue(
    port: str, number: int, queues: Sequence[Row], profiles: Mapping[str, Row]
) -> tuple[bool, str]:
    """Return whether a queue marks packets, and what it has for that. Raises Unread."""
    names = [
        row.fields["wred_profile"]
        for row in queues
        if len(row.key) == 2 and port in row.key[0].split(",") and number in _range(row.key[1])
        if row.fields.get("wred_profile")
    ]
    if not names:
        return False, f"queue {number}: no WRED profile, so that nothing is marked"
    if names[0] not in profiles:
        return False, f"queue {number}: its WRED profile {names[0]} is not there"
    fields = profiles[names[0]].fields
    which = fields.get("ecn", "ecn_none")
    if not MARKS.fullmatch(which) and which not in OTHER_MARKS:
        raise Unread(f"WRED_PROFILE {names[0]}: expected a known word as ecn, found {which[:40]}")
    least, is_on = fields.get("green_min_threshold", "0"), fields.get("wred_green_enable", "false")
    marks = bool(MARKS.fullmatch(which)) and is_on == "true" and _is_above_zero(least)
    shown = f"ecn {which}, wred_green_enable {is_on}, green_min_threshold {least} B"
    return marks, f"queue {number}: WRED profile {names[0]}, {shown}"


def _is_above_zero(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,15}", text) is not None and int(text) > 0


def _table(section: str, outcomes: Outcomes) -> list[Row]:
    """Return the rows of a table; one that is not there prints nothing, and has no rows."""
    outcome = outcomes.get(section)
    is_well = outcome is not None and is_complete(outcome) and outcome.status == 0
    if outcome is not None and is_well and not (outcome.stdout + outcome.stderr).strip():
        return []
    return told(outcomes, section, SECTIONS, sonic_config.parse)


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if re.fullmatch(r" *[0-7] *", part)]


def _range(text: str) -> range:
    """Return the queues of a key: `3`, or `3-4` in older releases."""
    match = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", text)
    return range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)


def _without_lossless(far: Far) -> Fact:
    return Fact(None, inapplicable=f"profile {far.profile.name} declares no lossless priority")
