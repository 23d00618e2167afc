"""How a port treats RDMA traffic: trust, PFC, ECN, CNPs, global pause, GID, MTU, subnet.

Sources in this order: `mlnx_qos` (NICs of NVIDIA), `dcb` (the kernel's view), sysfs of NVIDIA's own
driver. Nothing of it applies to InfiniBand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_fabric.config import Absolute, Word
from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics import heard, qos_address, qos_classes
from pytest_fabric.measure.topics.qos_classes import Netdev
from pytest_fabric.measure.topics.topic import Facts, Subject, Topic, netdevs
from pytest_fabric.metrics import TOPICS
from pytest_fabric.results import Fact
from pytest_fabric.tools import dcb_app, dcb_pfc, ethtool_pause, mlnx_qos, names, sysfs
from pytest_fabric.transport import Glob, Outcome
from pytest_fabric.transport.jobs import Word as ShellWord

#: BlueField 1 to 4 as `hca_type` of sysfs says them: the PCI device id in decimal.
BLUEFIELDS = ("MT41682", "MT41686", "MT41692", "MT41695")

#: What a DPU keeps from its host, whose view of it may say anything.
OWNED_BY_DPU = (
    *("roce.trust", "roce.lossless", "roce.dscp_priority", "roce.ecn"),
    *("roce.cnp_dscp", "roce.cnp_priority", "roce.global_pause"),
)

DPU = (
    "the NIC is a BlueField, and as a DPU its own system holds this, not the host: read it there "
    "as a node of its own, or see not_available"
)


def sections(subject: Subject) -> Mapping[str, tuple[ShellWord, ...]]:
    """Return the commands that read the class of RDMA traffic of every Ethernet port."""
    arp = (f"{qos_address.ARP}/*/{name}" for name in qos_address.GUARDS)
    found: dict[str, tuple[ShellWord, ...]] = {
        "route": ("cat", qos_address.ROUTES),
        "arp": ("grep", "-sH", ".", *map(Glob, arp)),
    }
    for place, end in enumerate(subject.ends):
        if end.rdma.link_layer != "Ethernet":
            continue
        found[f"sysfs-{place}"] = ("grep", "-sH", ".", *_files(end))
        for member, netdev in enumerate(netdevs(end.rdma)):
            here = f"{place}-{member}"
            if end.rdma.driver.startswith("mlx"):
                _, *words = mlnx_qos.command(netdev)
                found[f"qos-{here}"] = (*subject.asroot("mlnx_qos"), *words)
            found[f"pfc-{here}"] = dcb_pfc.command(netdev)
            found[f"app-{here}"] = dcb_app.command(netdev)
            found[f"pause-{here}"] = ethtool_pause.command(netdev)
    return found


def _files(end: End) -> tuple[str, ...]:
    """Return the files of sysfs and configfs that are read for a port."""
    rdma, roce = end.rdma, end.rail.profile.roce
    priority = roce.class_priority if roce else None
    own = [qos_classes.files(name, priority) for name in netdevs(end.rdma)]
    return (
        f"{sysfs.RDMA}/{rdma.device}/hca_type",
        qos_address.tos_file(rdma),
        *(path for paths in own for path in paths),
        *(f"{sysfs.NET}/{name}/mtu" for name in _interfaces(end)),
    )


def _interfaces(end: End) -> tuple[str, ...]:
    """Return the port's network devices, and the bond or VLAN on top that its GIDs are on."""
    return tuple(filter(re.compile(names.NETDEV).fullmatch, qos_address.interfaces(end.rdma)))


def read(subject: Subject, outcomes: Mapping[str, Outcome]) -> Facts:
    """Return what the ports say."""
    ends = tuple(end for end in subject.ends if end.rdma.link_layer == "Ethernet")
    subnets = qos_address.subnets(ends, outcomes)
    return {
        str(end.port): _port(end, place, outcomes, subnets)
        if end in ends
        else _other_layer(end.rdma.link_layer)
        for place, end in enumerate(subject.ends)
    }


def _other_layer(layer: str) -> Mapping[str, Fact]:
    problem = f"link layer {layer} has no class of RoCE traffic: see not_available"
    found = dict.fromkeys(TOPICS["qos"], Fact(None, problem))
    # What all ports must have alike is not held against the others: the layer has its own test.
    return {**found, "roce.gid_index": Fact(None, inapplicable=problem)}


def _port(
    end: End, place: int, outcomes: Mapping[str, Outcome], subnets: Mapping[str, Fact]
) -> Mapping[str, Fact]:
    tree = heard.tree(outcomes, f"sysfs-{place}")
    members = [
        Netdev.of(name, f"{place}-{member}", end.rdma.driver, outcomes)
        for member, name in enumerate(netdevs(end.rdma))
    ]
    facts = {
        **qos_classes.facts(members, end.rail.profile.roce, tree),
        **qos_address.facts(end, _interfaces(end), tree),
        "roce.same_subnet": subnets[str(end.port)],
    }
    if tree.get(f"{sysfs.RDMA}/{end.rdma.device}/hca_type") in BLUEFIELDS:
        facts.update((name, _of_dpu(end, name, facts[name])) for name in OWNED_BY_DPU)
    return facts


def _of_dpu(end: End, metric: str, fact: Fact) -> Fact:
    """Return what the host says of a DPU's port only where it is what is declared.

    The same card without a system of its own lets the host decide, and cannot be told apart.
    """
    limit = end.rail.profile.limits.get(metric)
    clauses = limit.clauses if limit else ()
    wanted = [
        clause.quantity.number if isinstance(clause, Absolute) else clause.value
        for clause in clauses
        if isinstance(clause, (Absolute, Word))
    ]
    if fact.value is not None and fact.value in wanted:
        return fact
    said = fact.problem if fact.value is None else f"the host says {fact.value}"
    return Fact(None, f"{DPU}; {said}", fact.detail)


TOPIC = Topic("qos", sections, read)
