"""What the kernel told lately: counted by kind, within an hour, of declared ports."""

from __future__ import annotations

import pytest

from pytest_fabric.measure.topics import kernel_events
from pytest_fabric.results import Fact
from pytest_fabric.transport import Outcome

from .ends import MISSING, outcome, subject

NOW = 100_000.0
UPTIME = outcome(f"{NOW:.2f} 5.00\n")
DENIED = outcome(stderr="dmesg: read kernel buffer failed: Operation not permitted\n", status=1)
HIDDEN = outcome(
    "-- No entries --\n", 1, "Hint: You are currently not seeing messages from other users.\n"
)
CARD = "mlx5_core 0000:1a:00.0"
XID = "NVRM: Xid (PCI:0000:41:00): {}, pid=7, name=python"
HEALTH = f"{CARD}: print_health_info:446:(pid 0): synd 0x1: firmware internal error"
CORRECTED = f"{CARD}: PCIe Bus Error: severity=Corrected, type=Physical Layer"
BOOT = "[    0.000000] Linux version 6.8.0\n"


def log(*messages: str, ago: float = 60.0) -> str:
    return BOOT + "".join(f"[{NOW - ago:.6f}] {message}\n" for message in messages)


def read(dmesg: Outcome, journal: Outcome = MISSING, uptime: Outcome = UPTIME) -> dict[str, Fact]:
    outcomes = {"dmesg": dmesg, "journal": journal, "uptime": uptime}
    return kernel_events.read(subject(), outcomes)


def counts(text: str) -> dict[str, float | str | None]:
    found = {name.partition("log_")[2]: fact.value for name, fact in read(outcome(text)).items()}
    return {name: count for name, count in found.items() if count}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), {}),
        ((f"{CARD}: poll_health:941:(pid 0): device's health compromised - x",), {"mlx5": 1}),
        ((HEALTH,), {"mlx5": 1}),
        ((XID.format(79), XID.format(31), XID.format(43)), {"xid": 1}),
        ((CORRECTED,), {"aer_corrected": 1}),
        (
            (
                "pcieport 0000:19:00.0: AER: Corrected error received: 0000:1a:00.0",
                CORRECTED,
            ),
            {"aer_corrected": 1},
        ),
        (
            ("pcieport 0000:19:00.0: AER: Multiple Corrected error received: 0000:1a:00.0",) * 3,
            {"aer_corrected": 3},
        ),
        (
            (f"{CARD}: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer",),
            {"aer": 1},
        ),
        ((f"{CARD} ens1: Link down", f"{CARD} ens1: Link up"), {"link_down": 1}),
        (("igb 0000:01:00.0 eno1: igb: eno1 NIC Link is Down",), {}),
    ],
)
def test_events_are_counted_by_kind(messages: tuple[str, ...], expected: dict[str, int]) -> None:
    assert counts(log(*messages)) == expected


def test_what_is_older_than_an_hour_counts_no_more() -> None:
    assert counts(log(XID.format(79), ago=3700)) == {}
    assert counts(log(XID.format(79), ago=3500)) == {"xid": 1}


def test_links_that_go_down_while_the_node_boots_are_no_news() -> None:
    text = f"[   12.500000] {CARD} ens1: Link down\n[   12.6] {CARD}: {XID.format(79)}\n"
    young = outcome("900.00 5.0\n")

    assert read(outcome(text), uptime=young)["host.log_link_down"].value == 0


def test_the_lines_are_shown_and_those_of_a_flood_are_few() -> None:
    fact = read(outcome(log(*[XID.format(79)] * 500)))["host.log_xid"]

    assert fact.value == 500
    assert len(fact.detail) == kernel_events.SHOWN
    assert "Xid" in fact.detail[0]


def test_the_journal_is_read_where_dmesg_is_for_root() -> None:
    journal = outcome(f"[{NOW - 5:.6f}] gpu001 kernel: {XID.format(79)}\n")

    assert read(DENIED, journal)["host.log_xid"].value == 1
    assert read(DENIED, outcome("-- No entries --\n"))["host.log_xid"].value == 0


@pytest.mark.parametrize("journal", [HIDDEN, MISSING, outcome(""), outcome("hello\n")])
def test_a_log_that_nobody_may_read_is_a_problem_with_its_remedy(journal: Outcome) -> None:
    for fact in read(DENIED, journal).values():
        assert fact.value is None
        assert "Operation not permitted" in (fact.problem or "")
        assert "sudo: [dmesg]" in (fact.problem or "")


@pytest.mark.parametrize(
    ("dmesg", "uptime"),
    [
        (outcome("hello\n"), UPTIME),
        (outcome(log()[:-1]), UPTIME),
        (outcome(log(), end="deadline"), UPTIME),
        (outcome(log()), outcome("soon\n")),
    ],
)
def test_what_is_no_log_is_never_zero_events(dmesg: Outcome, uptime: Outcome) -> None:
    assert all(fact.value is None for fact in read(dmesg, uptime=uptime).values())


def test_a_log_without_times_cannot_show_how_far_it_reaches() -> None:
    found = read(outcome("audit: something\nLinux version 6.8.0\n"))["host.log_xid"]

    assert found.value is None
    assert found.problem


def test_hostile_text_is_shown_without_its_power() -> None:
    fact = read(outcome(log(f"{XID.format(79)} \x1b[2J<script>\u202e")))["host.log_xid"]

    assert fact.detail[0].isprintable()


@pytest.mark.parametrize(
    ("begins", "journal", "xids"),
    [
        (NOW - 60, log(XID.format(79), ago=1000), 1),
        (NOW - 3700, "-- No entries --\n", 0),
        (5.0, "-- No entries --\n", 0),
        (NOW - 60, None, None),
    ],
)
def test_a_ring_that_has_wrapped_is_not_the_whole_hour(
    begins: float, journal: str | None, xids: int | None
) -> None:
    """A flood of messages pushes the cause out of memory; the journal still has it."""
    dmesg = outcome(f"[{begins:.6f}] audit: something\n[{NOW - 1:.6f}] audit: more\n")

    found = read(dmesg, outcome(journal) if journal else MISSING)["host.log_xid"]

    assert found.value == xids
    assert xids is not None or "reaches back 60 s only" in (found.problem or "")
