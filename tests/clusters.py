"""Small clusters for tests: two nodes, one rail, and a profile that a test can change."""

from __future__ import annotations

from pathlib import Path

from pytest_fabric.config import Cluster, load_text

TEXT = """\
name: two
transport: lab
nodes:
  gpu[001-002]: {profile: ours}
rails:
  rail0: {pci: "0000:1a:00.0", network: 10.1.0.0/16}
profiles:
  ours:
    link: {layer: Ethernet, speed: 400 Gb/s, width: 4, mtu: 4096}
    pcie: {speed: 32 GT/s, width: 16}
    roce: {version: 2, lossless: [3], dscp: 26}
    limits:
      ib_write_lat.p99: "<= 5 us"
      ib_write_lat.median: 1.5 us .. 3 us
      ib_write_bw.average: [">= 97% of payload rate", ">= 92% of line rate"]
      pause.growth: "== 0"
    not_available: {crc_errors: "no such counter here"}
pairs: {strategy: ring}
"""


def cluster(text: str = TEXT) -> Cluster:
    """Return a cluster read from a text, as if it stood in `cluster.yaml`."""
    return load_text(text, Path("cluster.yaml"))
