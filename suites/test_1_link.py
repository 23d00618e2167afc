"""Every declared port is there, trained as declared, and its signal, module and slot are sound."""

from pytest_fabric import catches, link_facts, measure, port_facts


@catches("nic_missing")
@measure(port_facts())
def test_port_is_there(result):
    assert result.presence == "present"


@catches("port_down", "link_polling")
@measure(port_facts())
def test_port_state(result):
    assert result.state == "ACTIVE"


@catches("port_down", "link_polling")
@measure(port_facts())
def test_physical_state(result):
    assert result.physical_state == "LinkUp"


@catches("link_layer")
@measure(port_facts())
def test_link_layer(result, limits):
    assert result.layer in limits["link.layer"]


@catches("link_speed", "fewer_lanes", "bond_member_down", "bond_member_apart")
@measure(port_facts())
def test_link_speed(result, limits):
    assert result.speed in limits["link.speed"]


@catches("fewer_lanes")
@measure(port_facts())
def test_link_width(result, limits):
    assert result.width in limits["link.width"]


@catches("mtu_low")
@measure(port_facts())
def test_mtu(result, limits):
    assert result.active_mtu in limits["link.mtu"]


@catches("fec_mode")
@measure(link_facts())
def test_fec_mode(result, limits):
    assert result.fec in limits["link.fec"]


@catches("high_ber", "dirty_optic")
@measure(link_facts())
def test_bit_errors_before_correction(result, limits):
    assert result.raw_ber in limits["link.raw_ber"]


@catches("high_ber")
@measure(link_facts())
def test_bit_errors_after_correction(result, limits):
    """Errors of a time too short to show the limit are no verdict."""
    assert result.effective_ber in limits["link.effective_ber"]


@catches("uncorrectable", "high_ber")
@measure(link_facts())
def test_no_uncorrectable_blocks(result, limits):
    assert result.uncorrectable in limits["link.uncorrectable"]


@catches("link_flap")
@measure(link_facts())
def test_link_flaps(result, limits):
    """Since boot; that none happens under load is a matter of the pairs."""
    assert result.flaps in limits["link.flaps"]


@catches("module_hot", "root_only")
@measure(link_facts())
def test_module_temperature(result, limits):
    assert result.temperature in limits["module.temperature"]


@catches("module_hot")
@measure(link_facts())
def test_module_is_cooler_than_it_warns_at(result, limits):
    assert result.temperature_margin in limits["module.temperature_margin"]


@catches("dirty_optic")
@measure(link_facts())
def test_received_power(result, limits):
    assert result.rx_power_min in limits["module.rx_power_min"]


@catches("weak_laser")
@measure(link_facts())
def test_sent_power(result, limits):
    assert result.tx_power_min in limits["module.tx_power_min"]


@catches("dirty_optic")
@measure(link_facts())
def test_lanes_receive_alike(result, limits):
    assert result.lane_spread in limits["module.lane_spread"]


@catches("pcie_speed")
@measure(port_facts())
def test_pcie_speed(result, limits):
    assert result.pcie_speed in limits["pcie.speed"]


@catches("pcie_width")
@measure(port_facts())
def test_pcie_width(result, limits):
    assert result.pcie_width in limits["pcie.width"]


@catches("pcie_width", "pcie_speed", "narrow_slot_above")
@measure(port_facts())
def test_pcie_path(result):
    assert result.pcie_slow_links == 0


@catches("max_read_request")
@measure(link_facts())
def test_pcie_read_request(result, limits):
    assert result.max_read_request in limits["pcie.max_read_request"]


@catches("aer")
@measure(link_facts())
def test_pcie_corrected_errors(result, limits):
    assert result.aer_correctable in limits["pcie.aer_correctable"]


@catches("aer_uncorrectable")
@measure(link_facts())
def test_no_pcie_uncorrected_errors(result, limits):
    assert result.aer_uncorrectable in limits["pcie.aer_uncorrectable"]
