"""TCP between ports, in the class beside RDMA: only what a profile declares a limit of.

A host is more often the limit than the network: where a core, a window or a buffer was, a failure
says so.
"""

from pytest_fabric import catches, iperf3, measure


@catches("tcp_slow_core", "sysctl")
@measure(iperf3(streams=4))
def test_tcp_throughput(result, limits):
    assert result.throughput in limits["tcp.throughput"]


@catches("ping_loss")
@measure(iperf3(streams=4))
def test_tcp_retransmissions(result, limits):
    assert result.retransmissions in limits["tcp.retransmissions"]


@catches("slow_reply")
@measure(iperf3(streams=4))
def test_tcp_round_trip(result, limits):
    assert result.rtt in limits["tcp.rtt"]


@catches("tcp_bad_path")
@measure(iperf3(streams=4))
def test_tcp_fairness(result, limits):
    assert result.fairness in limits["tcp.fairness"]
