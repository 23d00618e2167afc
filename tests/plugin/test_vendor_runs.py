"""Whole runs on Broadcom and Intel in one cluster: green when healthy, red at its place."""

from __future__ import annotations

import pytest

from pytest_fabric.report.records import read_measurements

from .runs import bad, latest, run, told, verdicts

#: Pairs are made within a maker: rails of one name meet.
CLUSTER = """
name: makers
transport: lab
lab:
  time: 0.01
  adapters: {"gpu[001-002]": thor2, "gpu[003-004]": e810}
nodes:
  gpu[001-002]: {profile: thor2, rails: {fast0: *fast0, fast1: *fast1}}
  gpu[003-004]: {profile: e810, rails: {slow0: *slow0, slow1: *slow1}}
profiles:
  thor2: {extends: builtin/thor2-400g-roce}
  e810: {extends: builtin/e810-100g-roce}
pairs: {strategy: ring}
"""

RAILS = {
    name: f'{{pci: "0000:{bus}:00.0", network: 10.{place}.0.0/16, leaf: leaf-{place}}}'
    for place, (name, bus) in enumerate(
        (("fast0", "1a"), ("fast1", "3a"), ("slow0", "1a"), ("slow1", "3a"))
    )
}

#: What ice and irdma cannot tell, and what the firmware's tool tells of NVIDIA's cards only.
BLIND = {
    "test_traffic_class",
    "test_in_sequence",
    "test_no_link_down",
    "test_in_sequence_with_all_ports",
    "test_no_link_down_with_all_ports",
    "test_pcie_read_request",
}
FIRMWARE = {
    "test_bit_errors_before_correction",
    "test_bit_errors_after_correction",
    "test_declared_firmware",
}


@pytest.fixture
def makers(site: pytest.Pytester) -> pytest.Pytester:
    """Return a folder whose cluster has two nodes with Thor 2 and two with E810."""
    text = CLUSTER
    for name, rail in RAILS.items():
        text = text.replace(f"*{name}", rail)
    (site.path / "cluster.yaml").write_text(text)
    return site


def test_a_healthy_fabric_passes_and_says_what_its_cards_cannot_tell(
    makers: pytest.Pytester,
) -> None:
    """No window is judged before its counters are fresh: no doubt, no counter that is missing."""
    done = run(makers)

    assert done.ret == 0
    unasked = [verdict for verdict in verdicts(makers) if verdict.outcome == "skipped"]
    skipped = [v for v in unasked if "not available by profile" in (v.message or "")]
    blind = [verdict for verdict in skipped if verdict.check not in FIRMWARE]
    assert {verdict.check for verdict in skipped} == BLIND | FIRMWARE
    assert all(
        "slow" in verdict.target or verdict.target in ("gpu003", "gpu004") for verdict in blind
    )
    assert {verdict.outcome for verdict in verdicts(makers)} == {"passed", "skipped"}
    measured = read_measurements(latest(makers) / "measurements.jsonl")
    assert [one.doubts for one in measured if one.doubts] == []
    share = {one.target: one.traffic.class_share for one in measured if one.traffic}
    assert {share[name] is None for name in share if "slow" in name} == {True}
    assert all((share[name] or 0) > 0.9 for name in share if "fast" in name)


CHECKS = (
    "(test_link_speed or test_write_bandwidth or test_no_pause or test_traffic_class "
    "or test_no_discards or test_in_sequence or test_no_retransmissions) and not all_ports"
)


def pair(client: str, server: str, rail: str) -> str:
    return f"{client}:{rail}..{server}:{rail}"


def both(one: str, other: str, rail: str) -> tuple[str, str]:
    return pair(one, other, rail), pair(other, one, rail)


def test_faults_are_found_at_their_place(makers: pytest.Pytester) -> None:
    """Each on a rail of its own, so that each pair has one cause for what it shows."""
    faults = (
        "pause_rx@gpu002:fast0",
        "default_class@gpu002:fast1",
        "link_speed@gpu004:slow0",
        "counter_missing@gpu004:slow1",
    )
    done = run(makers, "-k", CHECKS, faults=faults)

    assert done.ret == 1
    fast, slow = ("gpu001", "gpu002"), ("gpu003", "gpu004")
    lost = pair("gpu002", "gpu001", "fast1")
    assert told(makers, "failed").keys() == {
        *(("test_no_pause", name) for name in both(*fast, "fast0")),
        ("test_traffic_class", lost),
        ("test_link_speed", "gpu004:slow0"),
        *(("test_write_bandwidth", name) for name in both(*slow, "slow0")),
    }
    judged = {"test_write_bandwidth", "test_no_pause", "test_no_discards", "test_in_sequence"}
    assert told(makers, "error").keys() == {
        *((check, lost) for check in (*judged, "test_no_retransmissions")),
        *(("test_no_pause", name) for name in both(*slow, "slow1")),
    }


def test_faults_are_found_on_the_cards_of_the_other_maker_too(makers: pytest.Pytester) -> None:
    """What the class of E810 is cannot be told: its profile says so, and nothing passes for it."""
    faults = (
        "link_speed@gpu002:fast0",
        "counter_missing@gpu002:fast1",
        "pause_rx@gpu004:slow0",
        "packet_loss@gpu004:slow1",
    )
    done = run(makers, "-k", CHECKS, faults=faults)

    assert done.ret == 1
    fast, slow = ("gpu001", "gpu002"), ("gpu003", "gpu004")
    lossy = pair("gpu003", "gpu004", "slow1")
    assert told(makers, "failed").keys() == {
        ("test_link_speed", "gpu002:fast0"),
        *(("test_write_bandwidth", name) for name in both(*fast, "fast0")),
        *(("test_no_pause", name) for name in both(*slow, "slow0")),
        ("test_no_discards", lossy),
        ("test_no_retransmissions", lossy),
    }
    assert told(makers, "error").keys() == {
        ("test_no_pause", name) for name in both(*fast, "fast1")
    }


def test_ports_that_carry_traffic_of_others_are_refused(makers: pytest.Pytester) -> None:
    """Also where the bytes of RDMA are in no file that InfiniBand has."""
    faults = ("foreign_traffic@gpu002:fast0", "foreign_traffic@gpu004:slow0")
    run(makers, *(f"--fabric-fault={fault}" for fault in faults), "-k", "test_write_bandwidth")

    errors = bad(makers, "error")
    assert {name for verdict in errors for name in ("gpu002", "gpu004") if name in verdict.target}
    for place in ("gpu002:fast0", "gpu004:slow0"):
        assert any(f"{place} moves" in (verdict.message or "") for verdict in errors)
    assert bad(makers) == []
