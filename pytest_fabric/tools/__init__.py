"""Command-line tools: one module per tool, with its command line and a parser, both pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fabric.tools import (
    dcb_app,
    dcb_pfc,
    devlink_health,
    devlink_info,
    ethtool,
    ethtool_driver,
    ethtool_fec,
    ethtool_module,
    ethtool_pause,
    ethtool_statistics,
    ib_words,
    ibdev2netdev,
    iblinkinfo,
    ibnetdiscover,
    ibstat,
    ibstatus,
    ibv_devices,
    ibv_devinfo,
    interrupts,
    ip_link,
    iperf3,
    kernel_log,
    lldp,
    lspci,
    mlnx_qos,
    mlxlink,
    nccl_tests,
    nvidia_smi,
    nvidia_smi_gpu,
    nvidia_smi_topo,
    perfquery,
    perftest,
    perftest_samples,
    ping,
    proc_limits,
    rdma_link,
    rdma_resource,
    rdma_statistic,
    show_gids,
    sminfo,
    sonic_config,
    sonic_counters,
    sonic_db,
    sonic_lldp,
    sonic_pfc,
    sonic_queues,
    sonic_status,
    sonic_version,
    sonic_watermark,
    sonic_wred,
    ss,
    sysctl,
)

#: A result as `parse` prints it: keys in snake_case, with the unit as suffix.
Record = Mapping[str, object]


@dataclass(frozen=True)
class Parser:
    """What `pytest-fabric parse` needs of a tool.

    `records` gives the results of a text as plain records, or raises ToolError or
    NotRecognisedError; `version` gives the tool's version, where the text shows it; `notes` are
    lines that warn, and change no result.
    """

    records: Callable[[str], Sequence[Record]]
    version: Callable[[str], str | None]
    notes: Callable[[str], Sequence[str]] = lambda _: ()


def _unversioned(text: str) -> None:
    """Return None: the output of this tool never shows its version."""


TOOLS: Mapping[str, Parser] = {
    "perftest": Parser(perftest.records, perftest.find_version, perftest.find_warnings),
    "ethtool-S": Parser(ethtool_statistics.records, _unversioned),
    "ibv_devinfo": Parser(ibv_devinfo.records, _unversioned, ib_words.warnings),
    "rdma-resource": Parser(rdma_resource.records, _unversioned),
    "nvidia-smi": Parser(nvidia_smi.records, _unversioned),
    "perftest-samples": Parser(
        perftest_samples.records, perftest.find_version, perftest.find_warnings
    ),
    "ibstat": Parser(ibstat.records, _unversioned),
    "ibstatus": Parser(ibstatus.records, _unversioned),
    "ibv_devices": Parser(ibv_devices.records, _unversioned, ib_words.warnings),
    "ibdev2netdev": Parser(ibdev2netdev.records, _unversioned),
    "show_gids": Parser(show_gids.records, _unversioned),
    "rdma-link": Parser(rdma_link.records, _unversioned),
    "rdma-statistic": Parser(rdma_statistic.records, _unversioned),
    "iblinkinfo": Parser(iblinkinfo.records, _unversioned),
    "ibnetdiscover": Parser(ibnetdiscover.records, _unversioned),
    "sminfo": Parser(sminfo.records, _unversioned),
    "perfquery": Parser(perfquery.records, _unversioned),
    "devlink-health": Parser(devlink_health.records, _unversioned),
    "devlink-info": Parser(devlink_info.records, _unversioned),
    "mlnx_qos": Parser(mlnx_qos.records, _unversioned),
    "dcb-pfc": Parser(dcb_pfc.records, _unversioned),
    "dcb-app": Parser(dcb_app.records, _unversioned),
    "lspci": Parser(lspci.records, _unversioned),
    "lldp": Parser(lldp.records, _unversioned),
    "interrupts": Parser(interrupts.records, _unversioned),
    "kernel-log": Parser(kernel_log.records, _unversioned),
    "sysctl": Parser(sysctl.records, _unversioned),
    "limits": Parser(proc_limits.records, _unversioned),
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
    "sonic-status": Parser(sonic_status.records, _unversioned),
    "sonic-version": Parser(sonic_version.records, _unversioned),
    "sonic-queues": Parser(sonic_queues.records, _unversioned),
    "sonic-wred": Parser(sonic_wred.records, _unversioned),
    "sonic-config": Parser(sonic_config.records, _unversioned),
    "sonic-db": Parser(sonic_db.records, _unversioned),
    "ethtool": Parser(ethtool.records, _unversioned),
    "ethtool-i": Parser(ethtool_driver.records, _unversioned),
    "ethtool-a": Parser(ethtool_pause.records, _unversioned),
    "ethtool-m": Parser(ethtool_module.records, _unversioned),
    "ethtool-fec": Parser(ethtool_fec.records, _unversioned),
    "ip-link": Parser(ip_link.records, _unversioned),
    "mlxlink": Parser(mlxlink.records, mlxlink.find_version),
}
