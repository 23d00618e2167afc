"""What can be limited: the name of each metric, and the base unit of its values.

A metric of a tool is `TOOL.STATISTIC`, or `TOOL.BYTES.STATISTIC` for a message size other than
the tool's usual one (`ping.full.STATISTIC` for the largest packet). What iperf3 measures is called
`tcp.STATISTIC`. A counter metric is `MEANING.growth`. A link metric names a declared fact.
"""

from __future__ import annotations

import re

LATENCY_TOOLS = ("ib_write_lat", "ib_read_lat", "ib_send_lat")
PROBES = ("ping",)
BANDWIDTH_TOOLS = ("ib_write_bw", "ib_read_bw", "ib_send_bw")
TCP_TOOLS = ("iperf3",)

TOOLS = (*LATENCY_TOOLS, *BANDWIDTH_TOOLS, *PROBES)

LATENCY_STATISTICS = ("min", "median", "mean", "p99", "p999", "max")
BANDWIDTH_STATISTICS = {
    "average": "b/s",
    "bidirectional": "b/s",
    "peak": "b/s",
    "message_rate": "/s",
}

#: What is known of packets that come back, of the usual size and of the largest (`ping.full.loss`).
REACH_STATISTICS = {"loss": "", "rtt_min": "s", "rtt_median": "s", "rtt_max": "s"}

#: What is known of TCP between two ports: what arrived, the share of segments that were sent again,
#: the smoothed round trips of the senders, and how evenly the streams shared (Jain's index).
TCP_STATISTICS = {
    "throughput": "b/s",
    "retransmissions": "",
    "rtt": "s",
    "rtt_max": "s",
    "fairness": "",
}

#: What is run over the whole fabric at once: it disrupts everything else.
COLLECTIVES = ("collective",)

#: First words of metrics that are measured only where a profile declares a limit of them.
OPTIONAL = frozenset({"tcp", "collective"})

#: Counter meanings that a limit can name; `counters/` says which counters of which driver they are.
MEANINGS = (
    "pause",
    "discards",
    "crc_errors",
    "symbol_errors",
    "out_of_sequence",
    "retransmissions",
    "link_downed",
)

#: What grows where a fabric is congested and says so: marks, notifications, pauses, waiting.
REACTIONS = ("ecn_marked", "cnp_sent", "cnp_handled", "pause", "pause_duration", "waited")

#: Meanings that are needed to judge a measurement; the others are kept in its record only.
KEPT = tuple(dict.fromkeys((*MEANINGS, *REACTIONS)))

#: Meanings that the load of neighbours can make grow on a sound fabric. Errors of a cable are its
#: own, and frames that are dropped under load are what a lossless class must never show.
BY_LOAD = frozenset({"pause", "out_of_sequence", "retransmissions"})

#: Facts that a profile declares, by the metric that its check uses.
LINK_METRICS = {
    "link.layer": "word",
    "link.speed": "b/s",
    "link.width": "",
    "link.mtu": "B",
    "pcie.speed": "T/s",
    "pcie.width": "",
    "class.share": "",
}


#: What nodes and ports say about each topic, by metric, and the unit. A test reads a metric by its
#: last word (`result.governor`), and a topic has each of these once.
TOPICS: dict[str, dict[str, str]] = {
    "host": {
        "host.governor": "word",
        "host.capped_cpus": "",
        "host.memlock": "B",
        "host.kernel": "word",
        "host.os": "word",
        "host.iommu": "word",
        "host.acs": "",
        "host.rmem_max": "B",
        "host.wmem_max": "B",
        "host.tcp_rmem_max": "B",
        "host.tcp_wmem_max": "B",
        "host.netdev_max_backlog": "",
        "host.numa_balancing": "",
        "host.log_mlx5": "",
        "host.log_xid": "",
        "host.log_aer": "",
        "host.log_aer_corrected": "",
        "host.log_link_down": "",
    },
    "firmware": {
        "firmware.running": "word",
        "firmware.stored": "word",
        "firmware.pending": "",
        "firmware.psid": "word",
        "firmware.driver": "word",
    },
    # A bit error rate is in errors per bit, corrected errors of PCIe are per hour.
    "link": {
        "link.fec": "word",
        "link.raw_ber": "",
        "link.effective_ber": "",
        "link.uncorrectable": "",
        "link.flaps": "",
        "module.vendor": "word",
        "module.part": "word",
        "module.serial": "word",
        "module.temperature": "C",
        "module.temperature_margin": "C",
        "module.rx_power_min": "dBm",
        "module.tx_power_min": "dBm",
        "module.lane_spread": "dB",
        "pcie.aer_correctable": "",
        "pcie.aer_uncorrectable": "",
        "pcie.max_read_request": "B",
        "pcie.numa_node": "",
    },
    "wiring": {
        "wiring.switch": "word",
        "wiring.switch_port": "word",
        "wiring.port_description": "word",
    },
    "infiniband": {
        "infiniband.lid": "",
        "infiniband.sm_lid": "",
        "infiniband.partition": "word",
    },
    "subnet": {
        "subnet.manager": "word",
        "subnet.managers": "",
        "subnet.links_down": "",
        "subnet.slow_links": "",
        "subnet.ports_without_lid": "",
    },
    # Bus bandwidth is in bytes per second, as nccl-tests prints it.
    "collective": {
        "collective.busbw": "B/s",
        "collective.wrong": "",
        "collective.other_class": "",
    },
    "qos": {
        "roce.trust": "word",
        "roce.lossless": "word",
        "roce.dscp_priority": "",
        "roce.ecn": "word",
        "roce.cnp_dscp": "",
        "roce.cnp_priority": "",
        "roce.global_pause": "word",
        "roce.gid_version": "",
        "roce.gid_index": "",
        "roce.gid_netdev": "word",
        "roce.traffic_class_override": "",
        "roce.cma_tos": "",
        "roce.netdev_mtu": "B",
        "roce.same_subnet": "",
    },
    # Of the switch end of a port's cable: what it is set up for, then what it counted in the run.
    "switch": {
        "switch.state": "word",
        "switch.speed": "b/s",
        "switch.fec": "word",
        "switch.mtu": "B",
        "switch.neighbour": "word",
        "switch.neighbour_port": "word",
        "switch.neighbour_description": "word",
        "switch.pfc_missing": "",
        "switch.ecn_missing": "",
    },
    "switch_window": {
        "switch.rx_errors": "",
        "switch.fec_uncorrected": "",
        "switch.queue_drops": "",
        "switch.pause_sent": "",
        "switch.pause_received": "",
        "switch.ecn_marked": "",
    },
}

#: What several pairs at once show; shares of a rate refer to the sum of a node's ports, to the line
#: of an incast's receiver, and to each pair of a bisection. `slowest` of a node, of its GPUs and of
#: an incast is the share of the mean that the slowest pair got, `fastest` that of the fastest,
#: `paused` a share of the time.
GROUP_METRICS = {
    "node.bandwidth": "b/s",
    "node.slowest": "",
    "gpu.bandwidth": "b/s",
    "gpu.slowest": "",
    "incast.bandwidth": "b/s",
    "incast.slowest": "",
    "incast.fastest": "",
    "incast.reaction": "",
    "incast.cnp_sent": "",
    "incast.cnp_handled": "",
    "incast.paused": "",
    "bisection.mean": "b/s",
    "bisection.slowest": "b/s",
}

#: What all pairs say together: by how much the medians of hop classes differ beside what hops
#: explain, leaf pairs that stand out, and what only load made miss: the share of the pairs that ran
#: beside others, and the places at which it gathers.
TOGETHER_METRICS = {
    "hops.unexplained": "s",
    "hops.odd": "",
    "contention.share": "",
    "contention.places": "",
}

#: What a soak shows: of each port's link since its first window, and of all bandwidths. Bit error
#: rates are errors per bit, `raw_ber_growth` is that of the end by that of the beginning, and
#: `bandwidth_p1` the lowest P1 of a port, as a share of what its pairs can carry.
SOAK_METRICS = {
    "soak.flaps": "",
    "soak.uncorrectable": "",
    "soak.effective_ber": "",
    "soak.raw_ber": "",
    "soak.raw_ber_growth": "",
    "soak.temperature_drift": "C",
    "soak.bandwidth_p1": "",
}

#: What `wiring.switch`, and a switch's neighbour, say where nothing is at the other end.
NOBODY = "(no neighbour)"

FACT_UNITS = {name: unit for metrics in TOPICS.values() for name, unit in metrics.items()}


def family(tool: str) -> str:
    """Return what the metrics of a tool begin with."""
    return "tcp" if tool in TCP_TOOLS else tool


def names() -> tuple[str, ...]:
    """Return every metric name, without those that carry a message size."""
    latency = [f"{tool}.{name}" for tool in LATENCY_TOOLS for name in LATENCY_STATISTICS]
    bandwidth = [f"{tool}.{name}" for tool in BANDWIDTH_TOOLS for name in BANDWIDTH_STATISTICS]
    probes = [f"{tool}{size}" for tool in PROBES for size in ("", ".full")]
    reach = [f"{probe}.{name}" for probe in probes for name in REACH_STATISTICS]
    tcp = [f"tcp.{name}" for name in TCP_STATISTICS]
    growth = [f"{name}.growth" for name in MEANINGS]
    facts = (*LINK_METRICS, *FACT_UNITS, *GROUP_METRICS, *TOGETHER_METRICS, *SOAK_METRICS)
    return (*latency, *bandwidth, *reach, *tcp, *growth, *facts)


def unit_of(metric: str) -> str | None:
    """Return the base unit of a metric (`s`, `b/s`, ...), or None for an unknown one."""
    plain = re.sub(r"^(ib_\w+)\.[1-9]\d*\.", r"\1.", metric)
    if plain not in names():
        return None
    if plain in GROUP_METRICS or plain in TOGETHER_METRICS:
        return GROUP_METRICS.get(plain) or TOGETHER_METRICS.get(plain, "")
    if plain in SOAK_METRICS:
        return SOAK_METRICS[plain]
    if plain in LINK_METRICS or plain in FACT_UNITS:
        return LINK_METRICS.get(plain) or FACT_UNITS.get(plain, "")
    statistic = plain.rpartition(".")[2]
    if plain.partition(".")[0] in PROBES:
        return REACH_STATISTICS[statistic]
    if plain.startswith("tcp."):
        return TCP_STATISTICS[statistic]
    return "s" if statistic in LATENCY_STATISTICS else BANDWIDTH_STATISTICS.get(statistic, "")
