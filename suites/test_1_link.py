"""Every declared port is there and trained as declared: state, layer, speed, width, MTU, PCIe."""

from pytest_fabric import measure, port_facts


@measure(port_facts())
def test_port_state(result):
    assert result.state == "ACTIVE"


@measure(port_facts())
def test_physical_state(result):
    assert result.physical_state == "LinkUp"


@measure(port_facts())
def test_link_layer(result, limits):
    assert result.layer in limits["link.layer"]


@measure(port_facts())
def test_link_speed(result, limits):
    assert result.speed in limits["link.speed"]


@measure(port_facts())
def test_link_width(result, limits):
    assert result.width in limits["link.width"]


@measure(port_facts())
def test_mtu(result, limits):
    assert result.active_mtu in limits["link.mtu"]


@measure(port_facts())
def test_pcie_speed(result, limits):
    assert result.pcie_speed in limits["pcie.speed"]


@measure(port_facts())
def test_pcie_width(result, limits):
    assert result.pcie_width in limits["pcie.width"]


@measure(port_facts())
def test_pcie_path(result):
    assert result.pcie_slow_links == 0
