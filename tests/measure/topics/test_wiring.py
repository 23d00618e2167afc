"""Where a cable ends: what LLDP and a scan of one hop say, and what hides it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_fabric.measure.topics import wiring
from pytest_fabric.metrics import NOBODY
from pytest_fabric.results import Fact
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Outcome
from tests.lab.clusters import ROCE

from .ends import RDMA, infiniband, outcome, subject


def heard(*rows: tuple[str, str, str, str], via: str = "LLDP", kind: str = "local") -> str:
    """Return what lldpcli prints of rows of netdev, switch, port ID and description."""
    found = [
        {
            "name": netdev,
            "via": via,
            "chassis": [
                {"id": [{"type": "mac", "value": "0c:42:a1:00:10:01"}], "name": [{"value": s}]}
            ],
            "port": [{"id": [{"type": kind, "value": p}], "descr": [{"value": d}]}],
        }
        for netdev, s, p, d in rows
    ]
    return json.dumps({"lldp": [{"interface": found}] if found else [{}]})


MISSING = outcome("", 127, "sh: 1: lldpcli: not found\n")
NO_LLDPTOOL = outcome("", 127, "sh: 1: lldptool: not found\n")
LLDPTOOL = (
    "Chassis ID TLV\n\tMAC: 0c:42:a1:00:10:01\nPort ID TLV\n\tIfname: swp7\n"
    "System Name TLV\n\tleaf-9\nEnd of LLDPDU TLV\n"
)


def read(lldpcli: Outcome, lldptool: Outcome = NO_LLDPTOOL) -> Mapping[str, Fact]:
    facts = wiring.read(subject(RDMA), {"lldpcli": lldpcli, "lldptool-0-0": lldptool})
    return facts["gpu001:rail0"]


def values(facts: Mapping[str, Fact]) -> list[float | str | None]:
    return [fact.value for fact in facts.values()]


@pytest.mark.parametrize(
    ("lldpcli", "lldptool", "said"),
    [
        (
            outcome(heard(("ens1", "leaf-0", "Eth1/1", "Ethernet0"), ("eno1", "oob", "1", "1"))),
            NO_LLDPTOOL,
            ["leaf-0", "Eth1/1", "Ethernet0"],
        ),
        (
            outcome(heard(("ens1", "leaf-0", "swp5", "swp1"), kind="ifname")),
            NO_LLDPTOOL,
            ["leaf-0", "swp5", "swp5"],
        ),
        (outcome(heard(("eno1", "oob", "1", "1"))), NO_LLDPTOOL, [NOBODY] * 3),
        (outcome(heard()), NO_LLDPTOOL, [NOBODY] * 3),
        (MISSING, outcome(LLDPTOOL), ["leaf-9", "swp7", "swp7"]),
        (
            outcome(heard(("ens1", "leaf-\u202e0\x1b[2J", "swp1", "<b>"))),
            NO_LLDPTOOL,
            ["leaf-?0?[2J", "swp1", "<b>"],
        ),
    ],
    ids=["heard", "a stale description", "another port only", "nobody", "lldptool", "hostile"],
)
def test_what_lldp_says(lldpcli: Outcome, lldptool: Outcome, said: list[str]) -> None:
    assert values(read(lldpcli, lldptool)) == said


@pytest.mark.parametrize(
    ("lldpcli", "lldptool", "problem"),
    [
        (MISSING, NO_LLDPTOOL, "install lldpd and start it"),
        (
            outcome(
                "",
                1,
                "2026 [WARN/lldpctl] unable to connect to socket /run/lldpd.socket: No such file\n",
            ),
            NO_LLDPTOOL,
            "systemctl enable --now lldpd",
        ),
        (outcome("", 1, "lldpcli: Permission denied\n"), NO_LLDPTOOL, "sudo: [lldpcli]"),
        (outcome("{"), NO_LLDPTOOL, "run it on the node by hand"),
        (outcome(""), NO_LLDPTOOL, "run it on the node by hand"),
        (outcome("", None, end="deadline"), NO_LLDPTOOL, "did not come to its end"),
        (replace(outcome(heard()), truncated=True), NO_LLDPTOOL, "did not come to its end"),
        (MISSING, outcome("", 1, "connect: Connection refused\n"), "enable --now lldpad"),
        (
            outcome(heard(("ens1", "leaf-0", "1", "1"), ("ens1", "leaf-1", "1", "1"))),
            NO_LLDPTOOL,
            "hears 2 LLDP neighbours, leaf-0 1 and leaf-1 1",
        ),
    ],
)
def test_what_hides_it(lldpcli: Outcome, lldptool: Outcome, problem: str) -> None:
    facts = read(lldpcli, lldptool)

    assert values(facts) == [None] * 3
    assert all(problem in (fact.problem or "") for fact in facts.values())
    assert all("\n" not in (fact.problem or "") for fact in facts.values())


def test_a_bond_says_both_ends() -> None:
    bond = replace(RDMA, netdevs=("a", "b"))
    text = heard(("a", "leaf-0", "1", "x"), ("b", "leaf-1", "1", "y"))
    facts = wiring.read(subject(bond), {"lldpcli": outcome(text)})

    assert values(facts["gpu001:rail0"]) == ["leaf-0+leaf-1", "1+1", "x+y"]


UP = (
    '0x02000000000000a1 "                  ib1 mlx5_0"     21    1[  ] ==( 4X       106.25 Gbps '
    'Active/  LinkUp)==>  0x02000000000000f0      3    9[  ] "{peer}" ( )\n'
)
DOWN = (
    '0x02000000000000a1 "                  ib1 mlx5_0"      0    1[  ] ==('
    '                Down/ Polling)==>             [  ] "" ( )\n'
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (UP.format(peer="leaf-0"), ["leaf-0", "9", "0x02000000000000f0"]),
        (UP.format(peer="MF0;leaf-0:MQM9700/U1"), ["leaf-0", "9", "0x02000000000000f0"]),
        (DOWN, [NOBODY] * 3),
    ],
)
def test_what_a_scan_of_one_hop_says(text: str, said: list[str]) -> None:
    facts = wiring.read(infiniband(RDMA), {"near-0": outcome(text)})

    assert values(facts["ib1:rail0"]) == said


@pytest.mark.parametrize(
    ("scan", "problem"),
    [
        (outcome("", 127, "sh: 1: iblinkinfo: not found\n"), "install infiniband-diags"),
        (
            outcome("", 1, "ibwarn: [93] mad_rpc_open_port: can't open UMAD port ((null):0)\n"),
            "sudo: [iblinkinfo]",
        ),
        (outcome("nonsense\n"), "by hand"),
        (outcome(UP.replace("  1[  ] ==(", "  2[  ] ==(").format(peer="x")), "expected port 1"),
        (
            outcome(
                UP.format(peer="x"),
                0,
                "src/query_smp.c:227; umad (DR path) bad status 110; Connection timed out\n",
            ),
            "Connection timed out",
        ),
    ],
)
def test_what_hides_the_other_end_on_infiniband(scan: Outcome, problem: str) -> None:
    facts = wiring.read(infiniband(RDMA), {"near-0": scan})["ib1:rail0"]

    assert values(facts) == [None] * 3
    assert all(problem in (fact.problem or "") for fact in facts.values())


def test_a_device_with_a_name_that_cannot_be_sent_is_a_problem() -> None:
    """A name from a node never reaches a command line unchecked."""
    odd = infiniband(replace(RDMA, device="mlx5_0;id"))

    assert wiring.sections(odd) == {}
    assert "none that can be sent" in (
        wiring.read(odd, {})["ib1:rail0"]["wiring.switch"].problem or ""
    )


def test_what_is_sent_is_on_the_allow_list() -> None:
    for node in (subject(RDMA, replace(RDMA, netdevs=("x", "y")), text=ROCE), infiniband(RDMA)):
        for words in wiring.sections(node).values():
            allowed.require(words)
