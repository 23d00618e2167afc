"""Command-line tools: one module per tool, with its command line and a parser, both pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fabric.tools import (
    ethtool_statistics,
    ibv_devinfo,
    iperf3,
    nccl_tests,
    nvidia_smi,
    nvidia_smi_gpu,
    nvidia_smi_topo,
    perftest,
    ping,
    rdma_resource,
    sonic_counters,
    sonic_db,
    sonic_lldp,
    sonic_pfc,
    sonic_watermark,
    ss,
)

#: A result as `parse` prints it: keys in snake_case, with the unit as suffix.
Record = Mapping[str, object]


@dataclass(frozen=True)
class Parser:
    """What `pytest-fabric parse` needs of a tool.

    `records` gives the results of a text as plain records, or raises ToolError or
    NotRecognisedError; `version` gives the tool's version, where the text shows it.
    """

    records: Callable[[str], Sequence[Record]]
    version: Callable[[str], str | None]


def _unversioned(text: str) -> None:
    """Return None: the output of this tool never shows its version."""


TOOLS: Mapping[str, Parser] = {
    "perftest": Parser(perftest.records, perftest.find_version),
    "ethtool-S": Parser(ethtool_statistics.records, _unversioned),
    "ibv_devinfo": Parser(ibv_devinfo.records, _unversioned),
    "rdma-resource": Parser(rdma_resource.records, _unversioned),
    "nvidia-smi": Parser(nvidia_smi.records, _unversioned),
    "nvidia-smi-gpu": Parser(nvidia_smi_gpu.records, _unversioned),
    "nvidia-smi-topo": Parser(nvidia_smi_topo.records, _unversioned),
    "nccl-tests": Parser(nccl_tests.records, nccl_tests.find_version),
    "ping": Parser(ping.records, _unversioned),
    "iperf3": Parser(iperf3.records, iperf3.find_version),
    "ss": Parser(ss.records, _unversioned),
    "sonic-pfc": Parser(sonic_pfc.records, _unversioned),
    "sonic-counters": Parser(sonic_counters.records, _unversioned),
    "sonic-watermark": Parser(sonic_watermark.records, _unversioned),
    "sonic-lldp": Parser(sonic_lldp.records, _unversioned),
    "sonic-db": Parser(sonic_db.records, _unversioned),
}
