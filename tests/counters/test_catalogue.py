"""Every counter with a meaning is known by its exact name, width and behaviour."""

from __future__ import annotations

import pytest

from pytest_fabric.counters import (
    catalogue,
    group,
    meanings,
    missing,
    per_priority,
    refresh_s,
    require_meaning,
)
from pytest_fabric.counters.entry import GROUPS
from pytest_fabric.errors import CounterError
from pytest_fabric.metrics import MEANINGS


@pytest.mark.parametrize(
    ("driver", "name", "meaning", "direction", "priority"),
    [
        ("mlx5_core", "port_xmit_data", "bytes", "tx", None),
        ("mlx5_core", "port_rcv_data", "bytes", "rx", None),
        ("mlx5_core", "tx_prio3_bytes", "bytes", "tx", 3),
        ("mlx5_core", "rx_prio0_bytes", "bytes", "rx", 0),
        ("mlx5_core", "tx_prio7_packets", "packets", "tx", 7),
        ("mlx5_core", "rx_prio3_pause", "pause", "rx", 3),
        ("mlx5_core", "tx_prio3_pause", "pause", "tx", 3),
        ("mlx5_core", "rx_prio3_pause_duration", "pause_duration", "rx", 3),
        ("mlx5_core", "tx_global_pause", "pause", "tx", None),
        ("mlx5_core", "rx_prio3_discards", "discards", "rx", 3),
        ("mlx5_core", "rx_prio3_buf_discard", "discards", "rx", 3),
        ("mlx5_core", "rx_prio3_cong_discard", "discards", "rx", 3),
        ("mlx5_core", "rx_discards_phy", "discards", "rx", None),
        ("mlx5_core", "port_xmit_discards", "discards", "tx", None),
        ("mlx5_core", "rx_crc_errors_phy", "crc_errors", "rx", None),
        ("mlx5_core", "check_seq_err", "crc_errors", "rx", None),
        ("mlx5_core", "port_rcv_errors", "crc_errors", "rx", None),
        ("mlx5_core", "rx_pcs_symbol_err_phy", "symbol_errors", "rx", None),
        ("mlx5_core", "symbol_err", "symbol_errors", "rx", None),
        ("mlx5_core", "symbol_error", "symbol_errors", "rx", None),
        ("mlx5_core", "out_of_sequence", "out_of_sequence", "rx", None),
        ("mlx5_core", "packet_seq_err", "out_of_sequence", "tx", None),
        ("mlx5_core", "local_ack_timeout_err", "retransmissions", "tx", None),
        ("mlx5_core", "duplicate_request", "retransmissions", "rx", None),
        ("mlx5_core", "implied_nak_seq_err", "retransmissions", "tx", None),
        ("mlx5_core", "roce_adp_retrans", "retransmissions", "tx", None),
        ("mlx5_core", "req_transport_retries_exceeded", "retransmissions", "tx", None),
        ("mlx5_core", "rnr_nak_retry_err", "retransmissions", "tx", None),
        ("mlx5_core", "link_downed", "link_downed", None, None),
        ("mlx5_core", "link_down_events_phy", "link_downed", None, None),
        ("rdma_rxe", "sent_pkts", "packets", "tx", None),
        ("rdma_rxe", "rcvd_pkts", "packets", "rx", None),
        ("rdma_rxe", "out_of_seq_request", "out_of_sequence", "rx", None),
        ("rdma_rxe", "rcvd_seq_err", "out_of_sequence", "tx", None),
        ("rdma_rxe", "completer_retry_err", "retransmissions", "tx", None),
        ("rdma_rxe", "link_downed", "link_downed", None, None),
        ("unheard_of", "port_xmit_data", "bytes", "tx", None),
    ],
)
def test_a_name_has_one_meaning(
    driver: str, name: str, meaning: str, direction: str | None, priority: int | None
) -> None:
    match = catalogue.find(driver, name)

    assert match is not None
    assert (match.counter.meaning, match.counter.direction) == (meaning, direction)
    assert match.priority == priority


@pytest.mark.parametrize(
    "name",
    [
        "lifespan",
        "outbound_pci_stalled_rd",
        "outbound_pci_stalled_wr",
        "rx_pause_ctrl_phy",
        "rx_prio8_bytes",
        "rx_prio33_bytes",
        "rx_prio3_bytes2",
        "xrx_prio3_bytes",
        "tx_bytes_phy",
        "rx_err_lane_0_phy",
        "rx_prio3_pause_transition",
        "admin_q_pause",
        "",
    ],
)
def test_gauges_sums_and_strangers_have_none(name: str) -> None:
    assert catalogue.find("mlx5_core", name) is None


@pytest.mark.parametrize(
    ("name", "bits", "behaviour"),
    [
        ("symbol_error", 16, "saturates"),
        ("link_error_recovery", 8, "saturates"),
        ("link_downed", 8, "saturates"),
        ("port_rcv_errors", 16, "saturates"),
        ("port_rcv_remote_physical_errors", 16, "saturates"),
        ("port_rcv_switch_relay_errors", 16, "saturates"),
        ("port_xmit_discards", 16, "saturates"),
        ("port_xmit_constraint_errors", 8, "saturates"),
        ("port_rcv_constraint_errors", 8, "saturates"),
        ("local_link_integrity_errors", 4, "saturates"),
        ("excessive_buffer_overrun_errors", 4, "saturates"),
        ("VL15_dropped", 16, "saturates"),
        ("port_xmit_wait", 32, "saturates"),
        ("port_xmit_data", 64, "wraps"),
        ("out_of_sequence", 32, "wraps"),
        ("local_ack_timeout_err", 32, "wraps"),
        ("rx_prio3_pause", 64, "wraps"),
        ("np_cnp_sent", 64, "wraps"),
        ("roce_adp_retrans_to", 32, "wraps"),
        ("outbound_pci_buffer_overflow", 64, "wraps"),
    ],
)
def test_a_counter_has_its_width(name: str, bits: int, behaviour: str) -> None:
    match = catalogue.find("mlx5_core", name)

    assert match is not None
    assert (match.counter.bits, match.counter.behaviour) == (bits, behaviour)


@pytest.mark.parametrize("driver", sorted(catalogue.CATALOGUE))
def test_every_entry_uses_the_words_of_the_catalogue(driver: str) -> None:
    units = {"B", "words4", "packets", "events", "us", "bits", "codewords"}
    for counter in catalogue.counters(driver):
        assert counter.direction in ("tx", "rx", None)
        assert counter.unit in units
        assert counter.behaviour in ("wraps", "saturates")
        assert counter.bits in (4, 8, 16, 32, 48, 64)
        assert counter.group in GROUPS
        assert 0 <= counter.refresh_s <= 2


@pytest.mark.parametrize(
    ("driver", "name", "expected"),
    [
        ("mlx5_core", "rx_crc_errors_phy", "never"),
        ("mlx5_core", "rx_prio3_cong_discard", "never"),
        ("mlx5_core", "rx_global_pause", "never"),
        ("mlx5_core", "local_ack_timeout_err", "never"),
        ("mlx5_core", "out_of_sequence", "uncongested"),
        ("mlx5_core", "duplicate_request", "uncongested"),
        ("mlx5_core", "out_of_buffer", "uncongested"),
        ("mlx5_core", "port_xmit_wait", "uncongested"),
        ("mlx5_core", "np_ecn_marked_roce_packets", "forced"),
        ("mlx5_core", "np_cnp_sent", "forced"),
        ("mlx5_core", "rp_cnp_handled", "forced"),
        ("mlx5_core", "rx_prio3_pause", "forced"),
        ("mlx5_core", "tx_prio3_pause_duration", "forced"),
        ("mlx5_core", "rx_corrected_bits_phy", "information"),
        ("mlx5_core", "rx_out_of_buffer", "information"),
        ("mlx5_core", "VL15_dropped", "information"),
        ("mlx5_core", "req_cqe_flush_error", "information"),
        ("bnxt_re", "rx_pfc_ena_frames_pri3", "forced"),
        ("ice", "rx_priority_3_xoff.nic", "forced"),
        ("irdma", "RTO", "never"),
    ],
)
def test_a_counter_has_its_class(driver: str, name: str, expected: str) -> None:
    assert group(driver, name) == expected


@pytest.mark.parametrize("routing", ["adaptive", "spray"])
@pytest.mark.parametrize(
    ("driver", "name"),
    [
        ("mlx5_core", "out_of_sequence"),
        ("mlx5_core", "packet_seq_err"),
        ("mlx5_core", "implied_nak_seq_err"),
        ("mlx5_core", "duplicate_request"),
        ("mlx5_core", "roce_adp_retrans"),
        ("bnxt_en", "oos_drop_count"),
        ("idpf", "Rcvd Out of order packets"),
        ("rdma_rxe", "out_of_seq_request"),
    ],
)
def test_where_packets_overtake_each_other_their_order_is_information(
    routing: str, driver: str, name: str
) -> None:
    assert group(driver, name, routing) == "information"
    assert group(driver, name, "ecmp") == "uncongested"


@pytest.mark.parametrize("name", ["local_ack_timeout_err", "rx_prio3_pause", "rx_discards_phy"])
def test_spraying_excuses_no_loss_and_no_pause(name: str) -> None:
    assert group("mlx5_core", name, "spray") == group("mlx5_core", name)


def test_spraying_does_not_excuse_what_the_nic_sends_again() -> None:
    """EFA always sprays: its retransmissions are of packets that were lost."""
    assert group("efa", "retrans_pkts", "spray") == "uncongested"


def test_a_name_without_meaning_has_no_class() -> None:
    with pytest.raises(CounterError, match="rx_bits of driver mlx5_core has no meaning"):
        group("mlx5_core", "rx_bits")


@pytest.mark.parametrize(
    ("driver", "meaning", "expected"),
    [
        ("mlx5_core", "pause", True),
        ("bnxt_en", "pause", True),
        ("ice", "pause", True),
        ("qede", "pause", False),
        ("ionic", "pause", False),
        ("ionic", "pause_duration", True),
        ("mlx5_core", "bytes", True),
        ("ice", "bytes", False),
        ("unheard_of", "pause", False),
    ],
)
def test_a_driver_counts_per_priority_or_as_a_whole(
    driver: str, meaning: str, expected: bool
) -> None:
    assert per_priority(driver, meaning) is expected


def test_an_ethernet_port_lacks_what_only_infiniband_counts() -> None:
    assert missing("mlx4_core", ["symbol_errors", "pause"], "Ethernet") == ("symbol_errors",)
    assert missing("mlx4_core", ["symbol_errors", "pause"], "InfiniBand") == ()
    assert missing("unheard_of", ["pause", "bytes"]) == ("pause",)


def test_a_meaning_that_a_driver_has_is_not_refused() -> None:
    require_meaning("mlx5_core", "pause", "Ethernet")


def test_mlx5_has_every_meaning_that_a_limit_can_name() -> None:
    assert set(MEANINGS) <= meanings("mlx5_core")


def test_soft_roce_has_no_pause_and_no_bytes() -> None:
    assert not {"pause", "bytes", "crc_errors", "discards"} & meanings("rdma_rxe")
    assert {"packets", "out_of_sequence", "retransmissions"} <= meanings("rdma_rxe")


@pytest.mark.parametrize("driver", ["mlx5_core", "rdma_rxe"])
def test_a_known_driver_is_fresh_when_the_kernels_cache_has_expired(driver: str) -> None:
    assert 0.012 < refresh_s(driver) < 0.1


def test_an_unknown_driver_is_given_the_time_of_the_slowest() -> None:
    assert refresh_s("unheard_of") == 2.0


@pytest.mark.parametrize("driver", ["ionic", "i40e", "hns3", "qede", "efa", "mlx4_core"])
def test_so_is_a_driver_that_nobody_verified(driver: str) -> None:
    assert refresh_s(driver) == 2.0


@pytest.mark.parametrize(
    ("driver", "least"), [("bnxt_en", 1.0), ("bnxt_re", 1.0), ("ice", 2.0), ("irdma", 2.0)]
)
def test_a_driver_that_refreshes_slowly_is_waited_for(driver: str, least: float) -> None:
    assert least <= refresh_s(driver) <= least + 0.1
