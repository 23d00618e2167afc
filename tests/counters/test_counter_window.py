"""What grew between two snapshots is told exactly, or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_fabric.counters import catalogue, growth, require, saturated, snapshot
from pytest_fabric.errors import CounterError, NotRecognisedError
from pytest_fabric.results import Growth, Snapshot

DATA = Path(__file__).parents[1] / "data"
PORT = "gpu001:rail0"

#: One counter of each width and behaviour, by name.
COUNTED = {
    name: (driver, match.counter)
    for driver, name in (
        ("mlx5_core", "local_link_integrity_errors"),
        ("mlx5_core", "link_downed"),
        ("mlx5_core", "symbol_error"),
        ("mlx5_core", "port_xmit_wait"),
        ("mlx5_core", "port_xmit_data"),
        ("mlx5_core", "out_of_sequence"),
        ("mlx5_core", "rx_discards_phy"),
        ("bnxt_en", "tx_pkts"),
        ("ice", "rx_crc_errors.nic"),
        ("mlx4_core", "sq_num_to"),
        ("idpf", "Rcvd Out of order packets"),
    )
    if (match := catalogue.find(driver, name))
}


def text(folder: str, case: str) -> str:
    return (DATA / folder / f"{case}.txt").read_text()


def shot(driver: str = "mlx5_core", /, **values: int) -> Snapshot:
    return Snapshot(PORT, driver, values)


def roce() -> Snapshot:
    return snapshot(PORT, "mlx5_core", text("sysfs", "mlx5-roce"), text("ethtool-S", "mlx5-pfc"))


def grown(before: Snapshot, after: Snapshot) -> dict[str, Growth]:
    entries, problems = growth(before, after)
    assert problems == {}
    return {entry.name: entry for entry in entries}


def problem(before: Snapshot, after: Snapshot) -> dict[str, str]:
    return growth(before, after)[1]


def test_a_snapshot_joins_sysfs_and_ethtool() -> None:
    values = roce().values

    assert values["port_xmit_data"] == 2203086419
    assert values["np_cnp_sent"] == 4
    assert values["tx_prio3_bytes"] == 8812345678


def test_the_age_of_the_cache_is_no_counter() -> None:
    assert "lifespan" not in roce().values


def test_a_name_with_blanks_is_whole() -> None:
    taken = snapshot(PORT, "irdma", text("sysfs", "irdma-blanks"), None)

    assert taken.values["Rcvd Out of order packets"] == 7


def test_no_performance_agent_means_unreadable() -> None:
    taken = snapshot(PORT, "i40iw", text("sysfs", "no-pma"), None)

    assert taken.values == {}
    assert taken.unreadable["port_rcv_data"] == "it reads 'N/A (no PMA)'"


def test_all_ones_is_a_failed_read() -> None:
    taken = snapshot(PORT, "mlx5_core", "", f"NIC statistics:\n  rx_discards_phy: {2**64 - 1}\n")

    assert taken.values == {}
    assert "all ones" in taken.unreadable["rx_discards_phy"]


def test_the_counters_of_a_bonds_members_are_added() -> None:
    one = "NIC statistics:\n     rx_discards_phy: 3\n     rx_prio3_pause: 1\n"
    two = "NIC statistics:\n     rx_discards_phy: 4\n     rx_prio3_pause: many\n"

    taken = snapshot(PORT, "mlx5_core", "", one + "\n" + two)

    assert taken.values == {"rx_discards_phy": 7}
    assert taken.unreadable == {"rx_prio3_pause": "it reads 'many'"}


def test_a_name_that_comes_twice_with_two_values_is_unreadable() -> None:
    taken = snapshot(PORT, "mlx5_core", "", "NIC statistics:\n  tx_err: 1\n  tx_err: 2\n")

    assert taken.unreadable == {"tx_err": "it is there twice"}


def test_a_name_that_is_padded_with_blanks_is_the_name() -> None:
    """As cxgb4 prints them."""
    taken = snapshot(PORT, "cxgb4", "", "NIC statistics:\n     rx_ppp3_frames         : 12\n")

    assert taken.values == {"rx_ppp3_frames": 12}


def test_a_line_of_blanks_without_end_is_refused_at_once() -> None:
    with pytest.raises(NotRecognisedError):
        snapshot(PORT, "cxgb4", "", f"NIC statistics:\n  a{' ' * 200_000}b\n")


@pytest.mark.parametrize("ethtool", [None, "", "no stats available\n"])
def test_a_port_without_statistics_has_those_of_sysfs(ethtool: str | None) -> None:
    taken = snapshot(PORT, "rdma_rxe", text("sysfs", "rxe"), ethtool)

    assert taken.values["sent_pkts"] == 412025


@pytest.mark.parametrize(
    ("sysfs", "ethtool"),
    [("hello\n", None), ("/sys/class/net/eth0/mtu:1500\n", None), ("", "hello\n")],
)
def test_another_text_is_no_snapshot(sysfs: str, ethtool: str | None) -> None:
    with pytest.raises(NotRecognisedError):
        snapshot(PORT, "mlx5_core", sysfs, ethtool)


def test_a_number_whose_line_end_is_missing_may_be_cut() -> None:
    sysfs = text("sysfs", "mlx5-roce").rstrip("\n")[:-1]
    ethtool = "NIC statistics:\n     rx_prio3_pause: 57"

    taken = snapshot(PORT, "mlx5_core", sysfs, ethtool + "\n     rx_prio3_marked: 1")

    assert taken.unreadable == {
        "rp_cnp_ignored": "the line is cut off",
        "rx_prio3_marked": "the line is cut off",
    }
    assert taken.values["rx_prio3_pause"] == 57


@given(st.integers(0, 2000), st.integers(0, 1500))
def test_texts_cut_anywhere_never_give_a_wrong_value(sysfs: int, ethtool: int) -> None:
    whole = roce()
    try:
        part = snapshot(
            PORT,
            "mlx5_core",
            text("sysfs", "mlx5-roce")[:sysfs],
            text("ethtool-S", "mlx5-pfc")[:ethtool],
        )
    except NotRecognisedError:
        return

    assert part.values.items() <= whole.values.items()


def test_every_counter_with_a_meaning_is_told_also_without_growth() -> None:
    entries = grown(roce(), roce())

    assert {entry.delta for entry in entries.values()} == {0}
    assert {"rx_prio3_pause", "tx_prio3_bytes", "out_of_sequence", "rx_crc_errors_phy"} <= set(
        entries
    )
    assert not {"rx_pause_ctrl_phy", "outbound_pci_stalled_wr"} & set(entries)


def test_growth_says_port_meaning_direction_and_priority() -> None:
    entries = grown(shot(tx_prio3_pause=5), shot(tx_prio3_pause=18_427))

    assert entries["tx_prio3_pause"] == Growth(PORT, "tx_prio3_pause", "pause", 18_422, "tx", 3)


def test_words_of_four_bytes_are_told_as_bytes() -> None:
    assert grown(shot(port_xmit_data=100), shot(port_xmit_data=350))["port_xmit_data"].delta == 1000


@pytest.mark.parametrize(
    ("before", "after", "delta"), [(2**32 - 6, 10, 16), (2**32 - 1, 0, 1), (7, 7, 0), (7, 9, 2)]
)
def test_a_wrap_of_32_bits_is_undone(before: int, after: int, delta: int) -> None:
    entries = grown(shot(out_of_sequence=before), shot(out_of_sequence=after))

    assert entries["out_of_sequence"].delta == delta


@pytest.mark.parametrize(
    ("name", "before", "after", "meaning", "said"),
    [
        ("rx_prio3_pause", 41_927, 0, "pause", "was reset during the run: 41,927 before, 0 after"),
        ("out_of_sequence", 5000, 0, "out_of_sequence", "was reset"),
        ("symbol_error", 12, 3, "symbol_errors", "was reset"),
        ("port_xmit_wait", 2**32 - 6, 10, "waited", "was reset"),
        ("symbol_error", 65535, 65535, "symbol_errors", "saturated at 65535"),
        ("symbol_error", 9, 65535, "symbol_errors", "saturated at 65535"),
        ("link_downed", 255, 255, "link_downed", "saturated at 255"),
    ],
)
def test_growth_that_cannot_be_seen_is_a_problem_of_its_meaning(
    name: str, before: int, after: int, meaning: str, said: str
) -> None:
    entries, problems = growth(shot(**{name: before}), shot(**{name: after}))

    assert entries == ()
    assert list(problems) == [meaning]
    assert said in problems[meaning]
    assert PORT in problems[meaning]
    assert name in problems[meaning]


def test_a_counter_that_vanished_or_appeared_is_a_problem() -> None:
    with_pause, without = shot(rx_prio3_pause=1), shot()

    assert "was not there after" in problem(with_pause, without)["pause"]
    assert "was not there before" in problem(without, with_pause)["pause"]


def test_an_unreadable_counter_is_a_problem_with_its_reason() -> None:
    torn = replace(shot(), unreadable={"rx_prio3_pause": "it reads 'EIO'"})

    assert (
        "could not be read after the run: it reads 'EIO'"
        in (problem(shot(rx_prio3_pause=1), torn)["pause"])
    )


def test_one_bad_counter_does_not_hide_the_others() -> None:
    before = shot(symbol_error=65535, rx_symbol_err_phy=1, rx_prio3_pause=1)
    after = shot(symbol_error=65535, rx_symbol_err_phy=4, rx_prio3_pause=1)

    entries, problems = growth(before, after)

    assert {entry.name: entry.delta for entry in entries} == {
        "rx_symbol_err_phy": 3,
        "rx_prio3_pause": 0,
    }
    assert list(problems) == ["symbol_errors"]


def test_several_problems_of_a_meaning_are_all_told() -> None:
    before = shot(rx_prio3_pause=2, tx_prio3_pause=2)

    said = problem(before, shot(rx_prio3_pause=1, tx_prio3_pause=1))["pause"]

    assert "rx_prio3_pause" in said
    assert "tx_prio3_pause" in said


def test_snapshots_of_two_ports_are_not_compared() -> None:
    with pytest.raises(CounterError, match="two snapshots of one port"):
        growth(shot(), replace(shot(), port="gpu002:rail0"))


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**31 - 1))
def test_a_q_counter_tells_any_growth_below_half_its_range(start: int, delta: int) -> None:
    after = shot(out_of_sequence=(start + delta) % 2**32)

    assert grown(shot(out_of_sequence=start), after)["out_of_sequence"].delta == delta


@given(
    name=st.sampled_from(sorted(COUNTED)),
    start=st.integers(0, 2**64 - 2),
    step=st.one_of(st.integers(0, 300), st.integers(0, 2**63 - 1)),
    reset=st.one_of(st.none(), st.integers(0, 300), st.integers(0, 2**63 - 1)),
)
def test_growth_is_right_or_an_error(name: str, start: int, step: int, reset: int | None) -> None:
    """A counter moves by `step`, and where there is a reset by `reset` more from zero.

    Nobody can see a reset after which the counter passed its old value, nor tell one near the end
    of the range from a wrap: those are left out, as is more growth than half a range.
    """
    driver, counter = COUNTED[name]
    start = min(start, counter.maximum)
    assume(step <= counter.maximum // 2)
    end = start + step if reset is None else reset
    wraps = counter.behaviour == "wraps"
    last = end % (counter.maximum + 1) if wraps else min(end, counter.maximum)
    if reset is not None:
        assume(last < start <= counter.maximum // 2)

    entries, problems = growth(shot(driver, **{name: start}), shot(driver, **{name: last}))

    told = {entry.delta for entry in entries}
    full = not wraps and last == counter.maximum
    if reset is None and (start + step == last or (wraps and counter.bits < 64)) and not full:
        assert told == {step * 4 if counter.unit == "words4" else step}
        assert problems == {}
    else:
        assert told == set()
        assert list(problems) == [counter.meaning]


def test_a_counter_that_is_wider_than_we_know_is_not_taken_to_wrap() -> None:
    """Older cards of bnxt count bytes in 64 bits, newer ones in 48."""
    wide, narrow = shot("bnxt_en", rx_bytes=2**50), shot("bnxt_en", rx_bytes=2**48 - 10)

    assert grown(narrow, shot("bnxt_en", rx_bytes=90))["rx_bytes"].delta == 100
    assert grown(wide, shot("bnxt_en", rx_bytes=2**50 + 7))["rx_bytes"].delta == 7
    assert "was reset" in problem(wide, shot("bnxt_en", rx_bytes=90))["bytes"]


@pytest.mark.parametrize(
    ("statistics", "names"),
    [
        ("mlx5-pfc", ("rx_prio3_pause", "tx_prio3_pause")),
        ("mlx5-global-pause", ("rx_global_pause", "tx_global_pause")),
    ],
)
def test_pause_is_counted_per_priority_or_globally(statistics: str, names: tuple[str, str]) -> None:
    taken = snapshot(PORT, "mlx5_core", "", text("ethtool-S", statistics))

    assert require(taken, "pause") == names


def test_a_missing_counter_is_not_zero_growth() -> None:
    taken = snapshot(PORT, "mlx5_core", text("sysfs", "mlx5-roce"), None)

    with pytest.raises(CounterError, match="mlx5_core says pause: a missing counter is not zero"):
        require(taken, "pause")


def test_a_meaning_that_can_only_be_misread_is_missing_with_the_reason() -> None:
    taken = snapshot(PORT, "i40iw", text("sysfs", "no-pma"), None)

    with pytest.raises(CounterError, match="port_rcv_data: it reads 'N/A"):
        require(taken, "bytes")


@pytest.mark.parametrize("meaning", ["crc_errors", "symbol_errors", "discards", "link_downed"])
def test_infiniband_error_counters_do_not_speak_for_an_ethernet_link(meaning: str) -> None:
    infiniband = snapshot(PORT, "mlx5_core", text("sysfs", "mlx5-infiniband"), None)
    ethernet = snapshot(PORT, "mlx5_core", text("sysfs", "mlx5-roce"), None)

    assert require(infiniband, meaning)
    with pytest.raises(CounterError):
        require(ethernet, meaning)
    assert require(ethernet, "bytes") == ("port_rcv_data", "port_xmit_data")


def test_saturated_counters_are_listed() -> None:
    taken = snapshot(PORT, "mlx5_core", text("sysfs", "mlx5-saturated"), None)

    assert saturated(taken) == ("excessive_buffer_overrun_errors", "link_downed", "symbol_error")
    assert saturated(roce()) == ()


def test_a_wide_counter_is_not_saturated_by_the_maximum_of_a_narrow_one() -> None:
    assert saturated(shot("rdma_rxe", link_downed=255)) == ()
    assert grown(shot("rdma_rxe", link_downed=255), shot("rdma_rxe", link_downed=256))


def test_a_counter_of_one_direction_does_not_speak_for_the_other() -> None:
    """A port whose received pauses cannot be seen has no zero growth of pause."""
    statistics = "\n".join(
        line
        for line in text("ethtool-S", "mlx5-pfc").splitlines(keepends=False)
        if "rx_prio3_pause:" not in line and "rx_global_pause:" not in line
    )
    taken = snapshot(PORT, "mlx5_core", text("sysfs", "mlx5-roce"), statistics + "\n")

    with pytest.raises(CounterError, match="says pause for rx"):
        require(taken, "pause")
