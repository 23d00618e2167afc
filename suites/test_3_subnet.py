"""The InfiniBand subnet is managed, every port is in it, and every link in it is up and whole."""

from pytest_fabric import catches, infiniband_facts, measure, subnet_facts


@catches("no_subnet_manager")
@measure(subnet_facts())
def test_subnet_manager(result):
    assert result.manager == "master"


@catches("no_subnet_manager")
@measure(subnet_facts())
def test_one_master_per_subnet(result):
    assert result.managers == 1


@catches("second_manager")
@measure(infiniband_facts(over="fabric"))
def test_ports_know_one_subnet_manager(result):
    """As each port sees it: in a subnet that was split, each part has a master of its own."""
    assert result.odd("sm_lid", among="rail") == 0


@catches("ib_link_down")
@measure(subnet_facts())
def test_no_link_is_down(result):
    assert result.links_down == 0


@catches("slow_ib_link")
@measure(subnet_facts())
def test_no_link_is_slow(result):
    assert result.slow_links == 0


@catches("no_lid")
@measure(subnet_facts())
def test_every_port_has_a_lid(result):
    assert result.ports_without_lid == 0


@catches("no_lid")
@measure(infiniband_facts())
def test_lid(result):
    assert result.lid > 0


@catches("no_lid")
@measure(infiniband_facts())
def test_lid_of_the_subnet_manager(result):
    assert result.sm_lid > 0


@catches("wrong_partition")
@measure(infiniband_facts())
def test_partition(result, limits):
    assert result.partition in limits["infiniband.partition"]
