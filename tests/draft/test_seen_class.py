"""What a node shows of all classes, before one is declared; what hides it is no value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_fabric.draft import seen_class
from pytest_fabric.results import Fact
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Outcome
from tests.measure.topics import ends
from tests.measure.topics.ends import outcome

NET = "/sys/class/net/ens1"
APP = '{"dscp_prio":[[26,4],[46,6]]}\n'
PFC = (
    '{"pfc_cap":8,"macsec_bypass":false,"delay":0,'
    '"prio_pfc":[false,false,false,false,true,false,false,false]}\n'
)
ECN = "".join(
    f"{NET}/ecn/{point}/enable/{one}:{int(one == 4)}\n"
    for point in ("roce_np", "roce_rp")
    for one in range(8)
)
CNP = f"{NET}/ecn/roce_np/cnp_dscp:48\n{NET}/ecn/roce_np/cnp_802p_prio:6\n"
TEXTS: Mapping[str, str | Outcome] = {
    "qos-0-0": outcome("", 127, "sh: 1: mlnx_qos: not found\n"),
    "pfc-0-0": PFC,
    "app-0-0": APP,
    "sysfs-0": CNP,
    "ecn-0": ECN,
}


def seen(**changes: str | Outcome) -> Mapping[str, Fact]:
    """Return what a port says, some of its sections changed."""
    texts = {**TEXTS} | {name.replace("_", "-"): said for name, said in changes.items()}
    said = {
        name: text if isinstance(text, Outcome) else outcome(text) for name, text in texts.items()
    }
    return seen_class.read(ends.subject(replace(ends.RDMA, netdevs=("ens1",))), said)[
        "gpu001:rail0"
    ]


def values(facts: Mapping[str, Fact]) -> dict[str, float | str]:
    return {name: fact.value for name, fact in facts.items() if fact.value is not None}


def test_every_priority_and_every_dscp_is_told() -> None:
    """So that the class may be another one than that of the builtin profile."""
    found = values(seen())

    assert {name: found.pop(name) for name in ("roce.dscp.26", "roce.dscp.46")} == {
        "roce.dscp.26": 4,
        "roce.dscp.46": 6,
    }
    assert [found.pop(f"roce.ecn.{one}") for one in range(8)] == ["off"] * 4 + ["on"] + ["off"] * 3
    assert found == {
        "roce.trust": "dscp",
        "roce.lossless": "4",
        "roce.cnp_dscp": 48,
        "roce.cnp_priority": 6,
    }
    assert set(seen()) == set(seen_class.ALL)


@pytest.mark.parametrize(
    ("changes", "hidden", "said"),
    [
        ({"sysfs_0": "", "ecn_0": ""}, "roce.ecn.4", "install the driver of DOCA-Host"),
        ({"sysfs_0": "", "ecn_0": ""}, "roce.cnp_dscp", "install the driver of DOCA-Host"),
        ({"pfc_0_0": ends.MISSING}, "roce.lossless", "is not installed: install iproute2"),
        ({"app_0_0": "rubbish\n"}, "roce.trust", "dcb"),
        ({"ecn_0": outcome(ECN, None, end="deadline")}, "roce.ecn.4", "mlx5_core shows no"),
        (
            {"sysfs_0": f"/sys/class/infiniband/{ends.RDMA.device}/hca_type:MT41692\n"},
            "roce.lossless",
            "as a DPU its own system holds this",
        ),
    ],
)
def test_what_hides_is_no_value_and_has_a_remedy(
    changes: dict[str, str | Outcome], hidden: str, said: str
) -> None:
    fact = seen(**changes)[hidden]

    assert fact.value is None
    assert said in (fact.problem or "")


@pytest.mark.parametrize(("forced", "told"), [(106, 26), (0, 0), (-1, None), (None, None)])
def test_a_global_traffic_class_tells_the_dscp(forced: int | None, told: int | None) -> None:
    rdma = replace(ends.RDMA, traffic_class=forced)
    facts = seen_class.read(ends.subject(rdma), {})["gpu001:rail0"]

    assert facts["roce.told"].value == told


@pytest.mark.parametrize(("text", "told"), [("104", 26), ("0", None), ("x", None), ("999", None)])
def test_connections_of_rdma_cm_tell_it_too(text: str, told: int | None) -> None:
    """Zero is what nobody has set."""
    path = f"/sys/kernel/config/rdma_cm/{ends.RDMA.device}/ports/1/default_roce_tos"
    assert seen(sysfs_0=f"{path}:{text}\n")["roce.told"].value == told


def test_only_commands_that_read_are_run() -> None:
    """Each is on the list of what a node may be asked."""
    sections = seen_class.sections(ends.subject(ends.RDMA))

    assert {name.partition("-")[0] for name in sections} == {"sysfs", "qos", "pfc", "app", "ecn"}
    for words in sections.values():
        allowed.require(words, ())
    assert seen_class.sections(ends.infiniband(ends.RDMA)) == {}
    assert seen_class.read(ends.infiniband(ends.RDMA), {}) == {}
