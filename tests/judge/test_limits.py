"""Limits bound to a target: numbers from declared facts, and no verdict without a limit."""

from __future__ import annotations

from typing import NoReturn

import pytest

from pytest_fabric.errors import MissingValueError, UnitError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.limits import Limits
from pytest_fabric.judge.values import Value
from tests.clusters import TEXT, cluster


class Skipped(Exception):
    pass


def skip(reason: str) -> NoReturn:
    raise Skipped(reason)


def limits(*texts: str) -> Limits:
    profiles = [cluster(text).nodes["gpu001"].profile for text in texts or (TEXT,)]
    return Limits("gpu001:rail0", tuple(profiles), skip)


def value(metric: str, number: float, unit: str, ledger: Ledger | None = None) -> Value:
    return Value(number, unit, metric, metric, ledger or Ledger())


def test_where_packets_may_overtake_their_order_is_no_verdict() -> None:
    profile = cluster(TEXT).nodes["gpu001"].profile

    with pytest.raises(Skipped, match=r"overtake each other with fabric\.routing spray"):
        Limits("gpu001:rail0", (profile,), skip, "spray").require("out_of_sequence.growth")
    Limits("gpu001:rail0", (profile,), skip, "ecmp").require("out_of_sequence.growth")


def test_a_value_inside_and_one_outside() -> None:
    """The limit itself is allowed by `<=`."""
    limit = limits()["ib_write_lat.p99"]

    assert value("ib_write_lat.4.p99", 5e-6, "s") in limit
    assert value("ib_write_lat.4.p99", 5.01e-6, "s") not in limit


def test_a_range_has_two_ends() -> None:
    """A latency below what physics allows is as wrong as one above."""
    limit = limits()["ib_write_lat.median"]

    assert [value("ib_write_lat.4.median", n * 1e-6, "s") in limit for n in (1.4, 1.5, 3, 3.1)] == [
        False,
        True,
        True,
        False,
    ]


def test_a_list_means_all_and_each_clause_is_noted_with_its_place() -> None:
    """97 % of payload rate at MTU 4096 is 380 Gb/s of 400: 375 misses one of two clauses."""
    ledger = Ledger()

    assert (
        value("ib_write_bw.1048576.average", 375e9, "b/s", ledger)
        not in limits()["ib_write_bw.average"]
    )
    assert [check.passed for check in ledger.checks] == [True, False]
    assert ledger.checks[1].limit.startswith(">= 380.4 Gb/s (97% of payload rate 392.1 Gb/s)")
    assert (ledger.checks[1].source, ledger.checks[1].profile) == ("cluster.yaml:15", "ours")


def test_declared_facts_are_limits() -> None:
    """A link is held against what is declared, never against what it negotiated."""
    assert value("link.speed", 400e9, "b/s") in limits()["link.speed"]
    assert value("link.speed", 200e9, "b/s") not in limits()["link.speed"]
    assert value("link.layer", "InfiniBand", "word") not in limits()["link.layer"]  # type: ignore[arg-type]


def test_no_limit_is_an_error() -> None:
    """Nothing passes without a limit; the message says where to put one."""
    with pytest.raises(MissingValueError, match=r"discards\.growth.*profile ours.*not_available"):
        _ = limits()["discards.growth"]


def test_not_available_skips_with_the_reason() -> None:
    """What hardware cannot show is said so by its profile."""
    with pytest.raises(Skipped, match="no such counter here"):
        _ = limits()["crc_errors.growth"]


def test_a_limit_judges_its_own_subject_only() -> None:
    """Write latency is half a round trip and read latency a whole one: limits are per tool."""
    with pytest.raises(UnitError, match="was asked about"):
        _ = value("ib_read_lat.4.p99", 1e-6, "s") in limits()["ib_write_lat.p99"]
    with pytest.raises(UnitError, match="was asked about"):
        _ = value("discards.growth", 0, "") in limits()["pause.growth"]


def test_only_values_can_be_judged() -> None:
    """A bare number has no target and no evidence."""
    with pytest.raises(UnitError):
        _ = 1e-6 in limits()["ib_write_lat.p99"]


def test_a_pair_of_two_profiles_must_satisfy_both_and_the_slower_line_counts() -> None:
    """A 400G port that talks to a 200G port cannot be faster than that."""
    slower = TEXT.replace("400 Gb/s", "200 Gb/s").replace("ours", "theirs")
    limit = limits(TEXT, slower)["ib_write_bw.average"]

    assert value("ib_write_bw.1048576.average", 195e9, "b/s") in limit
    assert value("ib_write_bw.1048576.average", 180e9, "b/s") not in limit


def test_a_limit_of_one_size_judges_no_other() -> None:
    """A page may take longer than four bytes: its limit must not excuse them."""
    text = TEXT.replace(
        "ib_write_lat.median:", 'ib_write_lat.4096.p99: "<= 6 us"\n      ib_write_lat.median:'
    )

    assert value("ib_write_lat.4096.p99", 5.8e-6, "s") in limits(text)["ib_write_lat.4096.p99"]
    with pytest.raises(UnitError, match="was asked about"):
        _ = value("ib_write_lat.4.p99", 5.8e-6, "s") in limits(text)["ib_write_lat.4096.p99"]


def test_pause_and_class_do_not_apply_on_infiniband() -> None:
    """It has credits and service levels: no profile has to say so."""
    text = TEXT.replace("Ethernet", "InfiniBand").replace(
        "    roce: {version: 2, lossless: [3], dscp: 26}\n", ""
    )

    with pytest.raises(Skipped, match="InfiniBand has credits"):
        limits(text).require("pause.growth")
    limits(text).require("ib_write_lat.p99")


FIRMWARE = TEXT.replace("    limits:", "    firmware: {MT_0000000838: 28.39.1002}\n    limits:")


def word(metric: str, said: str, ledger: Ledger | None = None) -> Value:
    return Value(said, "word", metric, metric, ledger or Ledger())


def test_firmware_is_that_which_is_declared_for_the_board() -> None:
    """The limit stands where the version is declared."""
    ledger = Ledger()
    limit = limits(FIRMWARE).firmware(word("firmware.psid", "MT_0000000838"))

    assert word("firmware.running", "28.39.1002", ledger) in limit
    assert word("firmware.running", "28.39.1003", ledger) not in limit
    assert {check.source for check in ledger.checks} == {"cluster.yaml:12"}
    assert {check.limit for check in ledger.checks} == {"== 28.39.1002"}


def test_a_board_that_is_not_declared_is_an_error_where_any_is() -> None:
    """Nothing declared asks for nothing; something declared does not pass by on another board."""
    with pytest.raises(MissingValueError, match=r"found PSID DEL0049: add `DEL0049: VERSION`"):
        limits(FIRMWARE).firmware(word("firmware.psid", "DEL0049"))
    with pytest.raises(Skipped, match="profile ours declares no firmware"):
        limits().firmware(word("firmware.psid", "MT_0000000838"))
