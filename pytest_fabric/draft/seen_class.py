"""What nodes show of the class of RDMA traffic, before anybody has declared one.

The topic `qos` reads what is declared; here it is all eight priorities and all 64 DSCPs.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics import heard, qos, qos_address, qos_classes
from pytest_fabric.measure.topics.heard import Outcomes
from pytest_fabric.measure.topics.qos_classes import Netdev
from pytest_fabric.measure.topics.topic import Facts, Subject, Topic, netdevs
from pytest_fabric.results import Fact
from pytest_fabric.tools import sysfs
from pytest_fabric.transport.jobs import Word

PRIORITIES = range(8)
DSCPS = range(64)

#: What is said once, of the whole port; and all that is said.
WHOLE = ("roce.trust", "roce.lossless", "roce.cnp_dscp", "roce.cnp_priority")
ALL = (
    *WHOLE,
    *(f"roce.ecn.{one}" for one in PRIORITIES),
    *(f"roce.dscp.{one}" for one in DSCPS),
    "roce.told",
)

#: What of the topic `qos` is read here, by the first word of its sections.
KINDS = ("sysfs", "qos", "pfc", "app")


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the commands that read the classes of every Ethernet port."""
    found = {
        name: words
        for name, words in qos.sections(subject).items()
        if name.partition("-")[0] in KINDS
    }
    for place, end in enumerate(subject.ends):
        paths = [
            path
            for name in netdevs(end.rdma)
            for priority in PRIORITIES
            for path in qos_classes.files(name, priority)
        ]
        if f"sysfs-{place}" in found and paths:
            found[f"ecn-{place}"] = ("grep", "-sH", ".", *dict.fromkeys(paths))
    return found


def read(subject: Subject, outcomes: Outcomes) -> Facts:
    """Return what the Ethernet ports say: `roce.ecn.3` is of a priority, `roce.dscp.26` of a DSCP.

    `roce.told` is the DSCP that the node gives to RDMA by itself, where it gives one.
    """
    return {
        str(end.port): _port(end, place, outcomes)
        for place, end in enumerate(subject.ends)
        if end.rdma.link_layer == "Ethernet"
    }


def _port(end: End, place: int, outcomes: Outcomes) -> Mapping[str, Fact]:
    tree = {**heard.tree(outcomes, f"sysfs-{place}"), **heard.tree(outcomes, f"ecn-{place}")}
    members = [
        Netdev.of(name, f"{place}-{member}", end.rdma.driver, outcomes)
        for member, name in enumerate(netdevs(end.rdma))
    ]
    known = qos_classes.facts(members, None, tree)
    facts = {name: known[name] for name in WHOLE}
    if tree.get(f"{sysfs.RDMA}/{end.rdma.device}/hca_type") in qos.BLUEFIELDS:
        return unread(qos.DPU)
    facts |= {f"roce.ecn.{one}": qos_classes.ecn(members, one, tree) for one in PRIORITIES}
    facts |= {f"roce.dscp.{one}": qos_classes.dscp_priority(members, one) for one in DSCPS}
    return {**facts, "roce.told": _told(end, tree)}


def unread(problem: str) -> Mapping[str, Fact]:
    """Return the facts of a port of which nothing is known."""
    return dict.fromkeys(ALL, Fact(None, problem))


def _told(end: End, tree: Mapping[str, str]) -> Fact:
    """Return the DSCP of a global traffic class, or else of connections that rdma_cm sets up."""
    forced = end.rdma.traffic_class
    if forced is not None and forced >= 0:
        return Fact(forced >> 2)
    text = tree.get(qos_address.tos_file(end.rdma), "")
    if text.isascii() and text.isdigit() and 0 < int(text) < 256:
        return Fact(int(text) >> 2)
    return Fact(None, "the node sets no traffic class by itself")


TOPIC = Topic("class", sections, read)
