"""Every node's system is set up for RDMA, alike on all of them, and its kernel tells no trouble."""

from pytest_fabric import catches, host_facts, link_facts, measure, port_facts


@catches("governor")
@measure(host_facts())
def test_cpu_governor(result, limits):
    assert result.governor in limits["host.governor"]


@catches("cpu_frequency")
@measure(host_facts())
def test_no_cpu_is_capped(result):
    """A CPU that may not clock as high as it can makes every message of its core late."""
    assert result.capped_cpus == 0


@catches("memlock")
@measure(host_facts())
def test_memlock(result, limits):
    assert result.memlock in limits["host.memlock"]


@catches("numa_balancing")
@measure(host_facts())
def test_numa_balancing(result, limits):
    assert result.numa_balancing in limits["host.numa_balancing"]


@catches("sysctl")
@measure(host_facts())
def test_receive_buffer(result, limits):
    assert result.rmem_max in limits["host.rmem_max"]


@catches("sysctl")
@measure(host_facts())
def test_send_buffer(result, limits):
    assert result.wmem_max in limits["host.wmem_max"]


@catches("sysctl")
@measure(host_facts())
def test_tcp_receive_buffer(result, limits):
    assert result.tcp_rmem_max in limits["host.tcp_rmem_max"]


@catches("sysctl")
@measure(host_facts())
def test_tcp_send_buffer(result, limits):
    assert result.tcp_wmem_max in limits["host.tcp_wmem_max"]


@catches("sysctl")
@measure(host_facts())
def test_receive_backlog(result, limits):
    assert result.netdev_max_backlog in limits["host.netdev_max_backlog"]


@catches("iommu")
@measure(host_facts())
def test_iommu_does_not_translate(result):
    assert result.iommu != "translated"


@catches("acs")
@measure(host_facts())
def test_no_pcie_bridge_redirects(result):
    assert result.acs == 0


@catches("numa_unknown")
@measure(port_facts())
def test_numa_node(result):
    assert result.numa_node >= 0


@catches("wrong_numa")
@measure(link_facts(over="fabric"))
def test_same_numa_node(result):
    """A rail is below the same socket on every node: cores and GPUs are chosen by it."""
    assert result.odd("numa_node", among="rail") == 0


@catches("irqs_one_core")
@measure(port_facts())
def test_interrupts_are_spread(result):
    assert result.irq_cpus > 1


@catches("irqs_remote")
@measure(port_facts())
def test_interrupts_are_local(result):
    assert result.remote_irq_cpus == 0


@catches("log_mlx5")
@measure(host_facts())
def test_kernel_log_tells_no_fault_of_a_card(result):
    assert result.log_mlx5 == 0


@catches("log_xid")
@measure(host_facts())
def test_kernel_log_tells_no_fault_of_a_gpu(result):
    assert result.log_xid == 0


@catches("log_aer")
@measure(host_facts())
def test_kernel_log_tells_no_pcie_error(result):
    assert result.log_aer == 0


@catches("log_aer_corrected")
@measure(host_facts())
def test_kernel_log_tells_few_corrected_pcie_errors(result, limits):
    assert result.log_aer_corrected in limits["host.log_aer_corrected"]


@catches("log_link_down")
@measure(host_facts())
def test_kernel_log_tells_no_lost_link(result):
    assert result.log_link_down == 0


@catches("kernel_minority")
@measure(host_facts(over="fabric"))
def test_same_kernel(result):
    """Among nodes of one profile: storage and compute may run different ones."""
    assert result.odd("kernel", among="profile") == 0


@catches("os_minority")
@measure(host_facts(over="fabric"))
def test_same_system(result):
    assert result.odd("os", among="profile") == 0
