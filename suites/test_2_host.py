"""Every node's system is set up for RDMA."""

from pytest_fabric import catches, host_facts, measure


@catches("governor")
@measure(host_facts())
def test_cpu_governor(result, limits):
    assert result.governor in limits["host.governor"]
