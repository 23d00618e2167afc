"""Limits that follow from what a profile declares about RDMA over Ethernet."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fabric.config.limits import Absolute, Limit
from pytest_fabric.config.problems import Mark
from pytest_fabric.config.sections import Link, Roce
from pytest_fabric.config.yaml_lines import Table
from pytest_fabric.units import Quantity

#: What a full packet needs of the network device's MTU beside its payload: GRH 40, UDP 8, BTH 12,
#: XRC 4, atomic 28, ICRC 4 (`iboe_get_mtu` in include/rdma/ib_addr.h of Linux).
ROCE_HEADERS = 96


def roce_limits(name: str, table: Table, roce: Roce) -> Iterator[Limit]:
    """Yield the limits of what a `roce` section declares in other words than its facts say."""
    part = table["roce"]
    yield _equal("roce.gid_version", roce.version, part.marks.get("version", part.mark), name)
    priority = roce.class_priority
    if roce.dscp is not None and priority is not None and roce.trust != "pcp":
        yield _equal("roce.dscp_priority", priority, _decides(part, roce), name)
    if roce.cnp is not None:
        cnp = part["cnp"]
        yield _equal("roce.cnp_dscp", roce.cnp.dscp, cnp.marks["dscp"], name)
        if roce.cnp.priority is not None:
            yield _equal("roce.cnp_priority", roce.cnp.priority, cnp.marks["priority"], name)


def _decides(part: Table, roce: Roce) -> Mark:
    """Return the place of the key that says on which priority RDMA travels."""
    if roce.priority is not None:
        return part.marks["priority"]
    return part.marks["lossless" if len(roce.lossless) == 1 else "dscp"]


def _equal(metric: str, number: int, mark: Mark, name: str) -> Limit:
    clause = Absolute("==", Quantity(number, ""))
    return Limit(metric, (clause,), str(clause), str(mark), name)


def room(name: str, table: Table, link: Link) -> Iterator[Limit]:
    """Yield the least MTU in which the declared RDMA MTU has room: the host's, and the switch's."""
    if link.mtu is None:
        return
    clause = Absolute(">=", Quantity(link.mtu + ROCE_HEADERS, "B"))
    text = f">= {link.mtu + ROCE_HEADERS} B"
    source = str(table["link"].marks["mtu"])
    for metric in ("roce.netdev_mtu", "switch.mtu"):
        yield Limit(metric, (clause,), text, source, name)


def far_speed(name: str, table: Table, link: Link) -> Iterator[Limit]:
    """Yield the speed of the switch end of a cable: that of the host's end."""
    if link.speed is not None:
        clause = Absolute("==", link.speed)
        source = str(table["link"].marks["speed"])
        yield Limit("switch.speed", (clause,), str(clause), source, name)
