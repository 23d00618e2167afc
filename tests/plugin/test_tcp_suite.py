"""The suite of TCP against the lab: each fault at its own place, and nothing beside it."""

from __future__ import annotations

import json

import pytest

from pytest_fabric.report.records import read_measurements

from .runs import at_once, ended, latest, run, told, verdicts

#: The fault and its port; the checks that must fail with it.
FAULTS = {
    "tcp_slow_core@gpu001:rail0": {"test_tcp_throughput"},
    "sysctl@gpu004": {"test_tcp_throughput"},
    "ping_loss@gpu005:rail1": {"test_tcp_throughput", "test_tcp_retransmissions"},
    "slow_reply@gpu007:rail0": {"test_tcp_round_trip"},
    "tcp_bad_path@gpu007:rail1": {"test_tcp_fairness"},
}

PAIRS = [
    "gpu001:rail0..gpu002:rail0",
    "gpu003:rail0..gpu004:rail0",
    "gpu005:rail1..gpu006:rail1",
    "gpu007:rail0..gpu008:rail0",
    "gpu007:rail1..gpu008:rail1",
]


def test_each_fault_is_caught_at_its_place_and_nowhere_else(site: pytest.Pytester) -> None:
    """With iperf3 of two ages: what one thread cannot do is said, and not blamed on the network."""
    text = (site.path / "cluster.yaml").read_text()
    text = text.replace("gpu[001-004]:", "gpu[001-008]:", 1)
    text = text.replace("{strategy: ring}", f"{{strategy: list, list: {json.dumps(PAIRS)}}}")
    text = text.replace("  time: 0.02", '  iperf3: {gpu001: "3.12"}\n  time: 0.02')
    (site.path / "cluster.yaml").write_text(text)
    done = run(site, "-m", "tcp", faults=FAULTS)

    assert done.ret == 1
    places = {fault: fault.partition("@")[2] for fault in FAULTS}
    assert ended(site) == {
        (check, next(pair for pair in PAIRS if places[fault] in pair)): "failed"
        for fault, checks in FAULTS.items()
        for check in checks
    }
    failures = told(site, "failed")
    slow = failures["test_tcp_throughput", PAIRS[0]]
    assert "CPU-bound, not the network: the one thread of iperf3 3.12 at the sender" in slow
    assert "bandwidth x delay" in failures["test_tcp_throughput", PAIRS[1]]
    assert "Traceback" not in done.stdout.str() + done.stderr.str()


def test_tcp_is_resumed_replayed_and_planned(site: pytest.Pytester) -> None:
    """Its record is read again as it was made; a plan knows its command, its time and its phase."""
    chosen = ("-k", "test_7_tcp and gpu001 and gpu002 and rail0")
    assert run(site, *chosen).ret == 0
    first = latest(site).resolve()
    (made,) = read_measurements(first / "measurements.jsonl")
    assert made.tcp is not None
    assert {"client.stdout", "client.sockets", "server.stdout"} <= set(made.raw)

    assert at_once(site, "suites", *chosen, f"--fabric-replay={first}").ret == 0
    assert {v.outcome for v in verdicts(site)} == {"passed"}
    assert run(site, *chosen, f"--fabric-resume={first}").ret == 0
    (again,) = read_measurements(latest(site) / "measurements.jsonl")
    assert again.tcp == made.tcp
    plan = at_once(site, "suites", *chosen, "--fabric-plan").stdout.str()
    assert "1 x 8.5 s  iperf3 -J -c SERVER -B ADDRESS -p 18515 -t 5 -P 4" in plan
    assert "\ntcp  " in plan


def test_without_a_limit_tcp_is_skipped_once_for_each_check(site: pytest.Pytester) -> None:
    text = (site.path / "cluster.yaml").read_text()
    text = "".join(line for line in text.splitlines(True) if not line.strip().startswith("tcp."))
    (site.path / "cluster.yaml").write_text(text)
    run(site, "-m", "tcp")

    found = verdicts(site)
    assert {v.outcome for v in found} == {"skipped"}
    assert len(found) == 4
    assert {v.message for v in found} == {
        "no limit of tcp is declared in cluster.yaml: add `tcp.throughput`, or another, to the "
        "limits of a profile"
    }
