"""What a NetXtreme-E says: the names of bnxt_en and bnxt_re, from what the port has moved.

Names and order: the tables of drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c and of
drivers/infiniband/hw/bnxt_re/hw_counters.c. bnxt_re of this kernel has no `counters/`.
"""

from __future__ import annotations

from pytest_fabric.lab.history import lost, past, paused_us, visible
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import PRIORITIES, Tally

#: bnxt_re shows the registers of the card as they are.
REGISTER_WRAP = 2**48

#: Counters that are above zero on a healthy machine with a past.
STALE = {
    "recoverable_errors": 40_112,
    "dup_req": 3,
    "oos_drop_count": 19,
    "seq_err_naks_rcvd": 17,
    "rnr_naks_rcvd": 2,
    "watermark_qps": 12,
    "watermark_mrs": 44,
    "rx_stat_discard": 49,
    "link_down_events": 2,
    "rx_corrected_bits": 18_422,
    "rx_fec_corrected_blocks": 6_117,
    "rx_buffer_passed_threshold": 417,
    "rx_total_ring_discards": 655,
    "[0]: rx_discards": 411,
    "[0]: rx_ucast_packets": 5_487_361,
    "[0]: tx_ucast_packets": 5_116_718,
}

RESOURCES = ("pds", "ahs", "qps", "rc_qps", "ud_qps", "srqs", "cqs", "mrs", "mws")

#: `hw_counters/`: gauges, errors of requests and of the responder.
HARDWARE_STILL = (
    *(f"active_{name}" for name in RESOURCES),
    *(f"watermark_{name}" for name in RESOURCES),
    "resize_cq_cnt",
    "recoverable_errors",
    "tx_roce_errors",
    "tx_roce_discards",
    "rx_roce_errors",
    "rx_roce_discards",
    "max_retry_exceeded",
    "rnr_naks_rcvd",
    "missing_resp",
    "unrecoverable_err",
    "bad_resp_err",
    "local_qp_op_err",
    "local_protection_err",
    "mem_mgmt_op_err",
    "remote_invalid_req_err",
    "remote_access_err",
    "remote_op_err",
    "dup_req",
    "res_exceed_max",
    "res_length_mismatch",
    "res_exceeds_wqe",
    "res_opcode_err",
    "res_mem_error",
    "res_srq_err",
    "res_tx_pci_err",
    "res_rx_pci_err",
    "tx_atomic_req",
    "tx_send_req",
    "rx_atomic_req",
    "rx_send_req",
    "rx_out_of_buffer",
    "pacing_reschedule",
    "pacing_complete",
    "pacing_alerts",
    "db_fifo_register",
)

RING_PACKETS = ("ucast_packets", "mcast_packets", "bcast_packets")
RING_OTHER = ("rx_l4_csum_errors", "rx_resets", "rx_buf_errors", "missed_irqs")
TOTALS = (
    "rx_total_l4_csum_errors",
    "rx_total_resets",
    "rx_total_buf_errors",
    "rx_total_oom_discards",
    "rx_total_netpoll_discards",
    "rx_total_ring_discards",
    "tx_total_resets",
    "tx_total_ring_discards",
    "total_missed_irqs",
)

LINK = (
    "link_down_events",
    "continuous_pause_events",
    "resume_pause_events",
    "continuous_roce_pause_events",
    "resume_roce_pause_events",
)


def pma(port: Port, tally: Tally) -> dict[str, int]:
    """Return no file: the driver answers no performance agent."""
    return {}


def hardware(port: Port, tally: Tally) -> dict[str, int]:
    """Return the files of `hw_counters/` and their values; `lifespan` is a setting among them."""
    older = past(port)
    moved: dict[str, int] = {}
    for way, octets, packets in (
        ("rx", sum(tally.received_bytes), sum(tally.received_packets)),
        ("tx", sum(tally.sent_bytes), sum(tally.sent_packets)),
    ):
        for kind in ("", "roce_only_"):
            moved[f"{way}_{kind}pkts"] = older // 4096 + packets
            moved[f"{way}_{kind}bytes"] = (older + octets) % REGISTER_WRAP
    requests = older // 2**20
    return visible(
        port,
        {
            **_still(HARDWARE_STILL),
            **moved,
            "rx_roce_good_pkts": moved["rx_roce_only_pkts"],
            "rx_roce_good_bytes": moved["rx_roce_only_bytes"],
            "tx_write_req": requests,
            "rx_write_req": requests + tally.write_requests,
            "tx_read_req": requests + tally.read_requests,
            "rx_read_req": requests,
            "oos_drop_count": STALE["oos_drop_count"] + tally.gaps,
            "seq_err_naks_rcvd": STALE["seq_err_naks_rcvd"] + tally.resent,
            "to_retransmits": tally.timeouts,
            "tx_cnp_pkts": int(tally.notices),
            "rx_cnp_pkts": int(tally.heeded + tally.ignored),
            "rx_ecn_marked_pkts": int(tally.marked),
            "lifespan": 10,
        },
    )


def ethernet(port: Port, tally: Tally) -> dict[str, int]:
    """Return the lines of `ethtool -S`, in the order of the driver."""
    return visible(
        port,
        {
            **_rings(),
            **_still(TOTALS),
            **_frames(port, tally),
            **_extended(port, tally),
            **_priorities(port, tally),
        },
    )


def pauses(port: Port, tally: Tally) -> dict[str, int]:
    """Return the counters of pause, which are there whether flow control is on or off."""
    frames = {**_frames(port, tally), **_extended(port, tally)}
    words = ("_pause_frames", "_pfc_", "_duration_us", "_transitions")
    return {name: value for name, value in frames.items() if any(word in name for word in words)}


def _rings() -> dict[str, int]:
    """Return what the rings of the kernel's own traffic count, of the first two."""
    names = (
        f"[{ring}]: {name}"
        for ring in range(2)
        for name in (
            *(f"rx_{name}" for name in (*RING_PACKETS, "discards", "errors")),
            *(f"tx_{name}" for name in (*RING_PACKETS, "errors", "discards")),
            *RING_OTHER,
        )
    )
    return _still(tuple(names))


def _frames(port: Port, tally: Tally) -> dict[str, int]:
    """Return the counters of the port: its receiver, then its transmitter."""
    older = past(port)
    received = older // 4096 + sum(tally.received_packets)
    sent = older // 4096 + sum(tally.sent_packets)
    paused = _received_pauses(port, tally)
    pausing = [_sent_pauses(port, tally, priority) for priority in range(PRIORITIES)]
    globally = 0 if port.lossless else tally.pauses[0]
    return {
        "rx_total_frames": received,
        "rx_ucast_frames": received,
        "rx_fcs_err_frames": tally.damaged,
        "rx_ctrl_frames": globally + sum(paused),
        "rx_pause_frames": globally,
        "rx_pfc_frames": sum(paused),
        "rx_align_err_frames": 0,
        "rx_ovrsz_frames": 0,
        "rx_jbr_frames": 0,
        "rx_mtu_err_frames": 0,
        "rx_good_frames": received,
        **{f"rx_pfc_ena_frames_pri{p}": count for p, count in enumerate(paused)},
        "rx_undrsz_frames": 0,
        "rx_bytes": older + sum(tally.received_bytes),
        "rx_runt_frames": 0,
        "rx_stat_discard": STALE["rx_stat_discard"] + tally.discards,
        "rx_stat_err": 0,
        "tx_good_frames": sent,
        "tx_total_frames": sent,
        "tx_ucast_frames": sent,
        "tx_pause_frames": 0,
        "tx_pfc_frames": sum(pausing),
        "tx_fcs_err_frames": 0,
        "tx_err": 0,
        "tx_fifo_underruns": 0,
        **{f"tx_pfc_ena_frames_pri{p}": count for p, count in enumerate(pausing)},
        "tx_total_collisions": 0,
        "tx_bytes": older + sum(tally.sent_bytes),
        "tx_stat_discard": 0,
        "tx_stat_error": 0,
    }


def _extended(port: Port, tally: Tally) -> dict[str, int]:
    """Return the further counters of the port; its queues carry one priority each."""
    values = _still(LINK)
    values["link_down_events"] += lost(port, tally)
    for p in range(PRIORITIES):
        values[f"rx_bytes_cos{p}"] = _older(port, p) + tally.received_bytes[p]
        values[f"rx_packets_cos{p}"] = _older(port, p) // 4096 + tally.received_packets[p]
    for p, count in enumerate(_received_pauses(port, tally)):
        told_us = tally.paused_us[p] if p in port.lossless else 0.0
        values[f"pfc_pri{p}_rx_duration_us"] = int(told_us)
        values[f"pfc_pri{p}_rx_transitions"] = count // 2
    values |= {"rx_bits": 8 * (past(port) + sum(tally.received_bytes))}
    values |= _still(("rx_buffer_passed_threshold", "rx_pcs_symbol_err", "rx_corrected_bits"))
    for p in range(PRIORITIES):
        dropped = tally.discards if p in port.lossless[:1] else 0
        values[f"rx_discard_bytes_cos{p}"] = dropped * port.mtu
        values[f"rx_discard_packets_cos{p}"] = dropped
    values |= _still(("rx_fec_corrected_blocks", "rx_fec_uncorrectable_blocks", "rx_filter_miss"))
    for p in range(PRIORITIES):
        values[f"tx_bytes_cos{p}"] = _older(port, p) + tally.sent_bytes[p]
        values[f"tx_packets_cos{p}"] = _older(port, p) // 4096 + tally.sent_packets[p]
    for p in range(PRIORITIES):
        waited = paused_us(port, tally, p) if p in port.lossless else 0
        values[f"pfc_pri{p}_tx_duration_us"] = waited
        values[f"pfc_pri{p}_tx_transitions"] = waited // 50
    return values


def _priorities(port: Port, tally: Tally) -> dict[str, int]:
    values: dict[str, int] = {}
    for way, octets, packets in (
        ("rx", tally.received_bytes, tally.received_packets),
        ("tx", tally.sent_bytes, tally.sent_packets),
    ):
        for p in range(PRIORITIES):
            values[f"{way}_bytes_pri{p}"] = _older(port, p) + octets[p]
        for p in range(PRIORITIES):
            values[f"{way}_packets_pri{p}"] = _older(port, p) // 4096 + packets[p]
    return values


def _received_pauses(port: Port, tally: Tally) -> list[int]:
    """Return the pause frames of each priority; where none is lossless, they are global ones."""
    lossless = port.lossless
    return [41 + tally.pauses[p] if p in lossless else 0 for p in range(PRIORITIES)]


def _sent_pauses(port: Port, tally: Tally, priority: int) -> int:
    if priority not in port.lossless:
        return 0
    return 12 + paused_us(port, tally, priority) // 50


def _older(port: Port, priority: int) -> int:
    return past(port) if priority in port.lossless else 0


def _still(names: tuple[str, ...]) -> dict[str, int]:
    return {name: STALE.get(name, 0) for name in names}
