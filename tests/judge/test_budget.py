"""The budget of a small message, and what the window says of its tail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric import us
from pytest_fabric.config import LatencyParts, header_bytes
from pytest_fabric.judge.budget import Way, parts, tail, told
from pytest_fabric.judge.oddities import oddities
from pytest_fabric.results import Growth, Latency, PciHop, RdmaPort

from ..clusters import cluster
from ..report.examples import LATENCY

GIVEN = LatencyParts(software=us(1.35), switch=us(0.3), fec=us(0.1))
NEAR = Way(1, 6.0, 400e9, 4096, header_bytes("Ethernet"))
FAR = replace(NEAR, switches=3)


def latency(median: float, p99: float = 2e-6, size: int = 4) -> Latency:
    return Latency(size, 20000, 1e-6, 40e-6, median, median, p99, None)


def test_the_parts_add_up_to_what_a_sound_fabric_has() -> None:
    """1.9 us on one leaf, a microsecond more across a spine."""
    near, far = (sum(time for _, time in parts(way, GIVEN, 4)) for way in (NEAR, FAR))

    assert near == pytest.approx(1.882e-6, abs=1e-9)
    assert far - near == pytest.approx(2 * 0.3e-6 + 2 * 0.1e-6)


def test_a_median_within_its_budget_clears_the_path() -> None:
    text = told(replace(LATENCY, latency=latency(1.9e-6)), NEAR, GIVEN)

    assert text == (
        "1.88 us (software and cards 1.35 us, 1 switch 300 ns, FEC of 2 links 200 ns, "
        "serialisation 1.72 ns, 6 m of cable 30 ns); the median of 1.9 us is within it and 280 "
        "ns: the path is fine"
    )


def test_a_median_above_its_budget_is_a_longer_path_or_a_slow_host() -> None:
    text = told(replace(LATENCY, latency=latency(2.9e-6)), NEAR, GIVEN)

    assert "the median of 2.9 us is 1.02 us above it: more switches than planned" in text


@pytest.mark.parametrize(("tool", "size"), [("ib_read_lat", 4), ("ib_write_lat", 4096)])
def test_what_waits_for_memory_has_no_budget(tool: str, size: int) -> None:
    assert told(replace(LATENCY, tool=tool, latency=latency(3e-6, size=size)), NEAR, GIVEN) == ""


@pytest.mark.parametrize(
    ("growth", "p99", "expected"),
    [
        (
            Growth("gpu002:rail0", "tx_prio3_pause", "pause", 9, "tx", 3),
            18e-6,
            "P99 is 16 us above the median: queueing: somebody was told to pause "
            "(gpu002:rail0 tx_prio3_pause +9)",
        ),
        (
            Growth("gpu002:rail0", "out_of_sequence", "out_of_sequence", 7),
            18e-6,
            "P99 is 16 us above the median: loss: packets were missed and sent again "
            "(gpu002:rail0 out_of_sequence +7)",
        ),
        (
            Growth("gpu002:rail0", "tx_bytes_phy", "bytes", 7),
            18e-6,
            "P99 is 16 us above the median: nothing in this window explains it (no pause, no loss, "
            "no damage): look at the hosts: power saving, interrupts or other work on the core, "
            "hyperthreads",
        ),
        (
            Growth("gpu002:rail0", "tx_prio3_pause", "pause", 0, "tx", 3),
            67e-3,
            "P99 is 67 ms above the median: so long is a timeout, and no counter of this window "
            "shows a loss: look at the switches' counters",
        ),
    ],
)
def test_a_tail_is_explained_only_by_its_window(growth: Growth, p99: float, expected: str) -> None:
    record = replace(LATENCY, latency=latency(2e-6, p99), growth=(growth,))

    assert tail(record) == expected


def test_facts_that_differ_from_the_profile_are_told() -> None:
    hop = PciHop("0000:1a:00.0", 32e9, 8, 32e9, 16)
    record = RdmaPort(
        device="mlx5_0",
        number=1,
        pci="0000:1a:00.0",
        driver="mlx5_core",
        guid="",
        firmware=None,
        psid=None,
        netdevs=(),
        link_layer="Ethernet",
        state="ACTIVE",
        physical_state="LinkUp",
        speed_bps=200e9,
        width=4,
        active_mtu=1024,
        gids=(),
        numa_node=None,
        local_cpus=None,
        irq_cpus=(),
        traffic_class=None,
        pcie=(hop,),
    )
    profile = cluster().profiles["ours"]

    assert oddities(record, profile) == [
        "link 200 Gb/s, declared 400 Gb/s",
        "RDMA MTU 1024, declared 4096",
        "PCIe 32 GT/s x8, declared 32 GT/s x16",
    ]
