"""Whole runs on EFA: reach, latency and bandwidth over SRD, and a fault at its place."""

from __future__ import annotations

import pytest

from pytest_fabric.report.records import read_measurements

from .runs import bad, latest, run, verdicts

CLUSTER = """
name: efa
transport: lab
lab: {time: 0.01, adapters: {"ec[1-3]": efa}}
nodes: {"ec[1-3]": {profile: builtin/efa-100g}}
rails:
  rail0: {pci: "0000:1a:00.0", leaf: leaf-0}
pairs: {strategy: ring}
"""

PAIRS = ("suites/test_3_reach.py", "suites/test_4_pair.py")
FEW = "(test_rdma or small_write_p99 or send_bandwidth or no_retrans) and not mtu and not p999"


@pytest.fixture
def efa(site: pytest.Pytester) -> pytest.Pytester:
    """Return a folder whose cluster has three nodes with EFA."""
    (site.path / "cluster.yaml").write_text(CLUSTER)
    return site


def test_pairs_of_efa_are_measured_over_srd(efa: pytest.Pytester) -> None:
    done = run(efa, "-k", FEW, "--fabric-no-reports", suites=PAIRS)

    assert done.ret == 0
    assert {one.outcome for one in verdicts(efa)} == {"passed"}
    measured = read_measurements(latest(efa) / "measurements.jsonl")
    assert {one.tool for one in measured} == {"ib_write_lat", "ib_send_bw", "ib_write_bw"}
    assert [one.doubts for one in measured if one.doubts] == []
    for one in measured:
        assert {"-c", "SRD", "-x"} <= set(one.commands["client"].split())
        assert one.traffic is not None
        assert (one.traffic.sent_bytes or 0) >= one.traffic.expected_bytes


def test_what_is_sent_again_is_told_at_its_place(efa: pytest.Pytester) -> None:
    faults = ["damaged_out@ec2:rail0"]
    done = run(efa, "-k", FEW, "--fabric-no-reports", suites=PAIRS, faults=faults)

    assert done.ret == 1
    assert {(one.check, one.target) for one in bad(efa)} == {
        ("test_no_retransmissions", "ec2:rail0..ec3:rail0")
    }
