"""From what nodes show to a cluster file: rails by place, profiles by hardware, all of it valid."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.config import Cluster, load_text
from pytest_fabric.draft import kinds, rails, text
from pytest_fabric.draft.hosts import Host
from pytest_fabric.draft.seen import SeenNode, SeenPort
from pytest_fabric.results import Gid, NodeFacts, PciHop, Port, RdmaPort


def port(pci: str, address: str, **changes: object) -> SeenPort:
    """Return a sound 400G port of a ConnectX-7, changed."""
    hop = PciHop(pci, 32e9, 16, 32e9, 16)
    values: dict[str, object] = {
        "device": f"mlx5_{pci[5:7]}",
        "number": 1,
        "pci": pci,
        "driver": "mlx5_core",
        "guid": "",
        "firmware": "28.39.1002",
        "psid": "MT_0000000838",
        "netdevs": (f"ens{pci[5:7]}",),
        "link_layer": "Ethernet",
        "state": "ACTIVE",
        "physical_state": "LinkUp",
        "speed_bps": 400e9,
        "width": 4,
        "active_mtu": 4096,
        "gids": (Gid(3, f"::ffff:{address}", "RoCE v2", "ens"),) if address else (),
        "numa_node": 0,
        "local_cpus": "0-7",
        "irq_cpus": (),
        "traffic_class": None,
        "pcie": (hop,),
    }
    return SeenPort(RdmaPort(**{**values, **changes}))  # type: ignore[arg-type]


def node(name: str, *ports: SeenPort, sudo: frozenset[str] = frozenset()) -> SeenNode:
    facts = NodeFacts(name, "6.8", None, {}, None, (), {}, {}, tuple(p.rdma for p in ports))
    return SeenNode(name, facts, ports, sudo)


def drafted(
    *nodes: SeenNode,
    excluded: Mapping[str, str] | None = None,
    leaves: Mapping[Port, str] | None = None,
) -> tuple[str, Cluster]:
    """Return what is written of nodes, and the cluster that it describes."""
    found = rails.find(nodes)
    sorts, of, odd = kinds.sort(found, nodes)
    hosts = tuple(Host(name) for name in (*(n.name for n in nodes), *(excluded or {})))
    draft = text.Draft(
        "fabric",
        "2026-11-29",
        ("transport: ssh",),
        hosts,
        found,
        rails.networks(found),
        tuple(sorts),
        of,
        tuple(odd),
        excluded or {},
        leaves or {},
    )
    written = text.write(draft)
    return written, load_text(written, Path("cluster.yaml"))


def two(**changes: object) -> list[SeenNode]:
    return [
        node(
            f"gpu00{n}",
            port("0000:3a:00.0", f"10.2.0.{n}"),
            port("0000:1a:00.0", f"10.1.0.{n}", **changes),
        )
        for n in (1, 2)
    ]


def test_alike_nodes_share_rails_in_the_order_of_their_slots() -> None:
    """Whatever order the devices came in."""
    written, cluster = drafted(*two())

    assert "gpu[001-002]: {profile: cx7-400g-roce}" in written
    assert [str(port) for port in cluster.ports()][:2] == ["gpu001:rail0", "gpu001:rail1"]
    rail = cluster.nodes["gpu002"].rails["rail0"]
    assert (rail.selector.value, str(rail.network)) == ("0000:1a:00.0", "10.1.0.0/24")


def test_a_node_that_differs_has_rails_of_its_own_with_the_names_of_its_slots() -> None:
    """A missing card must not let the others be called after the wrong slot."""
    odd = node("gpu003", port("0000:3a:00.0", "10.2.0.3"), port("0000:5a:00.0", "10.5.0.3"))
    _, cluster = drafted(*two(), odd)

    own = {name: rail.selector.value for name, rail in cluster.nodes["gpu003"].rails.items()}
    assert own == {"rail0": "0000:5a:00.0", "rail1": "0000:3a:00.0"}
    assert set(cluster.nodes["gpu001"].rails) == {"rail0", "rail1"}


def test_nodes_on_other_leaves_stand_apart() -> None:
    """A leaf belongs to the ports that are cabled to it."""
    leaves = {Port("gpu001", "rail0"): "leaf-0", Port("gpu002", "rail0"): "leaf-7"}
    _, cluster = drafted(*two(), leaves=leaves)

    found = {name: node.rails["rail0"].leaf for name, node in cluster.nodes.items()}
    assert found == {"gpu001": "leaf-0", "gpu002": "leaf-7"}


def test_a_port_that_is_down_beside_its_peers_stays_a_rail_and_is_told() -> None:
    """Else the broken cable would be the one that nothing checks."""
    first, second = two()
    broken = node("gpu002", second.ports[0], port("0000:1a:00.0", "", state="DOWN", speed_bps=None))
    written, cluster = drafted(first, broken)

    assert "rail0" in cluster.nodes["gpu002"].rails
    assert "left out" not in written


def test_a_port_that_is_of_no_use_anywhere_is_a_comment() -> None:
    """It is neither tested nor forgotten."""
    written, cluster = drafted(*two(state="DOWN", gids=()))

    assert list(cluster.nodes["gpu001"].rails) == ["rail0"]
    assert "# left out: pci 0000:1a:00.0 (mlx5_1a): its state is DOWN, on gpu[001-002]" in written


def test_virtual_functions_are_no_rails() -> None:
    """Whether they have an address or not: they are the card's own link once more."""
    first, second = two()
    virtual = port("0000:1a:00.2", "10.1.0.9", physical="0000:1a:00.0")
    written, cluster = drafted(node("gpu001", *first.ports, virtual, virtual), second)

    assert list(cluster.nodes["gpu001"].rails) == list(cluster.nodes["gpu002"].rails)
    assert "# left out: 2 virtual functions (SR-IOV) of cards, on gpu001" in written


def test_other_hardware_has_a_profile_of_its_own_with_what_was_found() -> None:
    """What the builtin profile says of speed and slot is replaced, the rest is kept."""
    hop = PciHop("0000:1a:00.0", 16e9, 16, 16e9, 16)
    written, cluster = drafted(*two(speed_bps=200e9, psid="MT_2", firmware="20.1", pcie=(hop,)))

    rail = cluster.nodes["gpu001"].rails["rail0"]
    assert rail.profile.name == "cx6-200g-roce"
    assert rail.profile.line_rate_bps == 200e9
    assert rail.profile.limits["pcie.speed"].text == "== 16 GT/s"
    assert 'MT_2: "20.1"' in written
    assert cluster.nodes["gpu001"].rails["rail1"].profile.name == "cx7-400g-roce"


@pytest.mark.parametrize(
    ("driver", "layer", "speed_bps", "base", "name"),
    [
        ("mlx5_core", "Ethernet", 100e9, "cx5-100g-roce", "cx5-100g-roce"),
        ("mlx5_core", "Ethernet", 800e9, "cx7-400g-roce", "cx7-800g-roce"),
        ("mlx5_core", "Ethernet", None, "cx7-400g-roce", "cx7-400g-roce"),
        ("mlx5_core", "InfiniBand", 200e9, "cx6-200g-hdr", "cx6-200g-hdr"),
        ("ionic", "Ethernet", 400e9, "pollara-400g-roce", "pollara-400g-roce"),
        ("efa", "Unknown", 100e9, "efa-100g", "efa-100g"),
        ("efa", "Unspecified", 200e9, "efa-100g", "efa-200g"),
    ],
)
def test_a_card_gets_the_builtin_profile_of_its_driver_layer_and_speed(
    driver: str, layer: str, speed_bps: float | None, base: str, name: str
) -> None:
    """And a speed that no builtin profile has is declared on top of the first."""
    changes = {"driver": driver, "link_layer": layer, "speed_bps": speed_bps}
    ports = [port("0000:1a:00.0", f"10.1.0.{n}", **changes) for n in (1, 2)]
    written, cluster = drafted(node("gpu001", ports[0]), node("gpu002", ports[1]))

    profile = cluster.nodes["gpu001"].rails["rail0"].profile
    assert profile.name == name
    assert profile.line_rate_bps == (speed_bps or 400e9)
    assert f"builtin/{base}" in written


def test_what_most_ports_have_is_declared_and_the_others_are_named() -> None:
    """A narrow slot is no reason to expect narrow slots."""
    slow = (PciHop("0000:1a:00.0", 32e9, 8, 32e9, 16),)
    third = node("gpu003", port("0000:3a:00.0", "10.2.0.3"), port("0000:1a:00.0", "", pcie=slow))
    written, cluster = drafted(*two(), third)

    assert "gpu003:rail0: pcie.width is 8, 5 others of its kind 16" in written
    assert "8" not in cluster.profiles["cx7-400g-roce"].limits["pcie.width"].text


def test_infiniband_and_unknown_cards_get_the_nearest_profile() -> None:
    """And a comment says so where no profile is for the card."""
    written, cluster = drafted(
        node("a", port("0000:1a:00.0", "", link_layer="InfiniBand")),
        node("b", port("0000:1a:00.0", "10.1.0.1", driver="odd", psid=None)),
    )

    assert cluster.nodes["a"].rails["rail0"].profile.link.layer == "InfiniBand"
    assert "No builtin profile is for cards of odd" in written


def test_nodes_that_did_not_answer_are_described_and_excluded() -> None:
    """They are neither forgotten nor measured."""
    _, cluster = drafted(*two(), excluded={"gpu009": 'did "not"\nanswer'})

    assert "gpu009" in cluster.nodes
    assert cluster.excluded == {"gpu009": 'did "not"?answer'}


def test_what_sudo_allows_everywhere_is_declared() -> None:
    """A tool that one node refuses would be an error there."""
    some = frozenset({"mlxlink", "lspci"})
    nodes = [
        node("a", port("0000:1a:00.0", "10.1.0.1"), sudo=some),
        node("b", port("0000:1a:00.0", "10.1.0.2"), sudo=some - {"lspci"}),
    ]
    _, cluster = drafted(*nodes)
    assert cluster.profiles["cx7-400g-roce"].sudo == ("mlxlink",)


TEXTS = st.text(min_size=1, max_size=20)


@settings(max_examples=10, deadline=None)
@given(firmware=TEXTS, psid=TEXTS, device=TEXTS, leaf=TEXTS, reason=TEXTS)
def test_whatever_nodes_say_a_cluster_file_comes_of_it(
    firmware: str, psid: str, device: str, leaf: str, reason: str
) -> None:
    """Quotes, line ends and keys of YAML in what nodes say change nothing but words."""
    nodes = [
        node(
            "a",
            port("0000:1a:00.0", "10.1.0.1", firmware=firmware, psid=psid, device=device),
            port("0000:2a:00.0", "", state=device),
        )
    ]
    leaves = {Port("a", "rail0"): leaf} if leaf.strip() else {}
    _, cluster = drafted(*nodes, excluded={"b": f"no {reason}"}, leaves=leaves)

    assert set(cluster.nodes) == {"a", "b"}
    assert cluster.transport == "ssh"
