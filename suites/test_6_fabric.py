"""What the fabric does when it is congested, and what its middle carries: disruptive load.

A fabric that is never congested proves nothing about PFC and ECN. An incast congests one on
purpose, which must be answered by marks, notifications or pauses, and must not lose anything.
What all pairs measured is looked at together besides: hop classes, and what only load made miss.
"""

from pytest_fabric import bisection, catches, ib_write_bw, ib_write_lat, incast, measure


@catches("class_unknown_leaf")
@measure(incast(senders=2))
def test_incast_is_answered(result, limits):
    assert result.reaction in limits["incast.reaction"]


@catches("ecn_np_off")
@measure(incast(senders=2))
def test_incast_is_notified(result, limits):
    assert result.cnp_sent in limits["incast.cnp_sent"]


@catches("ecn_rp_off")
@measure(incast(senders=2))
def test_incast_is_obeyed(result, limits):
    assert result.cnp_handled in limits["incast.cnp_handled"]


@catches("ecn_rp_off", "ecn_thresholds_missing", "cnp_wrong_queue")
@measure(incast(senders=2))
def test_incast_pauses_little(result, limits):
    assert result.paused in limits["incast.paused"]


@catches("pcie_width")
@measure(incast(senders=2))
def test_incast_fills_its_receiver(result, limits):
    assert result.bandwidth in limits["incast.bandwidth"]


@catches("ecn_rp_off")
@measure(incast(senders=2))
def test_incast_is_shared(result, limits):
    assert result.slowest in limits["incast.slowest"]


@catches("packet_loss")
@measure(incast(senders=2))
def test_incast_discards_nothing(result, limits):
    assert result.growth("discards") in limits["discards.growth"]


@catches("packet_loss", "pfc_off_leaf", "pfc_other_priority_leaf", "incast_loss")
@measure(incast(senders=2))
def test_incast_is_in_sequence(result, limits):
    assert result.growth("out_of_sequence") in limits["out_of_sequence.growth"]


@catches("packet_loss")
@measure(incast(senders=2))
def test_incast_sends_nothing_again(result, limits):
    assert result.growth("retransmissions") in limits["retransmissions.growth"]


@catches("class_unknown_leaf")
@measure(incast(senders=8))
def test_incast_of_eight_is_answered(result, limits):
    assert result.reaction in limits["incast.reaction"]


@catches("pcie_width")
@measure(incast(senders=8))
def test_incast_of_eight_fills_its_receiver(result, limits):
    assert result.bandwidth in limits["incast.bandwidth"]


@catches("ecn_rp_off")
@measure(incast(senders=8))
def test_incast_of_eight_is_shared(result, limits):
    assert result.fastest in limits["incast.fastest"]


@catches("packet_loss")
@measure(incast(senders=8))
def test_incast_of_eight_discards_nothing(result, limits):
    assert result.growth("discards") in limits["discards.growth"]


@catches("packet_loss")
@measure(incast(senders=8))
def test_incast_of_eight_is_in_sequence(result, limits):
    assert result.growth("out_of_sequence") in limits["out_of_sequence.growth"]


@catches("packet_loss")
@measure(incast(senders=8))
def test_incast_of_eight_sends_nothing_again(result, limits):
    assert result.growth("retransmissions") in limits["retransmissions.growth"]


@catches("congested_leaf", "half_uplink")
@measure(bisection())
def test_bisection_mean(result, limits):
    assert result.mean in limits["bisection.mean"]


@catches("half_uplink")
@measure(bisection())
def test_bisection_slowest(result, limits):
    assert result.slowest in limits["bisection.slowest"]


@catches("slow_spines")
@measure(ib_write_lat(size=4, over="fabric"))
def test_hops_explain_latency(result, limits):
    assert result.unexplained in limits["hops.unexplained"]


@catches("leaf_detour")
@measure(ib_write_lat(size=4, over="fabric"))
def test_no_leaf_pair_is_odd(result, limits):
    assert result.odd in limits["hops.odd"]


@catches("thin_uplinks")
@measure(ib_write_bw(over="fabric"))
def test_contention_is_no_rule(result, limits):
    """A pair that misses beside others, and holds alone, passes; many of them are a finding."""
    assert result.contention_share in limits["contention.share"]


@catches("shared_slot")
@measure(ib_write_bw(over="fabric"))
def test_contention_gathers_nowhere(result, limits):
    assert result.contention_places in limits["contention.places"]
