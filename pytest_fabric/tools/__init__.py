"""Command-line tools: one module per tool, with its command line and a parser, both pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fabric.tools import (
    ethtool,
    ethtool_driver,
    ethtool_fec,
    ethtool_module,
    ethtool_pause,
    ethtool_statistics,
    ibv_devinfo,
    ip_link,
    mlxlink,
    nvidia_smi,
    perftest,
    rdma_resource,
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
    "ethtool": Parser(ethtool.records, _unversioned),
    "ethtool-i": Parser(ethtool_driver.records, _unversioned),
    "ethtool-a": Parser(ethtool_pause.records, _unversioned),
    "ethtool-m": Parser(ethtool_module.records, _unversioned),
    "ethtool-fec": Parser(ethtool_fec.records, _unversioned),
    "ip-link": Parser(ip_link.records, _unversioned),
    "mlxlink": Parser(mlxlink.records, mlxlink.find_version),
}
