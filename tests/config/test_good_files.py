"""What a correct cluster file becomes."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

import pydantic
import pytest

from pytest_fabric.config import Cluster, load
from pytest_fabric.results import Port
from pytest_fabric.units import Quantity
from tests.clusters import TEXT, cluster

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pod() -> Cluster:
    return load(Path(__file__).parent / "good" / "pod.yaml")


def test_the_embedded_lab_has_four_nodes_of_two_rails() -> None:
    """The cluster file of the repository works on any machine."""
    lab = load(ROOT / "cluster.yaml")

    assert lab.transport == "lab"
    assert [str(port) for port in lab.ports()] == [
        f"gpu00{node}:rail{rail}" for node in (1, 2, 3, 4) for rail in (0, 1)
    ]
    assert lab.pairs.strategy == "ring"
    assert lab.rail(Port("gpu001", "rail0")).profile.line_rate_bps == 400e9


def test_pairs_are_few_and_on_their_rails_unless_said_otherwise() -> None:
    """The default reaches every leaf; all keys are read."""
    silent = cluster(TEXT.replace("pairs: {strategy: ring}", "")).pairs
    keys = "pairs: {strategy: random, seed: 7, peers: 2, cross_rail: yes}"
    said = cluster(TEXT.replace("pairs: {strategy: ring}", keys)).pairs

    assert (silent.strategy, silent.seed, silent.peers, silent.cross_rail) == ("cover", 1, 4, False)
    assert (said.strategy, said.seed, said.peers, said.cross_rail) == ("random", 7, 2, True)


def test_node_sets_keep_the_order_of_the_file(pod: Cluster) -> None:
    """Ids come in the order of the inventory, sets expanded in their own order."""
    assert list(pod.nodes) == [
        *("gpu001", "gpu002", "gpu003", "gpu010", "gpu020", "stor1", "stor2", "fd")
    ]


def test_ports_of_excluded_nodes_are_left_out(pod: Cluster) -> None:
    """An excluded node is known, with its reason, and not measured."""
    assert pod.excluded == dict.fromkeys(("gpu003", "gpu010"), "drained, INC-4711")
    assert [str(port) for port in pod.ports()] == [
        *("gpu001:rail0", "gpu001:rail1", "gpu002:rail0", "gpu002:rail1", "gpu020:rail0"),
        *("stor1:front", "stor2:front", "fd:ib0"),
    ]


@pytest.mark.parametrize(
    ("node", "address", "port", "oob"),
    [
        ("gpu001", "gpu001.mgmt", None, "auto"),
        ("gpu020", "gpu020", 2201, "rail"),
        ("stor2", "stor2-bmc", 22, "auto"),
        ("fd", "fd00::7", None, "mgmt"),
    ],
)
def test_addresses_are_split(
    pod: Cluster, node: str, address: str, port: int | None, oob: str
) -> None:
    """An address has a host, maybe with the node's name in it, and maybe a port."""
    found = pod.nodes[node]

    assert (found.address, found.port, found.oob) == (address, port, oob)


@pytest.mark.parametrize(
    ("port", "selector"),
    [
        (Port("gpu001", "rail0"), "pci 0000:01:00.0"),
        (Port("gpu001", "rail1"), "netdev ens1f1np1"),
        (Port("gpu020", "rail0"), "device mlx5_2"),
        (Port("stor1", "front"), "netdevs ens1f0,ens1f1"),
        (Port("fd", "ib0"), "guid 248a:0703:0012:ab34"),
    ],
    ids=str,
)
def test_selectors_are_spelled_as_in_sysfs(pod: Cluster, port: Port, selector: str) -> None:
    """A port is found by comparing its selector with what sysfs says."""
    assert str(pod.rail(port).selector) == selector


def test_a_plain_scalar_is_what_its_key_says(pod: Cluster) -> None:
    """`0000:01:00.0` is no number of minutes, `no` no flag, `0777` no octal, 28.10 no 28.1."""
    rail0, rail1 = pod.nodes["gpu001"].rails.values()

    assert (rail0.leaf, rail1.leaf) == ("no", "0777")
    assert rail0.gpu == "0000:1b:00.0"
    assert pod.profiles["ndr"].firmware == {"MT_0000000838": "28.10"}
    assert pod.lab.perftest == {"gpu001": "6.10", "gpu002": "6.10"}
    assert pod.lab.adapters == {"gpu001": "thor2", "gpu002": "thor2"}
    assert pod.fabric.dedicated is True


def test_a_rail_may_have_a_profile_of_its_own(pod: Cluster) -> None:
    """Rails of a node set stand instead of the common ones."""
    node = pod.node(Port("gpu020", "rail0"))

    assert list(node.rails) == ["rail0"]
    assert node.profile.name == "cx7"
    assert node.rails["rail0"].profile.name == "slow"
    assert node.rails["rail0"].profile.line_rate_bps == 200e9


def test_sections_are_read(pod: Cluster) -> None:
    """Texts become what they say: words, ranges, shares, days, quantities."""
    assert pod.ssh.connect_timeout == Quantity(2.5, "s")
    assert pod.ssh.config == Path(__file__).parent / "good" / "ssh_config"
    assert (pod.ssh.user, pod.ssh.jump, pod.ssh.port) == ("ops", "bastion", 2222)
    assert (pod.fabric.routing, pod.fabric.oversubscription) == ("adaptive", 1.5)
    assert pod.tools.prefix == ("podman", "exec", "perf box")
    assert pod.tools.ports == (18515, 18600)
    assert pod.min_coverage == 0.98
    assert pod.waivers[0].until == datetime.date(2027, 1, 15)
    assert (pod.lab.seed, pod.lab.time) == (7, 0.5)
    assert pod.rail(Port("stor1", "front")).network == ipaddress.ip_network("fd00:1::/64")
    assert pod.rail(Port("stor1", "front")).netdevs == ("ens1f0", "ens1f1")


def test_listed_pairs_are_port_ids(pod: Cluster) -> None:
    """A pair may be written as one text or as a list of two."""
    assert pod.pairs.list == (("gpu001:rail0", "gpu002:rail0"), ("gpu002:rail1", "gpu001:rail1"))


def test_nodes_of_one_set_share_their_rails(pod: Cluster) -> None:
    """A thousand nodes do not mean a thousand copies of their rails."""
    assert pod.nodes["gpu001"].rails["rail0"] is pod.nodes["gpu002"].rails["rail0"]


def test_a_cluster_is_frozen(pod: Cluster) -> None:
    """Nothing changes what the file says."""
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        pod.nodes["gpu001"].address = "elsewhere"


def test_an_unknown_port_is_a_key_error(pod: Cluster) -> None:
    """Ports come from the inventory."""
    with pytest.raises(KeyError):
        pod.rail(Port("gpu001", "rail9"))
