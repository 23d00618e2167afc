"""The suite of reach against the lab: each fault at its own place, and nothing beside it."""

from __future__ import annotations

import json

import pytest

from pytest_fabric.report.records import read_measurements
from tests.lab.clusters import INFINIBAND

from .runs import at_once, ended, latest, run, verdicts

#: Beside the suite of reach, a check with small messages and one with large ones.
ASKED = "test_3_reach or ((test_small_write_p99 or test_page_write_p99) and not p999)"

#: The fault and its port; the checks that must not pass with it, failed or in error.
FAULTS = {
    "ping_loss@gpu001:rail0": {"test_ping": "failed", "test_ping_full_size": "failed"},
    "ping_blocked@gpu003:rail0": {
        "test_ping": "failed",
        "test_ping_full_size": "failed",
        "test_ping_round_trip": "error",
        "test_rdma_mtu_fits_the_path": "error",
    },
    "slow_reply@gpu005:rail0": {"test_ping_round_trip": "failed"},
    "path_mtu@gpu001:rail1": {
        "test_ping_full_size": "failed",
        "test_rdma_mtu_fits_the_path": "error",
        "test_page_write_p99": "error",
    },
    "rdma_blocked@gpu003:rail1": {
        "test_rdma": "error",
        "test_small_write_p99": "error",
        "test_page_write_p99": "error",
    },
    "mtu_low@gpu005:rail1": {
        "test_ping_full_size": "failed",
        "test_rdma_mtu_fits_the_path": "error",
    },
}

#: Pairs that share no port: each fault has one of its own, and one pair of each rail has none.
PAIRS = [
    f"gpu00{one}:rail{rail}..gpu00{one + 1}:rail{rail}" for rail in (0, 1) for one in (1, 3, 5, 7)
]


def test_each_fault_is_caught_at_its_place_and_nowhere_else(site: pytest.Pytester) -> None:
    text = (site.path / "cluster.yaml").read_text()
    text = text.replace("gpu[001-004]:", "gpu[001-008]:", 1)
    text = text.replace("{strategy: ring}", f"{{strategy: list, list: {json.dumps(PAIRS)}}}")
    (site.path / "cluster.yaml").write_text(text)
    done = run(site, "-k", ASKED, faults=FAULTS)

    assert done.ret == 1
    assert ended(site) == {
        (check, next(pair for pair in PAIRS if fault.partition("@")[2] in pair)): outcome
        for fault, checks in FAULTS.items()
        for check, outcome in checks.items()
    }
    barred = [v for v in verdicts(site) if "not tried, since RDMA does not" in (v.message or "")]
    assert {v.check for v in barred} == {"test_small_write_p99", "test_page_write_p99"}
    assert {v.target for v in barred} == {"gpu003:rail1..gpu004:rail1"}
    assert "Traceback" not in done.stdout.str() + done.stderr.str()
    again = [m for m in read_measurements(latest(site) / "measurements.jsonl") if m.alone]
    assert {(m.tool, m.target) for m in again} == {
        ("ping", "gpu001:rail0..gpu002:rail0"),
        ("ping", "gpu005:rail0..gpu006:rail0"),
    }


def test_infiniband_is_not_pinged_and_rdma_is_tried(site: pytest.Pytester) -> None:
    """What a profile says that its ports cannot show is skipped, and not even measured."""
    text = INFINIBAND.replace(
        "    link: {layer: InfiniBand, speed: 400 Gb/s, width: 4, mtu: 4096}\n",
        "    extends: builtin/cx7-400g-ndr\n",
    )
    (site.path / "cluster.yaml").write_text(text)
    done = run(site, "-k", "test_3_reach", "--fabric-pairs=ring")

    assert done.ret == 0
    outcomes = {(v.check, v.outcome) for v in verdicts(site)}
    pings = ("test_ping", "test_ping_round_trip", "test_ping_full_size")
    assert outcomes == {
        ("test_rdma", "passed"),
        *((check, "skipped") for check in (*pings, "test_rdma_mtu_fits_the_path")),
    }
    made = read_measurements(latest(site) / "measurements.jsonl")
    assert {m.tool for m in made} == {"ib_write_lat"}


def test_a_ping_is_resumed_replayed_and_planned(site: pytest.Pytester) -> None:
    """Its record is read again as it was made; a plan knows its command and its time."""
    chosen = ("-k", "test_3_reach and gpu001 and gpu002 and rail0")
    assert run(site, *chosen).ret == 0
    first = latest(site).resolve()
    made = read_measurements(first / "measurements.jsonl")
    assert sorted(len(m.reach) for m in made) == [0, 1, 2]

    replayed = at_once(site, "suites", *chosen, f"--fabric-replay={first}")
    assert replayed.ret == 0
    assert {v.outcome for v in verdicts(site)} == {"passed"}
    resumed = run(site, *chosen, f"--fabric-resume={first}")
    assert resumed.ret == 0
    again = read_measurements(latest(site) / "measurements.jsonl")
    assert [m.reach for m in again] == [m.reach for m in made]

    plan = at_once(site, "suites", *chosen, "--fabric-plan").stdout.str()
    assert "1 x 7.0 s  ping -n -c 3000 -i 0.002 -s 56 -W 2 -I NETDEV -I ADDRESS SERVER" in plan
    assert "ping -n -c 3000 -i 0.002 -s PAYLOAD -W 2 -M do -I NETDEV -I ADDRESS SERVER" in plan
