"""iperf3 of two releases on real kernels: right values, and the netdevs prove that they moved."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_fabric.report.rundir import read_raw

from .machines import Machine, restored
from .site import make


def test_tcp_is_what_iperf3_and_both_kernels_say(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    """What no limit asks for is skipped; `ss` sees no stream that is not ours."""
    with restored(*machines):
        site = make(tmp_path / "site", machines)
        done = site.run("-m", "tcp")

    assert done.returncode == 0, done.stdout
    outcomes = {(v.check, v.outcome) for v in site.verdicts().values()}
    assert outcomes == {
        ("test_tcp_throughput", "passed"),
        ("test_tcp_retransmissions", "passed"),
        ("test_tcp_round_trip", "passed"),
        ("test_tcp_fairness", "skipped"),
    }
    assert set(site.messages("skipped")) == {"no limit tcp.fairness is declared in profile soft"}
    for record in site.measurements():
        assert record.tcp is not None
        streams = read_raw(site.latest / record.raw["client.stdout"])
        end = json.loads(streams["client.stdout"])["end"]
        assert record.tcp.received_bps == end["sum_received"]["bits_per_second"]
        assert record.tcp.retransmits == end["sum_sent"]["retransmits"]
        assert set(record.versions.values()) == {"3.12", "3.18"}
        assert record.traffic is not None
        assert min(record.traffic.sent_bytes or 0, record.traffic.received_bytes or 0) > 0
        assert record.tcp.sockets in range(5)  # `ss` is asked three times, when the host lets it
