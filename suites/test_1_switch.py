"""The switch end of every cable is set up as the host's end: link, neighbour, PFC, and ECN."""

from pytest_fabric import catches, measure, switch_facts


@catches("port_down", "cable_wrong_port")
@measure(switch_facts())
def test_switch_port_state(result):
    assert result.state == "up"


@catches("link_speed", "fewer_lanes")
@measure(switch_facts())
def test_switch_port_speed(result, limits):
    assert result.speed in limits["switch.speed"]


@catches("switch_fec", "fec_mode")
@measure(switch_facts())
def test_both_ends_have_one_fec(result):
    assert result.fec_differs == 0


@catches("path_mtu")
@measure(switch_facts())
def test_room_for_the_rdma_mtu_at_the_switch(result, limits):
    assert result.mtu in limits["switch.mtu"]


@catches("cable_swapped", "cable_wrong_port")
@measure(switch_facts())
def test_switch_hears_the_planned_port(result):
    assert result.misplaced == 0


@catches("switch_pfc_off")
@measure(switch_facts())
def test_lossless_priorities_at_the_switch(result):
    assert result.pfc_missing == 0


@catches("switch_ecn_off")
@measure(switch_facts())
def test_ecn_of_lossless_queues_at_the_switch(result):
    assert result.ecn_missing == 0
