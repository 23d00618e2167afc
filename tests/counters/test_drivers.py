"""The counters of each driver, as RDMA and network device of one port show them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.counters import catalogue, growth, is_verified, missing, require, snapshot
from pytest_fabric.counters.catalogue import CATALOGUE
from pytest_fabric.errors import CounterError
from pytest_fabric.metrics import MEANINGS
from pytest_fabric.results import Snapshot

DATA = Path(__file__).parents[1] / "data" / "counters"
FIXTURES = sorted(path.stem for path in DATA.glob("*.txt"))
PORT = "gpu001:rail0"

#: By driver: names (`~` is a blank) that must have meaning, direction and priority.
EXPECTED = """
bnxt_en     rx_bytes                        bytes              rx    -
bnxt_en     to_retransmits                  retransmissions    tx    -
bnxt_en     dup_req                         retransmissions    rx    -
bnxt_en     oos_drop_count                  out_of_sequence    rx    -
bnxt_en     rx_roce_discards                discards           rx    -
bnxt_en     rx_out_of_buffer                receiver_not_ready rx    -
bnxt_en     rx_ecn_marked_pkts              ecn_marked         rx    -
bnxt_en     tx_cnp_pkts                     cnp_sent           tx    -
bnxt_en     rx_cnp_pkts                     cnp_handled        rx    -
bnxt_en     rx_pfc_ena_frames_pri3          pause              rx    3
bnxt_en     pfc_pri5_tx_duration_us         pause_duration     tx    5
bnxt_en     tx_bytes_pri3                   bytes              tx    3
bnxt_en     rx_fec_corrected_blocks         fec_corrected      rx    -
bnxt_en     rx_fec_uncorrectable_blocks     fec_uncorrected    rx    -
bnxt_en     rx_discard_packets_cos4         discards           rx    -
bnxt_en     continuous_roce_pause_events    pause_storms       -     -
bnxt_en     res_tx_pci_err                  pcie_errors        tx    -
bnxt_en     [1]:~rx_discards                ring_drops         rx    -
bnxt_en     rx_total_ring_discards          host_drops         rx    -
bnxt_re     roce_adp_retrans                retransmissions    tx    -
bnxt_re     np_ecn_marked_roce_packets      ecn_marked         rx    -
ice         rx_priority_3_xoff.nic          pause              rx    3
ice         link_xoff_tx.nic                pause              tx    -
ice         rx_crc_errors.nic               crc_errors         rx    -
ice         rx_dropped.nic                  discards           rx    -
ice         rx_dropped                      host_drops         rx    -
ice         illegal_bytes.nic               symbol_errors      rx    -
ice         cnpSent                         cnp_sent           tx    -
ice         RetransSegs                     retransmissions    tx    -
idpf        Rcvd~Out~of~order~packets       out_of_sequence    rx    -
idpf        Nak~Sequence~Error~Implied      retransmissions    tx    -
idpf        RNR~sent                        receiver_not_ready rx    -
idpf        CRC~errors                      icrc_errors        rx    -
i40e        port.rx_priority_3_xoff         pause              rx    3
i40e        port.tx_dropped_link_down       discards           tx    -
i40e        tcpRetransSegs                  retransmissions    tx    -
efa         retrans_timeout_events          retransmissions    tx    -
efa         rx_drops                        discards           rx    -
efa         impaired_remote_conn_events     remote_errors      tx    -
ena         bw_out_allowance_exceeded       throttled          tx    -
ena         linklocal_allowance_exceeded    throttled          -     -
ionic       rx_pripause_6_1us_count         pause_duration     rx    6
ionic       frames_tx_pripause              pause              tx    -
ionic       resp_rx_outouf_seq              out_of_sequence    rx    -
ionic       tx_rdma_cnp_pkts                cnp_sent           tx    -
hns3        mac_tx_pfc_pri7_pkt_num         pause              tx    7
hns3        rx_cnp_pkt                      cnp_handled        rx    -
cxgb4       tx_ppp3_frames                  pause              tx    3
cxgb4       rx_bg0_frames_dropped           discards           rx    -
cxgb4       rx_symbol_errors                symbol_errors      rx    -
qede        rx_pfc_frames                   pause              rx    -
qede        brb_discards                    discards           rx    -
mlx4_core   rx_pause_duration_prio_3        pause_duration     rx    3
mlx4_core   rx_pause                        pause              rx    -
mlx4_core   rq_num_oos                      out_of_sequence    rx    -
mlx4_core   tx_prio_3_bytes                 bytes              tx    3
mlx5_core   outbound_pci_stalled_wr_events  pcie_stalls        rx    -
mlx5_core   rx_corrected_bits_phy           fec_corrected_bits rx    -
mlx5_core   rp_cnp_ignored                  cnp_ignored        rx    -
mlx5_core   rx_prio3_cong_discard           discards           rx    3
rdma_rxe    duplicate_request               retransmissions    rx    -
"""

ROWS = [tuple(line.split()) for line in EXPECTED.splitlines() if line]

#: Gauges, sums of other counters, what counts something else, ends of pauses.
SILENT = {
    "bnxt_en": ("active_qps", "watermark_qps", "recoverable_errors", "rx_pfc_frames", "rx_bits"),
    "ice": ("link_xon_rx.nic", "tx_priority_3_xon.nic", "rx_bytes.nic", "rx_queue_0_bytes"),
    "idpf": ("ord limit count",),
    "i40e": ("port.rx_priority_3_xon_2_xoff", "veb.rx_discards", "port.rx_bytes"),
    "ena": ("admin_q_pause", "conntrack_allowance_available", "ena_srd_mode"),
    "efa": ("retrans_bytes", "send_bytes"),
    "ionic": ("tx_bytes", "octets_rx_ok", "tx_rdma_retx_bytes"),
    "hns3": ("mac_rx_pfc_pkt_num", "rx_rc_pkt"),
    "cxgb4": ("db_drop", "rx_frames_ok"),
    "qede": ("rx_ucast_bytes", "mac_filter_discards"),
    "mlx4_core": ("rx_bytes", "rx_pause_transition"),
    "mlx5_core": ("rx_pause_ctrl_phy", "outbound_pci_stalled_wr", "tx_bytes_phy"),
}

#: Meanings that a limit can name and the driver cannot give, on Ethernet.
BLIND = {
    "mlx5_core": set(),
    "bnxt_en": set(),
    "ice": {"link_downed", "out_of_sequence"},
    "i40e": {"link_downed", "out_of_sequence"},
    "idpf": {"pause", "discards", "crc_errors", "symbol_errors", "link_downed"},
    "efa": {"pause", "crc_errors", "symbol_errors", "out_of_sequence", "link_downed"},
    "ionic": {"symbol_errors", "link_downed"},
    "hns3": {"discards", "symbol_errors", "out_of_sequence", "retransmissions", "link_downed"},
    "cxgb4": {"out_of_sequence", "retransmissions", "link_downed"},
    "qede": {"symbol_errors", "out_of_sequence", "retransmissions"},
    "mlx4_core": {"symbol_errors", "link_downed"},
    "rdma_rxe": {"pause", "discards", "crc_errors", "symbol_errors"},
}


def shot(driver: str) -> Snapshot:
    """Return the snapshot of a port from lines of sysfs, followed by those of ethtool."""
    text = (DATA / f"{driver}.txt").read_text()
    sysfs, title, ethtool = text.partition("NIC statistics:\n")
    return snapshot(PORT, driver, sysfs, title + ethtool or None, "Ethernet")


@pytest.mark.parametrize(("driver", "name", "meaning", "direction", "priority"), ROWS)
def test_a_name_of_a_port_has_its_meaning(
    driver: str, name: str, meaning: str, direction: str, priority: str
) -> None:
    taken = shot(driver)
    plain = name.replace("~", " ")
    match = catalogue.find(driver, plain)

    assert plain in taken.names
    assert match is not None
    assert (match.counter.meaning, match.counter.direction or "-") == (meaning, direction)
    assert ("-" if match.priority is None else str(match.priority)) == priority


@pytest.mark.parametrize(("driver", "names"), SILENT.items())
def test_gauges_sums_and_other_traffic_have_none(driver: str, names: tuple[str, ...]) -> None:
    present = shot(driver).names

    assert set(names) <= present
    assert [name for name in names if catalogue.find(driver, name)] == []


@pytest.mark.parametrize("driver", FIXTURES)
def test_what_every_counter_grew_by_is_told(driver: str) -> None:
    before = shot(driver)
    steps = {name: place for place, name in enumerate(sorted(before.values), 1)}
    after = replace(before, values={name: before.values[name] + steps[name] for name in steps})

    entries, problems = growth(before, after)

    # A counter of four bits is full soon.
    narrow = {"buffer_overruns", "link_integrity", "link_downed", "link_recovered"}
    assert {entry.name: entry.delta for entry in entries if entry.meaning not in narrow} == {
        name: 4 * step if name.endswith(("xmit_data", "rcv_data")) else step
        for name, step in steps.items()
        if (match := catalogue.find(driver, name))
        and match.counter.meaning not in narrow
        and match.counter.layer is None
    }
    for name in before.unreadable:
        match = catalogue.find(driver, name)
        if match and match.counter.layer is None:
            assert name in problems[match.counter.meaning]


@pytest.mark.parametrize(("driver", "blind"), BLIND.items())
def test_a_driver_is_known_to_lack_what_its_ports_lack(driver: str, blind: set[str]) -> None:
    """A meaning that the catalogue promises is readable on the port, and no other is."""
    taken = shot(driver)

    assert set(missing(driver, MEANINGS, "Ethernet")) == blind
    for meaning in MEANINGS:
        if meaning not in blind:
            assert require(taken, meaning)
            continue
        with pytest.raises(CounterError, match=f"no counter of driver {driver} says {meaning}"):
            require(taken, meaning)


@pytest.mark.parametrize("driver", sorted(CATALOGUE))
def test_a_lacking_meaning_is_an_error_that_names_both(driver: str) -> None:
    for meaning in missing(driver, MEANINGS, "Ethernet"):
        with pytest.raises(CounterError, match=rf"driver {driver} has no counter of {meaning}"):
            catalogue.require_meaning(driver, meaning, "Ethernet")


def test_only_what_real_samples_showed_is_verified() -> None:
    assert {name for name in CATALOGUE if is_verified(name)} == {
        "mlx5_core",
        "mlx5_ib",
        "rdma_rxe",
        "bnxt_en",
        "bnxt_re",
        "ice",
        "irdma",
    }
    assert not is_verified("unheard_of")


def test_every_driver_has_a_fixture() -> None:
    known = {counter for name in FIXTURES for counter in catalogue.counters(name)}

    assert all(set(driver.counters) <= known for driver in CATALOGUE.values())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bnxt_en", "bnxt_re"),
        ("efa", "ena"),
        ("hns3", "hns_roce"),
        ("i40e", "i40iw"),
    ],
)
def test_rdma_and_network_driver_share_one_table(one: str, other: str) -> None:
    assert catalogue.counters(one) == catalogue.counters(other)


def test_the_rdma_driver_of_e810_finds_what_its_network_driver_counts() -> None:
    """A port of that name may be of any generation."""
    assert set(catalogue.counters("ice")) < set(catalogue.counters("irdma"))
    assert set(catalogue.counters("idpf")) < set(catalogue.counters("irdma"))


def test_all_ones_of_ionic_is_a_failed_read() -> None:
    assert "all ones" in shot("ionic").unreadable["rx_rdma_ecn_pkts"]


def test_no_names_match_two_counters_of_a_driver() -> None:
    for driver in FIXTURES:
        for name in shot(driver).names:
            found = [one for one in catalogue.counters(driver) if one.pattern.fullmatch(name)]
            assert len(found) <= 1, (driver, name)
