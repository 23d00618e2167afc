"""Which pairs are peers of each other."""

from __future__ import annotations

import pytest

from pytest_fabric.measure.peers import kind_of
from pytest_fabric.results import Pair
from tests.clusters import cluster

TEXT = """\
name: four
transport: lab
nodes:
  gpu[001-002]: {profile: ours}
  old[001-002]: {profile: theirs}
rails:
  rail0: {device: mlx5_0, leaf: leaf-0}
  rail1: {device: mlx5_1, leaf: leaf-1}
  rail2: {device: mlx5_2}
profiles:
  ours: {link: {layer: Ethernet, speed: 400 Gb/s}}
  theirs: {link: {layer: Ethernet, speed: 200 Gb/s}}
pairs: {cross_rail: true}
"""


@pytest.mark.parametrize(
    ("pair", "kind"),
    [
        ("gpu001:rail0..gpu002:rail0", "same leaf, profile ours"),
        ("gpu001:rail1..gpu002:rail1", "same leaf, profile ours"),
        ("gpu001:rail0..gpu002:rail1", "across leaves, profile ours"),
        ("gpu001:rail2..gpu002:rail2", "unknown leaves, profile ours"),
        ("gpu001:rail0..gpu002:rail2", "unknown leaves, profile ours"),
        ("gpu001:rail0..old001:rail0", "same leaf, profile ours to theirs"),
        ("old001:rail0..gpu001:rail0", "same leaf, profile theirs to ours"),
    ],
)
def test_peers_share_profiles_and_hop_class(pair: str, kind: str) -> None:
    """A direction is a kind of its own: another card sends."""
    assert kind_of(Pair.parse(pair), cluster(TEXT)) == kind
