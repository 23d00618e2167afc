"""Acceptance tests for RDMA networks, as a pytest plugin: what suites import."""

from pytest_fabric.declare import (
    host_facts,
    ib_read_bw,
    ib_read_lat,
    ib_send_bw,
    ib_send_lat,
    ib_write_bw,
    ib_write_lat,
    infiniband_facts,
    link_facts,
    node_facts,
    ping,
    port_facts,
    qos_facts,
    rdma_reach,
    subnet_facts,
    wiring_facts,
)
from pytest_fabric.markers import catches, measure
from pytest_fabric.units import gbps, ms, us

__all__ = [
    "catches",
    "gbps",
    "host_facts",
    "ib_read_bw",
    "ib_read_lat",
    "ib_send_bw",
    "ib_send_lat",
    "ib_write_bw",
    "ib_write_lat",
    "infiniband_facts",
    "link_facts",
    "measure",
    "ms",
    "node_facts",
    "ping",
    "port_facts",
    "qos_facts",
    "rdma_reach",
    "subnet_facts",
    "us",
    "wiring_facts",
]
