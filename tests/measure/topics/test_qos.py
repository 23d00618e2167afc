"""The class of RDMA traffic, from texts: values, and a problem with its remedy for what hides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics import qos
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.metrics import TOPICS
from pytest_fabric.results import Fact, Gid, Port, RdmaPort
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Outcome
from tests.clusters import TEXT, cluster

from . import ends
from .ends import outcome

NET, CONF = "/sys/class/net", "/proc/sys/net/ipv4/conf"
V1, V2 = "IB/RoCE v1", "RoCE v2"
GIDS = (
    Gid(1, "fe80::1", V2, "ens1"),
    Gid(2, "::ffff:10.1.0.1", V1, "ens1"),
    Gid(3, "::ffff:10.1.0.1", V2, "ens1"),
)
RDMA = replace(ends.RDMA, gids=GIDS)

QOS = """\
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
\tprio:3 dscp:{map},
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     0   0   0   1   0   0   0   0
"""
MAP = QOS.format(map=",".join(f"{dscp:02d}" for dscp in range(64)))
PCP = MAP.replace("state: dscp", "state: pcp").replace("dscp2prio mapping:\n", "")
NO_MAP = "".join(line for line in PCP.splitlines(True) if "dscp:" not in line)
PFC = (
    '{"pfc_cap":8,"macsec_bypass":false,"delay":0,'
    '"prio_pfc":[false,false,false,true,true,false,false,false]}\n'
)
APP = '{"dscp_prio":[[26,3],[46,6]]}\n'
PAUSE = "Pause parameters for ens1:\nAutonegotiate:\toff\nRX:\t\t{rx}\nTX:\t\t{tx}\n\n"
SYSFS = "".join(
    f"{NET}/ens1/{name}:{value}\n"
    for name, value in (
        ("mtu", 9000),
        ("ecn/roce_np/enable/3", 1),
        ("ecn/roce_rp/enable/3", 1),
        ("ecn/roce_np/cnp_dscp", 48),
        ("ecn/roce_np/cnp_802p_prio", 6),
    )
)
TITLE = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
ROUTE = TITLE + "ens1\t0000010A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
ARP = "".join(
    f"{CONF}/{name}/{guard}:0\n"
    for name in ("all", "ens1", "ens2")
    for guard in ("arp_ignore", "arp_announce")
)

MISSING = outcome("", 127, "sh: 1: TOOL: not found\n")
UNSUPPORTED = outcome("\n", 1, "Attribute read: Operation not supported\n")

TEXTS: Mapping[str, str | Outcome] = {
    "qos-0-0": MAP,
    "pfc-0-0": PFC,
    "app-0-0": APP,
    "pause-0-0": PAUSE.format(rx="off", tx="off"),
    "sysfs-0": SYSFS,
    "route": ROUTE,
    "arp": ARP,
}


def end(rdma: RdmaPort = RDMA, text: str = TEXT, rail: str = "rail0") -> End:
    declared = cluster(text).nodes["gpu001"].rails[rail]
    return End(Port("gpu001", rail), declared, ends.FACTS, rdma)


def node(*ports: End) -> Subject:
    return Subject("gpu001", ends.FACTS, ports or (end(),))


def read(*ports: End, **texts: str | Outcome) -> Mapping[str, Mapping[str, Fact]]:
    said = {**TEXTS, **{name.replace("_", "-"): text for name, text in texts.items()}}
    answers = {name: said.get(name, "") for name in qos.sections(node(*ports))}
    return qos.read(
        node(*ports),
        {name: outcome(a) if isinstance(a, str) else a for name, a in answers.items()},
    )


def said(name: str, *ports: End, **texts: str | Outcome) -> float | str:
    fact = read(*ports, **texts)["gpu001:rail0"][f"roce.{name}"]
    assert fact.value is not None, fact.problem
    return fact.value


def problem(name: str, *ports: End, **texts: str | Outcome) -> str:
    fact = read(*ports, **texts)["gpu001:rail0"][f"roce.{name}"]
    assert fact.value is None
    assert fact.problem
    assert "\n" not in fact.problem
    return fact.problem


def test_a_port_says_everything_but_what_nobody_has_set_up() -> None:
    facts = read()["gpu001:rail0"]

    assert facts.keys() == TOPICS["qos"].keys()
    assert {name.partition(".")[2]: fact.value for name, fact in facts.items()} == {
        "trust": "dscp",
        "lossless": "3",
        "dscp_priority": 3,
        "ecn": "on",
        "cnp_dscp": 48,
        "cnp_priority": 6,
        "global_pause": "off",
        "gid_version": 2,
        "gid_index": 3,
        "gid_netdev": "ens1",
        "traffic_class_override": 0,
        "cma_tos": None,
        "netdev_mtu": 9000,
        "same_subnet": 0,
    }


def test_every_command_may_be_run() -> None:
    for words in qos.sections(node()).values():
        allowed.require(words)


def test_root_is_asked_for_only_where_the_profile_says_so() -> None:
    text = TEXT.replace("    limits:\n", "    sudo: [mlnx_qos]\n    limits:\n", 1)
    words = qos.sections(node(end(text=text)))["qos-0-0"]

    assert words == ("sudo", "-n", "mlnx_qos", "-i", "ens1")
    allowed.require(words)


@pytest.mark.parametrize(
    ("name", "texts", "value"),
    [
        ("trust", {"qos_0_0": NO_MAP}, "pcp"),
        ("trust", {"qos_0_0": MAP.replace("state: dscp", "state: both")}, "both"),
        ("trust", {"qos_0_0": MISSING}, "dscp"),
        ("trust", {"qos_0_0": MISSING, "app_0_0": "{}\n"}, "pcp"),
        ("lossless", {"qos_0_0": MAP.replace("0   1   0", "0   0   0")}, "none"),
        ("lossless", {"qos_0_0": MISSING}, "3,4"),
        ("lossless", {"qos_0_0": outcome("Netlink error: Operation not supported\n", 1)}, "3,4"),
        ("dscp_priority", {"qos_0_0": MISSING}, 3),
        ("ecn", {"sysfs_0": SYSFS.replace("roce_np/enable/3:1", "roce_np/enable/3:0")}, "off"),
        ("ecn", {"sysfs_0": SYSFS.replace("roce_rp/enable/3:1", "roce_rp/enable/3:0")}, "off"),
        ("cnp_dscp", {"sysfs_0": SYSFS.replace("dscp:48", "dscp:0")}, 0),
        ("global_pause", {"pause_0_0": PAUSE.format(rx="on", tx="off")}, "on"),
        ("global_pause", {"pause_0_0": PAUSE.format(rx="off", tx="on")}, "on"),
        ("netdev_mtu", {"sysfs_0": SYSFS.replace("mtu:9000", "mtu:1500")}, 1500),
        (
            "cma_tos",
            {
                "sysfs_0": "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos:106\n",
            },
            106,
        ),
    ],
)
def test_values(name: str, texts: dict[str, str | Outcome], value: object) -> None:
    assert said(name, **texts) == value


@pytest.mark.parametrize(
    ("name", "texts", "told"),
    [
        (
            "trust",
            {"qos_0_0": MISSING, "app_0_0": MISSING},
            "mlnx_qos is not installed: install mlnx-tools; dcb is not installed: install ipr",
        ),
        ("trust", {"qos_0_0": MISSING, "app_0_0": UNSUPPORTED}, "dcb: Attribute read: Operation"),
        (
            "trust",
            {"qos_0_0": outcome("", 1, "sudo: a password is required\n"), "app_0_0": UNSUPPORTED},
            "sudo: \\[mlnx_qos\\]",
        ),
        ("lossless", {"qos_0_0": MISSING, "pfc_0_0": "{}\n"}, "expected"),
        ("lossless", {"qos_0_0": MISSING, "pfc_0_0": outcome(PFC, 1, "oops\n")}, "status 1: oops"),
        ("dscp_priority", {"qos_0_0": NO_MAP}, "trusts PCP.*set trust to dscp"),
        (
            "dscp_priority",
            {"qos_0_0": MISSING, "app_0_0": '{"dscp_prio":[[46,6]]}\n'},
            "expected one priority for DSCP 26, found no priority",
        ),
        (
            "dscp_priority",
            {"qos_0_0": MISSING, "app_0_0": '{"dscp_prio":[[26,6],[26,3]]}\n'},
            "expected one priority for DSCP 26, found 3 and 6",
        ),
        ("ecn", {"sysfs_0": ""}, "driver of DOCA-Host or MLNX_OFED"),
        ("ecn", {"sysfs_0": SYSFS.replace("rp/enable/3:1", "rp/enable/3:yes")}, "DOCA-Host"),
        ("cnp_dscp", {"sysfs_0": ""}, "class of CNPs cannot be told"),
        ("cnp_priority", {"sysfs_0": SYSFS.replace("prio:6", "prio:-6")}, "DOCA-Host"),
        ("global_pause", {"pause_0_0": MISSING}, "ethtool is not installed"),
        ("global_pause", {"pause_0_0": PAUSE.format(rx="n/a", tx="on")}, "does not say RX"),
        (
            "global_pause",
            {"pause_0_0": outcome("", 76, "netlink error: Operation not supported\n")},
            "not supported",
        ),
        ("netdev_mtu", {"sysfs_0": ""}, "no MTU of ens1"),
        ("cma_tos", {}, "nobody has set one up"),
        ("same_subnet", {"route": ""}, "expected the kernel's routing table"),
        ("same_subnet", {"route": TITLE + "ens1\tx\n"}, "expected a route in each line"),
    ],
)
def test_problems(name: str, texts: dict[str, str | Outcome], told: str) -> None:
    assert re.search(told, problem(name, **texts))


@pytest.mark.parametrize(
    ("driver", "told"),
    [
        ("bnxt_en", "ask `niccli`"),
        ("ionic", "ask `nicctl show qos`"),
        ("ice", "driver ice"),
        ("", "driver unknown"),
    ],
)
def test_other_drivers_are_named_with_what_shows_it(driver: str, told: str) -> None:
    one = end(replace(RDMA, driver=driver))

    assert "qos-0-0" not in qos.sections(node(one))
    assert told in problem("ecn", one, sysfs_0="")
    assert told in problem("lossless", one, pfc_0_0=UNSUPPORTED)


def test_firmware_that_may_know_better_is_told_beside_the_value() -> None:
    fact = read(end(replace(RDMA, driver="bnxt_en")))["gpu001:rail0"]["roce.lossless"]

    assert fact.value == "3,4"
    assert any("niccli" in line for line in fact.detail)


def test_a_tool_that_hangs_says_nothing() -> None:
    subject = node()
    late = outcome(MAP, None, end="deadline")

    facts = qos.read(subject, dict.fromkeys(qos.sections(subject), late))["gpu001:rail0"]

    unread = {name for name, fact in facts.items() if fact.value is None}
    assert unread == facts.keys() - {
        "roce.gid_version",
        "roce.gid_index",
        "roce.gid_netdev",
        "roce.traffic_class_override",
    }


def test_what_a_profile_does_not_declare_has_no_value() -> None:
    text = TEXT.replace("lossless: [3], dscp: 26", "version: 2").replace("version: 2, ", "", 1)

    assert "add roce.dscp" in problem("dscp_priority", end(text=text))
    assert "add roce.dscp or roce.priority" in problem("ecn", end(text=text))


# What a DPU keeps from its host.

BLUEFIELD = "/sys/class/infiniband/mlx5_0/hca_type:MT41692\n"
DECLARED = TEXT.replace("dscp: 26}", "dscp: 26, trust: dscp, ecn: true}")


def test_a_bluefield_says_only_what_is_declared() -> None:
    """As a DPU it hides its settings from the host; without its own system the host decides."""
    one = end(text=DECLARED)

    assert said("lossless", one, sysfs_0=SYSFS + BLUEFIELD) == "3"
    assert said("trust", one, sysfs_0=SYSFS + BLUEFIELD) == "dscp"
    told = problem("lossless", one, sysfs_0=SYSFS + BLUEFIELD, qos_0_0=MISSING)
    assert "the host says 3,4" in told
    assert "BlueField" in told
    assert "BlueField" in problem("ecn", one, sysfs_0=BLUEFIELD)
    assert said("netdev_mtu", one, sysfs_0=SYSFS + BLUEFIELD) == 9000


# GIDs and overrides.


@pytest.mark.parametrize(
    ("gids", "value"),
    [(GIDS, 2), (GIDS[:2], 1), ((Gid(0, "::ffff:10.1.0.1", V1, None),), 1)],
)
def test_the_version_of_the_gid_in_the_network(gids: tuple[Gid, ...], value: int) -> None:
    assert said("gid_version", end(replace(RDMA, gids=gids))) == value


def test_without_a_gid_in_the_network_there_is_no_version() -> None:
    elsewhere = (GIDS[0], Gid(3, "::ffff:192.0.2.1", V2, "ens1"))
    one = end(replace(RDMA, gids=elsewhere))

    assert "expected a RoCE v2 GID in 10.1.0.0/16" in problem("gid_version", one)
    assert "expected a RoCE v2 GID in 10.1.0.0/16" in problem("gid_netdev", one)


def test_a_vlan_counts_with_its_mtu() -> None:
    one = end(replace(RDMA, gids=(Gid(3, "::ffff:10.1.0.1", V2, "ens1.100"),)))

    assert said("gid_netdev", one) == "ens1.100"
    assert said("netdev_mtu", one, sysfs_0=f"{SYSFS}{NET}/ens1.100/mtu:1500\n") == 1500
    assert "no MTU of ens1.100" in problem("netdev_mtu", one)


@pytest.mark.parametrize(
    ("forced", "value"), [(None, 0), (-1, 0), (106, 0), (104, 0), (0, 1), (96, 1)]
)
def test_an_override_counts_where_its_dscp_is_another(forced: int | None, value: int) -> None:
    assert said("traffic_class_override", end(replace(RDMA, traffic_class=forced))) == value


# Bonds.

BOND = replace(RDMA, netdevs=("ens1", "ens2"))
SECOND = {
    "qos_0_1": MAP,
    "pfc_0_1": PFC,
    "app_0_1": APP,
    "pause_0_1": PAUSE.format(rx="off", tx="off").replace("ens1", "ens2"),
    "sysfs_0": SYSFS + SYSFS.replace("ens1", "ens2"),
}


def test_the_members_of_a_bond_agree_or_are_told_apart() -> None:
    other = (
        SYSFS.replace("ens1", "ens2")
        .replace("dscp:48", "dscp:0")
        .replace("rp/enable/3:1", "rp/enable/3:0")
    )
    texts = {**SECOND, "sysfs_0": SYSFS + other}

    assert said("lossless", end(BOND), **SECOND) == "3"
    assert said("ecn", end(BOND), **texts) == "on+off"
    assert "the members of the bond differ, 48 and 0" in problem("cnp_dscp", end(BOND), **texts)


# Subnets.

TWO = TEXT.replace(
    "profiles:\n", '  rail1: {pci: "0000:3a:00.0", network: 10.2.0.0/16}\nprofiles:\n', 1
)
RDMA2 = replace(
    RDMA, device="mlx5_1", netdevs=("ens2",), gids=(Gid(3, "::ffff:10.2.0.1", V2, "ens2"),)
)


def route(name: str, address: str, mask: str, gateway: str = "00000000") -> str:
    return f"{name}\t{address}\t{gateway}\t0001\t0\t0\t0\t{mask}\t0\t0\t0\n"


def guards(**values: int) -> str:
    """Return the settings of ARP; `all_ignore=1` is that of all interfaces."""
    text = ARP
    for key, value in values.items():
        interface, _, name = key.partition("_")
        text = text.replace(f"{interface}/arp_{name}:0", f"{interface}/arp_{name}:{value}")
    return text


WIDE = TITLE + route("ens1", "0000000A", "000000FF") + route("ens2", "0000000A", "000000FF")


@pytest.mark.parametrize(
    ("routes", "arp", "value"),
    [
        (WIDE, ARP, 1),
        (WIDE, guards(all_ignore=1, all_announce=2), 0),
        (WIDE, guards(ens1_ignore=1, ens1_announce=2), 1),
        (WIDE, guards(ens1_ignore=1, ens1_announce=2, ens2_ignore=1, ens2_announce=1), 0),
        (WIDE, guards(all_ignore=1), 1),
        (
            TITLE + route("ens1", "0000010A", "0000FFFF") + route("ens2", "0000000A", "000000FF"),
            ARP,
            1,
        ),
        (
            TITLE + route("ens1", "0000010A", "0000FFFF") + route("ens2", "0000020A", "0000FFFF"),
            ARP,
            0,
        ),
        (TITLE, ARP, 0),
        (
            TITLE
            + route("ens1", "00000000", "00000000", "0100010A")
            + route("ens2", "00000000", "00000000", "0100020A"),
            ARP,
            0,
        ),
        (
            TITLE + route("ens1", "0000FEA9", "0000FFFF") + route("ens2", "0000FEA9", "0000FFFF"),
            ARP,
            0,
        ),
    ],
)
def test_rails_that_share_a_subnet_unguarded_are_counted(routes: str, arp: str, value: int) -> None:
    both = (end(text=TWO), end(RDMA2, TWO, "rail1"))
    texts = {"route": routes, "arp": arp, "qos_1_0": MAP, "sysfs_1": SYSFS}

    facts = read(*both, **texts)

    assert [facts[f"gpu001:{rail}"]["roce.same_subnet"].value for rail in ("rail0", "rail1")] == [
        value,
        value,
    ]


def test_an_unknown_guard_is_no_guard_and_no_fault() -> None:
    both = (end(text=TWO), end(RDMA2, TWO, "rail1"))

    told = problem("same_subnet", *both, route=WIDE, arp="")

    assert told.startswith("ens1 and ens2 share 10.0.0.0/8")


# What does not apply, and what is hostile.


def test_infiniband_is_not_asked_and_says_why() -> None:
    one = end(replace(RDMA, link_layer="InfiniBand"))
    subject = node(one)

    assert qos.sections(subject).keys() == {"route", "arp"}
    facts = read(one)["gpu001:rail0"]
    assert facts.keys() == TOPICS["qos"].keys()
    assert all("InfiniBand" in (f.problem or f.inapplicable or "") for f in facts.values())


def test_a_network_device_with_a_name_that_cannot_be_is_not_asked() -> None:
    one = end(replace(RDMA, netdevs=("$(reboot)",), gids=(Gid(3, GIDS[2].address, V2, "../x"),)))

    for words in qos.sections(node(one)).values():
        allowed.require(words)
    assert "no network device" in problem("trust", one)
    assert "no network device" in problem("netdev_mtu", one)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("text", ["\x1b[31m\x00\n", "<script>\n" * 50, "9" * 5000 + "\n", "{[\n"])
def test_hostile_text_makes_problems_of_one_line(name: str, text: str) -> None:
    for fact in read(**{name.replace("-", "_"): text})["gpu001:rail0"].values():
        assert fact.value is not None or fact.problem
        assert (fact.problem or "").isprintable()
        assert len(fact.problem or "") < 1000
