"""The lab's tools of QoS print what our parsers read as the model says."""

from __future__ import annotations

import pytest

from pytest_fabric.lab.faults import CATALOGUE
from pytest_fabric.lab.filesystem import View
from pytest_fabric.tools import dcb_app, dcb_pfc, ethtool_pause, mlnx_qos

from .clusters import INFINIBAND, ROCE, fabric, nodes, port, run

NETDEV = "enp26s0np0"
NET = f"/sys/class/net/{NETDEV}"


def said(line: str, *faults: str, text: str = ROCE) -> str:
    result = run(line, text, "gpu001", *faults)
    assert (result.status, result.stderr) == (0, "")
    return result.stdout


def view(*faults: str, text: str = ROCE) -> View:
    world = fabric(text, *faults)
    return world.view(world.nodes["gpu001"])


@pytest.mark.parametrize(
    ("faults", "trust", "pfc", "priority"),
    [
        ((), "dscp", (3,), 3),
        (("pfc_off",), "dscp", (), 3),
        (("pfc_other_priority",), "dscp", (4,), 3),
        (("dscp_map",), "dscp", (3,), 0),
        (("trust_pcp",), "pcp", (3,), None),
    ],
)
def test_both_tools_say_the_same(
    faults: tuple[str, ...], trust: str, pfc: tuple[int, ...], priority: int | None
) -> None:
    placed = tuple(f"{fault}@gpu001:rail0" for fault in faults)
    qos = mlnx_qos.parse(said(f"mlnx_qos -i {NETDEV}", *placed))
    kernel = dcb_pfc.parse(said(f"dcb -N -j pfc show dev {NETDEV}", *placed))
    rules = dcb_app.parse(said(f"dcb -N -j app show dev {NETDEV}", *placed))

    assert (qos.trust, qos.pfc, qos.dscps.get(26)) == (trust, pfc, priority)
    assert kernel.pfc_priorities == pfc
    assert {rule.key: rule.priority for rule in rules} == qos.dscps


@pytest.mark.parametrize(("faults", "flag"), [((), False), (("global_pause",), True)])
def test_global_pause(faults: tuple[str, ...], flag: bool) -> None:
    text = said(f"ethtool -a {NETDEV}", *(f"{fault}@gpu001:rail0" for fault in faults))
    (pause,) = ethtool_pause.parse(text)

    assert (pause.device, pause.rx, pause.tx) == (NETDEV, flag, flag)


@pytest.mark.parametrize(
    ("line", "status", "shown"),
    [
        ("mlnx_qos -i none", 1, "Interface none does not exist"),
        ("mlnx_qos --help", 1, "Interface name is required"),
        ("mlnx_qos -i lo", 1, "Netlink error: Operation not supported"),
        ("dcb -N -j pfc show dev none", 1, "No such device"),
        ("dcb -N -j app show dev lo", 1, "Operation not supported"),
        ("dcb -N -j ets show dev lo", 1, "is unknown"),
        ("ethtool -a none", 76, "No such device"),
        ("ethtool -a lo", 76, "Operation not supported"),
    ],
)
def test_complaints(line: str, status: int, shown: str) -> None:
    result = run(line)

    assert result.status == status
    assert shown in result.stdout + result.stderr


def test_infiniband_has_none_of_it() -> None:
    world = fabric(INFINIBAND)
    files = world.view(world.nodes["ib1"])

    assert files.glob("/sys/class/net/*/ecn") == []
    assert files.glob("/sys/class/infiniband/*/tc") == []
    for line in ("mlnx_qos -i ibp26s0", "dcb -N -j pfc show dev ibp26s0", "ethtool -a ibp26s0"):
        assert run(line, INFINIBAND, "ib1").status != 0


@pytest.mark.parametrize(
    ("fault", "path", "healthy", "faulty"),
    [
        ("ecn_np_off", f"{NET}/ecn/roce_np/enable/3", "1", "0"),
        ("ecn_rp_off", f"{NET}/ecn/roce_rp/enable/3", "1", "0"),
        ("cnp_class", f"{NET}/ecn/roce_np/cnp_dscp", "48", "0"),
        ("cnp_class", f"{NET}/ecn/roce_np/cnp_802p_prio", "6", "0"),
        ("netdev_mtu", f"{NET}/mtu", "9000", "4096"),
        (
            "tclass_override",
            "/sys/class/infiniband/mlx5_0/tc/1/traffic_class",
            "",
            "Global tclass=0",
        ),
    ],
)
def test_files(fault: str, path: str, healthy: str, faulty: str) -> None:
    assert view().read(path) == healthy
    assert view(f"{fault}@gpu001:rail0").read(path) == faulty


def test_what_a_profile_declares_is_there() -> None:
    declared = "dscp: 26, ecn: false, trust: pcp, cnp: {dscp: 40, priority: 5}}"
    text = ROCE.replace("dscp: 26}", declared)
    one = port(text)

    assert (one.trust, one.ecn, one.cnp) == ("pcp", frozenset(), (40, 5))
    assert one.priority_of(26) == 3


@pytest.mark.parametrize(
    ("fault", "priority"),
    [("trust_pcp", 0), ("dscp_map", 0), ("tclass_override", 0), ("pfc_off", 3), ("cnp_class", 3)],
)
def test_where_traffic_goes(fault: str, priority: int) -> None:
    assert port(ROCE, "gpu001:rail0", f"{fault}@gpu001:rail0").priority_of(26) == priority


@pytest.mark.parametrize(
    ("fault", "at_sender", "at_receiver"),
    [
        ("trust_pcp", 3, 0),  # DSCP is on the wire whatever the sender trusts
        ("dscp_map", 3, 0),
        ("tclass_override", 0, 3),
        ("default_class", 0, 3),
    ],
)
def test_where_traffic_arrives(fault: str, at_sender: int, at_receiver: int) -> None:
    """Each end counts by its own rules what the other has put on the wire."""
    other = port(ROCE, "gpu002:rail0")
    faulty = port(ROCE, "gpu001:rail0", f"{fault}@gpu001:rail0")

    assert (other.arrival(faulty, 26), faulty.arrival(other, 26)) == (at_sender, at_receiver)


def routes(files: View) -> dict[str, tuple[str, str]]:
    lines = [line.split() for line in files.read("/proc/net/route").splitlines()[1:]]
    return {line[0]: (line[1], line[7]) for line in lines if line[2] == "00000000"}


def test_rails_have_subnets_of_their_own_until_their_mask_is_too_wide() -> None:
    healthy, faulty = view(), view("rails_one_subnet@gpu001")

    assert routes(healthy)[NETDEV] == ("0000010A", "0000FFFF")
    assert routes(healthy)["enp58s0np0"] == ("0000020A", "0000FFFF")
    assert routes(faulty)[NETDEV] == routes(faulty)["enp58s0np0"] == ("0000000A", "0000FCFF")


def test_rails_that_are_declared_in_one_subnet_are_guarded() -> None:
    text = ROCE.replace("10.2.0.0/16", "10.1.0.0/16")
    path = "/proc/sys/net/ipv4/conf/all/arp_ignore"

    assert (view().read(path), view(text=text).read(path)) == ("0", "1")
    assert view("rails_one_subnet@gpu001", text=text).read(path) == "0"


def test_the_network_of_a_fault_holds_all_rails() -> None:
    node = nodes(ROCE, "rails_one_subnet@gpu001")["gpu001"]

    assert {str(port.network) for port in node.ports} == {"10.0.0.0/14"}
    assert "rails_one_subnet" in CATALOGUE
