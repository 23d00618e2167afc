"""What the subnet manager has given an InfiniBand port: its LID, and the partitions it is in."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_fabric.config import has_infiniband
from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics import heard
from pytest_fabric.measure.topics.topic import Facts, Subject, Topic
from pytest_fabric.results import Fact
from pytest_fabric.tools import ib_words, sysfs
from pytest_fabric.transport import Glob, Outcome
from pytest_fabric.transport.jobs import Word

#: A key of a table that is not used: its partition number is 0.
MEMBER = 0x8000
NUMBER = 0x7FFF


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the commands that read LIDs and partition keys."""
    port = f"{sysfs.RDMA}/*/ports/*"
    return {
        "lids": ("grep", "-sH", ".", Glob(f"{port}/lid"), Glob(f"{port}/sm_lid")),
        # Most of the 128 entries of a table are empty.
        "pkeys": ("grep", "-svxH", "0x0000", Glob(f"{port}/pkeys/*")),
    }


def read(subject: Subject, outcomes: Mapping[str, Outcome]) -> Facts:
    """Return what was given to each port that is declared InfiniBand."""
    tree = {**heard.tree(outcomes, "lids"), **heard.tree(outcomes, "pkeys")}
    return {str(end.port): _port(end, tree) for end in subject.ends}


def _port(end: End, tree: Mapping[str, str]) -> dict[str, Fact]:
    if end.rdma.link_layer != "InfiniBand":
        problem = (
            f"{end.rdma.device} runs on {end.rdma.link_layer}: see the check of its link layer"
        )
        return dict.fromkeys(METRICS, Fact(None, problem))
    base = f"{sysfs.RDMA}/{end.rdma.device}/ports/{end.rdma.number}"
    return {
        "infiniband.lid": _lid(tree, f"{base}/lid"),
        "infiniband.sm_lid": _lid(tree, f"{base}/sm_lid"),
        "infiniband.partition": _partition(end, tree, f"{base}/pkeys/"),
    }


def _lid(tree: Mapping[str, str], path: str) -> Fact:
    """Return a LID; 0 is the kernel's word for none, and 0xffff is no LID of a port either."""
    match = re.fullmatch(r"0x([0-9a-fA-F]{1,8})", tree.get(path, ""))
    if match is None:
        return Fact(None, f"{path} cannot be read: is the InfiniBand driver loaded?")
    return Fact(ib_words.lid(int(match[1], 16)) or 0, detail=(f"{path} {match[0]}",))


def _partition(end: End, tree: Mapping[str, str], above: str) -> Fact:
    """Return the declared partition where the port is in it, else all that it is in.

    A full member (top bit) reaches everybody of its partition, a limited one only full members:
    who is declared full must be full.
    """
    found = [
        value
        for path, value in tree.items()
        if path.startswith(above) and re.fullmatch(r"0x[0-9a-fA-F]{1,4}", value)
    ]
    if not found:
        return Fact(None, f"{above}* shows no partition key: is the InfiniBand driver loaded?")
    detail = (f"partition keys {' '.join(found[:8])}",)
    declared = end.rail.profile.infiniband and end.rail.profile.infiniband.partition
    if declared and any(_is_member(int(key, 16), int(declared, 16)) for key in found):
        return Fact(declared, detail=detail)
    return Fact("+".join(sorted(set(found))), detail=detail)


def _is_member(key: int, declared: int) -> bool:
    return key & NUMBER == declared & NUMBER and bool(key & MEMBER) >= bool(declared & MEMBER)


METRICS = ("infiniband.lid", "infiniband.sm_lid", "infiniband.partition")

TOPIC = Topic("infiniband", sections, read, of=has_infiniband)
