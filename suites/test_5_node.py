"""All ports of each node at once: what its slots, its host and its GPUs can carry."""

from pytest_fabric import catches, gpu_bandwidth, measure, node_bandwidth


@catches("shared_slot")
@measure(node_bandwidth())
def test_bandwidth_of_all_ports(result, limits):
    assert result.bandwidth in limits["node.bandwidth"]


@catches("pcie_width")
@measure(node_bandwidth())
def test_no_port_falls_behind(result, limits):
    assert result.slowest in limits["node.slowest"]


@catches("packet_loss")
@measure(node_bandwidth())
def test_no_discards_with_all_ports(result, limits):
    assert result.growth("discards") in limits["discards.growth"]


@catches("packet_loss")
@measure(node_bandwidth())
def test_in_sequence_with_all_ports(result, limits):
    assert result.growth("out_of_sequence") in limits["out_of_sequence.growth"]


@catches("link_flap")
@measure(node_bandwidth())
def test_no_link_down_with_all_ports(result, limits):
    assert result.growth("link_downed") in limits["link_downed.growth"]


@catches("gpu_detour", "no_peer_memory")
@measure(gpu_bandwidth())
def test_bandwidth_of_all_gpus(result, limits):
    """From the memory of one GPU into that of another, where rails and profiles declare them."""
    assert result.bandwidth in limits["gpu.bandwidth"]


@catches("gpu_detour")
@measure(gpu_bandwidth())
def test_no_gpu_falls_behind(result, limits):
    assert result.slowest in limits["gpu.slowest"]
