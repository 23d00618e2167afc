"""Clusters for tests of the lab, and the lab's fabric of one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pytest_fabric.config import Cluster, load_text
from pytest_fabric.lab import build, faults, shell
from pytest_fabric.lab.commands import start
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.model import Node, Port
from pytest_fabric.lab.process import Result

ROCE = """
name: lab
transport: lab
nodes:
  gpu[001-004]: {profile: roce}
rails:
  rail0: {pci: "0000:1a:00.0", network: 10.1.0.0/16, leaf: leaf-0}
  rail1: {pci: "0000:3a:00.0", network: 10.2.0.0/16, leaf: leaf-1}
profiles:
  roce:
    link: {layer: Ethernet, speed: 400 Gb/s, width: 4, mtu: 4096}
    pcie: {speed: 32 GT/s, width: 16}
    roce: {version: 2, lossless: [3], dscp: 26}
    sudo: [ethtool]
lab: {perftest: {gpu002: "6.06"}, time: 0.001}
"""

INFINIBAND = """
name: lab
transport: lab
nodes:
  ib[1-2]: {profile: ndr}
rails:
  rail0: {device: mlx5_3, leaf: leaf-0}
profiles:
  ndr:
    link: {layer: InfiniBand, speed: 400 Gb/s, width: 4, mtu: 4096}
lab: {time: 0.001}
"""


@cache
def cluster(text: str = ROCE) -> Cluster:
    return load_text(text, Path("cluster.yaml"))


def nodes(text: str = ROCE, *fault: str) -> dict[str, Node]:
    return {node.name: node for node in faults.inject(build.nodes(cluster(text)), fault)}


def port(text: str = ROCE, place: str = "gpu001:rail0", *fault: str) -> Port:
    name, _, rail = place.partition(":")
    return next(port for port in nodes(text, *fault)[name].ports if port.id.rail == rail)


def fabric(text: str = ROCE, *fault: str, seed: int = 1) -> Fabric:
    return Fabric(tuple(nodes(text, *fault).values()), seed, 0.001)


def run(line: str, text: str = ROCE, node: str = "gpu001", *fault: str) -> Result:
    """Return what a command of one line comes to on a node."""
    world = fabric(text, *fault)
    view = world.view(world.nodes[node])
    argv = shell.expand(shell.parse(line)[0], view)
    result = start(Call(world, world.nodes[node], argv, view)).result
    assert result is not None
    return result
