"""A sweep of the InfiniBand fabric: its manager, what is down, slow or without a LID."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.config import Cable, load_text
from pytest_fabric.measure.topics import subnet
from pytest_fabric.results import Fact, Port
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Outcome
from tests.lab.clusters import INFINIBAND

from .ends import RDMA, infiniband, outcome, subject

MASTER = outcome(
    "sminfo: sm lid 3 sm guid 0x20000000000f0, activity count 7 priority 14 state 3 SMINFO_MASTER\n"
)
STANDBY = outcome(
    "sminfo: sm lid 9 sm guid 0x20000000000f9, activity count 0 priority 0 state 2 SMINFO_STANDBY\n"
)
SILENT = outcome("", 255, "sminfo: iberror: failed: query\n")


def port(
    guid: str, name: str, number: int, state: str, *, lid: int = 3, peer: str = "", hint: str = " "
) -> str:
    """Return a line of iblinkinfo; a peer is GUID, name and number."""
    head = f'0x{guid:0>16} "{name:>30}" {lid:6} {number:4}[  ]'
    if not peer:
        return f'{head} ==({"":23}{state})==>             [  ] "" ( )\n'
    other, its_name, its_number = peer.split(" ")
    end = f'0x{other:0>16}     21 {its_number:>4}[  ] "{its_name}" ({hint})'
    return f"{head} ==( 4X       106.25 Gbps {state})==>  {end}\n"


WHOLE = port("a1", "ib1", 1, "Active/  LinkUp", lid=21, peer="f0 leaf-0 9")
WHOLE += port("f0", "leaf-0", 9, "Active/  LinkUp", peer="a1 ib1 1")
WHOLE += port("f0", "leaf-0", 40, "Active/  LinkUp", peer="f1 spine-1 1")
WHOLE += port("f1", "spine-1", 1, "Active/  LinkUp", lid=5, peer="f0 leaf-0 40")
WHOLE += port("f0", "leaf-0", 10, "  Down/ Polling")
WHOLE += port("f0", "leaf-0", 11, "  Down/Disabled")


def read(
    links: Outcome, manager: Outcome = MASTER, cables: tuple[Cable, ...] = ()
) -> Mapping[str, Fact]:
    node = infiniband(RDMA, cables=cables)
    return subnet.read(node, {"sminfo-0": manager, "links-0": links})["fabric"]


def values(facts: Mapping[str, Fact]) -> list[float | str | None]:
    return [facts[metric].value for metric in subnet.METRICS]


def test_a_sound_fabric() -> None:
    """Ports without a cable are none of its links."""
    assert values(read(outcome(WHOLE))) == ["master", 1, 0, 0, 0]


def test_the_manager_is_named_by_where_it_runs() -> None:
    (line,) = read(outcome(WHOLE))["subnet.manager"].detail

    assert line.startswith("from ib1 mlx5_0: master at LID 3, leaf-0, GUID 0x00020000000000f0")


@pytest.mark.parametrize(
    ("line", "metric", "detail"),
    [
        (
            port("f0", "leaf-0", 12, "Initialize/  LinkUp", peer="b1 ib2 1"),
            "links_down",
            "leaf-0 port 12 to ib2 port 1: INIT/LinkUp",
        ),
        (
            port("f0", "leaf-0", 12, "  Down/LinkErrorRecovery"),
            "links_down",
            "leaf-0 port 12: DOWN/LinkErrorRecovery",
        ),
        (
            port(
                "f0", "leaf-0", 12, "Active/  LinkUp", peer="b1 ib2 1", hint="Could be 212.5 Gbps"
            ),
            "slow_links",
            "leaf-0 port 12 to ib2 port 1: 4X NDR, could be 4X XDR",
        ),
        (
            port("b1", "ib2", 1, "Active/  LinkUp", lid=0, peer="f0 leaf-0 12"),
            "ports_without_lid",
            "ib2: no LID",
        ),
    ],
)
def test_what_is_wrong_with_a_link(line: str, metric: str, detail: str) -> None:
    facts = read(outcome(WHOLE + line))

    assert facts[f"subnet.{metric}"].value == 1
    assert facts[f"subnet.{metric}"].detail[0] == detail


def test_a_link_is_counted_once_of_both_ends() -> None:
    both = port("f0", "leaf-0", 12, "Active/  LinkUp", peer="b1 ib2 1", hint="Could be 8X ")
    both += port("b1", "ib2", 1, "Active/  LinkUp", peer="f0 leaf-0 12", hint="Could be 8X ")

    assert read(outcome(WHOLE + both))["subnet.slow_links"].value == 1


def test_a_dark_port_counts_where_the_plan_has_a_cable() -> None:
    cable = Cable(port=Port("ib2", "rail0"), switch="LEAF-0", switch_port="10", source="c.csv:3")
    fact = read(outcome(WHOLE), cables=(cable,))["subnet.links_down"]

    assert fact.value == 1
    assert fact.detail[0] == "leaf-0 port 10: DOWN/Polling, planned for ib2:rail0 (c.csv:3)"


@pytest.mark.parametrize(
    ("manager", "state", "masters"),
    [(MASTER, "master", 1), (STANDBY, "standby", 0), (SILENT, "none", 0)],
)
def test_managers(manager: Outcome, state: str, masters: int) -> None:
    facts = read(outcome(WHOLE), manager)

    assert (facts["subnet.manager"].value, facts["subnet.managers"].value) == (state, masters)


OTHER = MASTER.stdout.replace("0f0", "0f7")


@pytest.mark.parametrize(("links", "masters"), [(WHOLE, 2), (WHOLE.replace("f0", "e0"), 1)])
def test_two_masters_are_wrong_in_one_subnet_and_right_in_two(links: str, masters: int) -> None:
    """Rails may be subnets of their own; ports that sweep the same switches are in one."""
    second = "rails:\n  rail1: {device: mlx5_4}\n"
    site = load_text(INFINIBAND.replace("rails:\n", second), Path("cluster.yaml"))
    ports = [replace(RDMA, link_layer="InfiniBand", device=name) for name in ("mlx5_3", "mlx5_4")]
    outcomes = {
        "sminfo-0": MASTER,
        "links-0": outcome(WHOLE),
        "sminfo-1": outcome(OTHER),
        "links-1": outcome(links),
    }

    facts = subnet.read(subject(*ports, site=site), outcomes)["fabric"]

    assert facts["subnet.managers"].value == masters


@pytest.mark.parametrize(
    ("links", "manager", "problem", "hidden"),
    [
        (
            outcome("", 127, "sh: 1: iblinkinfo: not found\n"),
            MASTER,
            "from ib1: iblinkinfo is not installed: install infiniband-diags",
            subnet.LINK_METRICS,
        ),
        (outcome("", 1, "discover failed\n"), MASTER, "discover failed", subnet.LINK_METRICS),
        (outcome(""), MASTER, "by hand", subnet.LINK_METRICS),
        (
            outcome(
                WHOLE,
                0,
                "src/query_smp.c:227; umad (DR path) bad status 110; Connection timed out\n",
            ),
            MASTER,
            "Connection timed out",
            subnet.LINK_METRICS,
        ),
        (outcome("", None, end="deadline"), MASTER, "did not come to its end", subnet.LINK_METRICS),
        (
            outcome(WHOLE),
            outcome("", 255, "sminfo: iberror: failed: Failed to open '(null)' port '0'\n"),
            "sminfo",
            subnet.MANAGER_METRICS,
        ),
        (
            outcome(WHOLE),
            outcome("", 127, "sh: 1: sminfo: not found\n"),
            "install",
            subnet.MANAGER_METRICS,
        ),
    ],
)
def test_what_hides_it(
    links: Outcome, manager: Outcome, problem: str, hidden: tuple[str, ...]
) -> None:
    """A sweep of which a part did not answer is none: it could hide what is wrong."""
    facts = read(links, manager)

    assert set(facts) == set(subnet.METRICS)
    assert all(facts[metric].value is None for metric in hidden)
    assert all(problem in (facts[metric].problem or "") for metric in hidden)


def test_a_node_whose_ports_are_down_cannot_be_asked() -> None:
    node = infiniband(replace(RDMA, physical_state="Polling"))

    assert subnet.sections(node) == {}
    facts = subnet.read(node, {})["fabric"]
    assert all("whose link is up" in (fact.problem or "") for fact in facts.values())


def test_a_subnet_that_is_not_seen_from_a_node_is_not_passed_over() -> None:
    """Its other rail is down: the sweep of the first says nothing about the second's subnet."""
    second = "rails:\n  rail1: {device: mlx5_4}\n"
    site = load_text(INFINIBAND.replace("rails:\n", second), Path("cluster.yaml"))
    seen = replace(RDMA, link_layer="InfiniBand", device="mlx5_3")
    node = subject(seen, replace(seen, device="mlx5_4", physical_state="Polling"), site=site)

    facts = subnet.read(node, {"sminfo-0": MASTER, "links-0": outcome(WHOLE)})["fabric"]

    assert all("its subnet is not seen" in (fact.problem or "") for fact in facts.values())


def test_what_is_sent_is_on_the_allow_list() -> None:
    sections = subnet.sections(infiniband(RDMA))

    assert list(sections) == ["sminfo-0", "links-0"]
    for words in sections.values():
        allowed.require(words)
