"""The shapes that public captures of the tools have: each is read for the value that matters.

A shape is a trap that somebody fell into; the texts in `tests/data` are our own, in the same shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_fabric.cli.parse import parse_text
from pytest_fabric.counters import catalogue
from pytest_fabric.tools import TOOLS, perftest_samples, perftest_text

DATA = Path(__file__).parents[1] / "data"

#: Tools that `pytest-fabric parse` has to know.
PARSED = (
    *("perftest",),
    *("ibstat", "ibstatus", "ibv_devinfo", "rdma-link", "rdma-statistic"),
    *("rdma-resource", "ibdev2netdev", "show_gids", "iblinkinfo", "ibnetdiscover"),
    *("ethtool", "ethtool-i", "ethtool-S", "ethtool-a", "ethtool-m", "ethtool-fec"),
    *("mlxlink", "devlink-health", "devlink-info", "mlnx_qos"),
    *("dcb-pfc", "dcb-app", "lspci", "lldp"),
    *("interrupts", "ping", "iperf3", "ss", "nvidia-smi-topo"),
    *("nccl-tests", "sonic-pfc", "sonic-counters", "sonic-watermark", "sonic-lldp"),
)


def text(tool: str, case: str) -> str:
    return (DATA / tool / f"{case}.txt").read_bytes().decode(errors="replace")


def holds(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(key in row and row[key] == value for key, value in wanted.items())


#: (tool, case, what one of its records says), one line for each shape whose text is a result.
RESULTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("dcb-pfc", "text", {"pfc_priorities": [3, 4]}),
    ("ethtool-S", "bnxt-rings", {"name": "rx_total_ring_discards", "value": 47}),
    ("ethtool-S", "bnxt-rings", {"name": "rx_stat_discard", "value": 3}),
    ("ethtool-S", "bnxt-rings", {"name": "[0]: rx_discards", "value": 42}),
    ("ethtool-S", "ena", {"name": "admin_q_pause", "value": 5}),
    ("ethtool-S", "i40e", {"name": "port.rx_priority_3_xon_2_xoff", "value": 4}),
    ("ethtool-S", "mlx5-global-pause", {"name": "rx_global_pause", "value": 57}),
    ("ethtool-S", "mlx5-old-ofed", {"name": "check_seq_err", "value": 7}),
    ("ethtool-m", "qsfp28-optical", {"vendor": "ACME: OPTICS", "vendor_oui": "00:11:aa"}),
    ("ethtool-m", "sfp-dac", {"temperature_c": None, "rx_power_mw": None, "length_cable_m": 2}),
    ("ethtool", "mlx4-40g-fibre", {"speed_mbps": 40000, "link_detected": True}),
    ("ethtool", "partner-200g", {"speed_mbps": 200000, "partner_fec_modes": None}),
    ("ethtool", "two-devices", {"speed_mbps": None, "link_detected": False}),
    ("ethtool", "veth-ioctl", {"speed_mbps": 10000, "link_detected": True}),
    ("ibdev2netdev", "mixed", {"device": "mlx5_0", "netdev": "ibp26s0", "netdev_up": False}),
    ("ibdev2netdev", "columns-and-comments", {"netdev_up": False}),
    ("ibstat", "two-ports-cut-off", {"port": 1, "state": "DOWN"}),
    ("ibstat", "two-ports-cut-off", {"port": 2, "state": "ACTIVE", "rate_gbps": 40, "lid": None}),
    ("ibstat", "two-ports-debug-lines", {"port": 2, "state": "ACTIVE", "lid": 44}),
    ("ibstat", "polling-stale-values", {"state": "DOWN", "rate_gbps": None, "lid": None}),
    ("ibv_devinfo", "efa-old-rdma-core", {"transport": "unspecified", "link_layer": "InfiniBand"}),
    ("ibv_devinfo", "roce-port-down", {"state": 1, "link_layer": "Ethernet"}),
    ("iperf3", "udp-nothing-sent", {"lost_percent": None, "packets": 0, "jitter_ms": None}),
    (
        "lspci",
        "downgraded-and-root-port",
        {"link_gt_s": 16.0, "link_width": 8, "link_max_gt_s": 32.0, "link_max_width": 16},
    ),
    ("lspci", "old-ok-without-domain", {"link_gt_s": 8.0, "link_width": 4, "link_max_width": 16}),
    ("lspci", "old-no-annotation", {"link_gt_s": 2.5, "link_max_gt_s": 5.0, "link_width": 8}),
    ("lspci", "unknown-x0", {"link_gt_s": None, "link_width": None, "link_max_width": None}),
    ("mlnx_qos", "lldpad", {"trust": "dscp", "pfc_priorities": [4], "lldpad_running": True}),
    ("mlnx_qos", "collapsed-crossed-excerpt", {"pfc_priorities": [1, 3, 7]}),
    ("mlnx_qos", "collapsed-crossed-excerpt", {"priority": 0, "traffic_class": 1}),
    ("mlnx_qos", "collapsed-crossed-excerpt", {"priority": 1, "traffic_class": 0}),
    ("mlxlink", "json-cut", {"state": "Active", "speed": "IB-NDR", "temperature_c": None}),
    ("mlxlink", "text-colours", {"speed": "25GbE", "width_lanes": 1}),
    (
        "nccl-tests",
        "old-unchecked",
        {"size_bytes": 4, "out_of_place_busbw_gb_s": 0.75, "in_place_busbw_gb_s": 0.75},
    ),
    ("nccl-tests", "old-unchecked", {"average_busbw_gb_s": 0.25}),
    ("nccl-tests", "mpirun-prefix", {"average_busbw_gb_s": 75.3267}),
    ("nvidia-smi-topo", "blanks-rows-missing", {"device": "GPU0", "paths": ["SYS", "PIX"]}),
    ("nvidia-smi-topo", "tabs", {"device": "GPU0", "paths": ["NV18", "PIX", "SYS"]}),
    ("perftest", "bw-counters", {"average_bps": 392.2e9, "peak_bps": 392.4e9}),
    ("perftest", "bw-cpu-utilisation", {"average_bps": 390.8e9, "cpu_percent": 11.75}),
    ("perftest", "bw-report-both", {"average_bps": 779.6e9, "peak_bps": None}),
    ("perftest", "bw-report-both", {"average_bps": 389.9e9}),
    ("perftest", "bw-report-both", {"average_bps": 389.7e9}),
    ("perftest", "bw-rocm", {"bytes": 65536, "average_bps": 351.8e9}),
    (
        "perftest",
        "bw-run-infinitely",
        {"iterations": 401220, "peak_bps": None, "average_bps": 42.07e9, "message_rate": 80244.0},
    ),
    ("perftest", "json-latency", {"p99_s": 2.06e-06, "max_s": 14.02e-06}),
    ("perftest", "json-output-bandwidth", {"bw_avg": 388.104512, "average_bps": None}),
    (
        "perftest",
        "json-latency-before-24.01",
        {"bytes": 4, "iterations": 20000, "median_s": 1.78e-06, "p999_s": 3.95e-06},
    ),
    ("perftest", "lat-unsorted-samples", {"iterations": 10, "max_s": 11.51e-06}),
    ("perftest", "lat-all-sizes-warnings", {"bytes": 8388608, "p99_s": 672.94e-06}),
    ("perftest", "lat-duration", {"mean_s": 2.21e-06, "tps": 226244.34, "p99_s": None}),
    ("perftest", "lat-iterations", {"min_s": 1.71e-06, "p99_s": 2.06e-06, "p999_s": 3.95e-06}),
    ("ping", "busybox-one-lost", {"transmitted": 4, "received": 3, "rtt_avg_ms": 0.205}),
    ("ping", "duplicates", {"received": 2, "duplicates": 2, "loss_percent": 0}),
    ("ping", "name-empty", {"host": None, "transmitted": 1, "received": 1}),
    ("ping", "softroce-unreachable", {"transmitted": 3, "received": 0, "errors": 3}),
    ("ping", "strange-lines", {"transmitted": 3, "received": 3, "loss_percent": 0}),
    ("rdma-link", "unknown-word", {"device": "bnxt_re1", "state": "DOWN", "physical_state": None}),
    ("rdma-link", "json", {"device": "mlx5_1", "lid": 17, "netdev": None}),
    ("rdma-statistic", "json", {"device": "mlx5_0", "port": 1, "packet_seq_err": 2}),
    ("show_gids", "same-address-on-two-netdevs", {"index": 5, "netdev": "bond1", "version": 2}),
    ("show_gids", "index-gaps", {"index": 9, "version": 2, "ipv4": "198.51.100.7"}),
    ("ss", "two-lines-loss", {"state": "ESTAB", "bytes_retrans": 17896}),
    ("ss", "one-line-no-titles", {"state": "ESTAB", "rtt_ms": 0.05, "mss_bytes": 8948}),
    ("sonic-counters", "fec", {"port": "Ethernet0", "fec_uncorrected": 3}),
    (
        "sonic-pfc",
        "history",
        {"port": "Ethernet8", "priority": 3, "rx_pause_transitions": 3, "rx_pause_us": 1000003},
    ),
    ("sonic-pfc", "cached", {"port": "Ethernet0", "cached": True}),
)

#: (tool, case, kind, words of the message), one line for each shape whose text is an error.
ERRORS = (
    ("dcb-pfc", "not-supported", "not_supported", "Operation not supported"),
    ("devlink-health", "no-netlink", "no_devlink", "devlink Netlink"),
    ("devlink-info", "no-netlink", "no_devlink", "devlink Netlink"),
    ("mlnx_qos", "tool-missing", "tool_missing", "command not found"),
    ("mlnx_qos", "tool-missing-dash", "tool_missing", "not found"),
    ("mlnx_qos", "tool-missing-busybox", "tool_missing", "not found"),
    ("mlnx_qos", "tool-missing-zsh", "tool_missing", "not found"),
    ("mlnx_qos", "tool-missing-sudo", "tool_missing", "not found"),
    ("ibstat", "vanished-after-ports", "device_vanished", "'mlx5_8' failed"),
    ("ibv_devinfo", "no-provider", "no_provider", "ibverbs-providers"),
    ("iperf3", "no-route-3.0", "unreachable", "No route to host"),
    ("iperf3", "udp-part", "not_recognised", "a part of it"),
    ("nccl-tests", "not-mpi", "not_mpi_build", "MPI=1"),
    ("perftest", "bw-server-no-row", "not_recognised", "expected a result row"),
    ("perftest", "bw-server-row-cut-off", "not_recognised", "5 numbers"),
    ("perftest", "bw-header-only-bidirectional", "not_recognised", "expected a result row"),
    ("perftest", "bw-cuda-preamble-only", "not_recognised", "expected a result row"),
    ("perftest", "error-completion", "completion", "status 4, vendor error 0x56"),
    ("perftest", "error-completion-26.01", "completion", "status 13, vendor error 0x87"),
    ("perftest", "error-device-not-found", "device_not_found", "mlx5_11"),
    ("perftest", "error-rtr", "qp_rtr", "QP 4660 to RTR"),
    ("perftest", "error-rts-and-peer", "qp_rts", "modify QP to RTS"),
    ("perftest", "error-memory-crash", "mr_alloc", "Couldn't allocate MR"),
    ("perftest", "error-no-devices", "no_devices", "Did not detect devices"),
    ("perftest", "error-port-in-use", "port_in_use", "18520"),
    ("perftest", "error-connect", "connect_refused", "198.51.100.21:18520"),
    ("perftest", "lat-cycles-command", "not_recognised", "CPU cycles"),
    ("perftest", "lat-sorted-samples-cycles", "not_recognised", "CPU cycles"),
    ("perftest", "server-rdma_cm", "not_recognised", "expected a result row"),
    ("perftest", "output-bandwidth", "not_recognised", "it has no unit"),
    ("rdma-link", "no-netlink", "no_rdma_subsystem", "NETLINK_RDMA"),
    ("rdma-statistic", "no-netlink", "no_rdma_subsystem", "NETLINK_RDMA"),
    ("rdma-resource", "no-netlink", "no_rdma_subsystem", "NETLINK_RDMA"),
)

#: (tool, case): recognised, and there is nothing.
NOTHING = (
    ("ibv_devices", "none-without-provider"),
    ("perftest", "server-read_lat"),
    ("perftest", "softroce-atomic_lat-6.06-server"),
    ("show_gids", "none"),
)


@pytest.mark.parametrize(("tool", "case", "wanted"), RESULTS)
def test_a_shape_is_read_for_its_value(tool: str, case: str, wanted: dict[str, Any]) -> None:
    document, status = parse_text(tool, text(tool, case))

    assert status == 0
    assert [row for row in document["results"] if holds(row, wanted)]


@pytest.mark.parametrize(("tool", "case", "kind", "words"), ERRORS)
def test_a_shape_is_read_for_its_error(tool: str, case: str, kind: str, words: str) -> None:
    document, status = parse_text(tool, text(tool, case))

    assert (document["error"]["kind"], status) == (kind, 2 if kind == "not_recognised" else 1)
    assert words in document["error"]["message"]


@pytest.mark.parametrize(("tool", "case"), NOTHING)
def test_a_shape_says_that_there_is_nothing(tool: str, case: str) -> None:
    document, status = parse_text(tool, text(tool, case))

    assert (document["results"], document["error"], status) == ([], None, 0)


def test_what_was_whole_before_an_error_stands_beside_it() -> None:
    document, status = parse_text("ibstat", text("ibstat", "vanished-after-ports"))

    assert [(row["device"], row["rate_gbps"]) for row in document["results"]] == [("mlx5_0", 400)]
    assert status == 1


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("bw-server-row-cut-off", {"is_server": True, "qps": 2, "device": "mlx5_4"}),
        ("bw-server-no-row", {"is_server": True, "gid_index": 5, "link_type": "Ethernet"}),
        ("bw-header-only-bidirectional", {"test": "RDMA_Write Bidirectional BW Test"}),
        ("bw-cuda-preamble-only", {"device": "mlx5_4"}),
        ("bw-rocm", {"device": "bnxt_re1"}),
        ("error-memory-crash", {"gid_index": 0, "device": "siw_eth1"}),
        ("lat-cycles-command", {"test": "RDMA_Write Latency Test", "is_server": False}),
        ("server-rdma_cm", {"is_server": True, "qps": 1}),
        ("server-read_lat", {"is_server": True, "test": "RDMA_Read Latency Test"}),
        ("softroce-write_bw-6.06-four-qps", {"qps": 4, "is_server": False}),
    ],
)
def test_what_stands_above_a_table_is_known_without_a_row(case: str, said: dict[str, Any]) -> None:
    assert holds(vars(perftest_text.preamble(perftest_text.clean(text("perftest", case)))), said)


@pytest.mark.parametrize(
    ("tool", "case", "notes"),
    [
        ("ibv_devices", "none-without-provider", 2),
        ("ibv_devinfo", "no-provider", 2),
        ("perftest", "lat-all-sizes-warnings", 2),
        ("perftest", "bw-header-only-bidirectional", 1),
        ("perftest", "lat-iterations", 0),
    ],
)
def test_warnings_are_kept_as_notes(tool: str, case: str, notes: int) -> None:
    assert len(TOOLS[tool].notes(text(tool, case))) == notes


def test_samples_are_one_less_than_iterations_and_keep_the_largest() -> None:
    (times,) = perftest_samples.parse(text("perftest", "lat-unsorted-samples"))

    assert (len(times.values), max(times.values)) == (9, 1e-3)


def test_counters_that_a_driver_does_not_have_are_not_zero() -> None:
    document, _ = parse_text("ethtool-S", text("ethtool-S", "mlx5-global-pause"))
    names = {row["name"] for row in document["results"]}

    assert "rx_prio3_packets" in names
    assert not {"rx_prio3_pause", "tx_prio3_pause"} & names


@pytest.mark.parametrize(
    ("driver", "name", "meaning"),
    [
        ("ena", "admin_q_pause", None),
        ("i40e", "port.rx_priority_3_xon_2_xoff", None),
        ("i40e", "port.rx_priority_3_xoff", "pause"),
        ("mlx5_core", "check_seq_err", "crc_errors"),
        ("bnxt_en", "rx_total_ring_discards", "host_drops"),
    ],
)
def test_a_counter_means_what_its_driver_says(driver: str, name: str, meaning: str | None) -> None:
    found = catalogue.find(driver, name)

    assert (found.counter.meaning if found else None) == meaning


@pytest.mark.parametrize("tool", PARSED)
def test_every_tool_has_a_result_and_an_error_of_its_own(tool: str) -> None:
    statuses = {
        parse_text(tool, path.read_bytes().decode(errors="replace"))[1]
        for path in (DATA / tool).glob("*.txt")
    }

    assert tool in TOOLS
    assert {0, 1} <= statuses
