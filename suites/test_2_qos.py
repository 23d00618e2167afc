"""Every Ethernet port treats RDMA as declared: trust, PFC, ECN, CNPs, GID, MTU, subnet."""

from pytest_fabric import catches, measure, qos_facts


@catches("trust_pcp")
@measure(qos_facts())
def test_trust(result, limits):
    assert result.trust in limits["roce.trust"]


@catches("pfc_off", "pfc_other_priority")
@measure(qos_facts())
def test_lossless_priorities(result, limits):
    assert result.lossless in limits["roce.lossless"]


@catches("dscp_map", "trust_pcp")
@measure(qos_facts())
def test_priority_of_rdma(result, limits):
    assert result.dscp_priority in limits["roce.dscp_priority"]


@catches("ecn_np_off", "ecn_rp_off")
@measure(qos_facts())
def test_ecn(result, limits):
    assert result.ecn in limits["roce.ecn"]


@catches("cnp_class")
@measure(qos_facts())
def test_dscp_of_cnps(result, limits):
    assert result.cnp_dscp in limits["roce.cnp_dscp"]


@catches("cnp_class")
@measure(qos_facts())
def test_priority_of_cnps(result, limits):
    assert result.cnp_priority in limits["roce.cnp_priority"]


@catches("global_pause")
@measure(qos_facts())
def test_no_global_pause(result, limits):
    assert result.global_pause in limits["roce.global_pause"]


@catches("gid_v1_only", "gid_missing")
@measure(qos_facts())
def test_roce_version(result, limits):
    assert result.gid_version in limits["roce.gid_version"]


@catches("gid_shifted")
@measure(qos_facts(over="fabric"))
def test_same_gid_index(result):
    """Jobs are given one index for all ports; measurements here look for the address instead."""
    assert result.odd("gid_index", among="profile") == 0


@catches("tclass_override")
@measure(qos_facts())
def test_no_other_class_is_forced(result):
    assert result.traffic_class_override == 0


@catches("netdev_mtu", "mtu_low")
@measure(qos_facts())
def test_room_for_the_rdma_mtu(result, limits):
    assert result.netdev_mtu in limits["roce.netdev_mtu"]


@catches("rails_one_subnet")
@measure(qos_facts())
def test_rails_have_their_own_subnets(result, limits):
    assert result.same_subnet in limits["roce.same_subnet"]
