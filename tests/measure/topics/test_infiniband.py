"""What the subnet manager gave a port: LIDs and partitions from sysfs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.config import load_text
from pytest_fabric.measure.topics import infiniband as topic
from pytest_fabric.results import Fact
from pytest_fabric.tools import allowed
from tests.lab.clusters import INFINIBAND

from .ends import RDMA, infiniband, outcome, subject

PORT = "/sys/class/infiniband/mlx5_0/ports/1"


def read(lids: str = "", pkeys: str = "", declared: str = "0x8001") -> dict[str, Fact]:
    text = INFINIBAND.replace(
        "    link:", f'    infiniband: {{partition: "{declared}"}}\n    link:'
    )
    site = load_text(text, Path("cluster.yaml"))
    node = subject(replace(RDMA, link_layer="InfiniBand"), site=site)
    outcomes = {"lids": outcome(lids), "pkeys": outcome(pkeys)}
    return dict(topic.read(node, outcomes)["ib1:rail0"])


@pytest.mark.parametrize(
    ("text", "number"), [("0x15", 21), ("0x0", 0), ("0xffff", 0), ("nonsense", None), ("", None)]
)
def test_lids(text: str, number: int | None) -> None:
    """0 and 0xffff are no LIDs of a port; what is no number is a problem."""
    facts = read(lids=f"{PORT}/lid:{text}\n{PORT}/sm_lid:{text}\n" if text else "")

    assert [facts[f"infiniband.{name}"].value for name in ("lid", "sm_lid")] == [number] * 2
    assert (facts["infiniband.lid"].problem is None) == (number is not None)


@pytest.mark.parametrize(
    ("keys", "declared", "said"),
    [
        (["0xffff", "0x8001"], "0x8001", "0x8001"),
        (["0xffff", "0x0001"], "0x8001", "0x0001+0xffff"),
        (["0xffff", "0x0001"], "0x0001", "0x0001"),
        (["0xffff", "0x8001"], "0x1", "0x1"),
        (["0xffff"], "0x8001", "0xffff"),
        (["0x7fff"], "0xffff", "0x7fff"),
        (["<b>"], "0x8001", None),
        ([], "0x8001", None),
    ],
)
def test_partitions(keys: list[str], declared: str, said: str | None) -> None:
    """The declared one where the port is in it, as a full member where that is declared."""
    lines = "".join(f"{PORT}/pkeys/{index}:{key}\n" for index, key in enumerate(keys))
    fact = read(pkeys=lines, declared=declared)["infiniband.partition"]

    assert fact.value == said
    assert (fact.problem is None) == (said is not None)


def test_an_ethernet_port_has_none() -> None:
    facts = topic.read(subject(RDMA), {"lids": outcome(""), "pkeys": outcome("")})

    assert all("runs on Ethernet" in (f.problem or "") for f in facts["gpu001:rail0"].values())


def test_what_is_sent_is_on_the_allow_list() -> None:
    for words in topic.sections(infiniband(RDMA)).values():
        allowed.require(words)
