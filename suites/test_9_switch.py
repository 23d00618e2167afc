"""The switch end of every cable took in all that the run sent: the last suite, behind all load."""

from pytest_fabric import catches, measure, switch_window


@catches("switch_errors")
@measure(switch_window())
def test_no_errors_at_the_switch(result, limits):
    assert result.rx_errors in limits["switch.rx_errors"]


@catches("switch_errors")
@measure(switch_window())
def test_no_uncorrectable_blocks_at_the_switch(result, limits):
    assert result.fec_uncorrected in limits["switch.fec_uncorrected"]


@catches("switch_drops")
@measure(switch_window())
def test_no_drops_of_lossless_queues(result, limits):
    assert result.queue_drops in limits["switch.queue_drops"]


@catches("pause_rx")
@measure(switch_window())
def test_switch_sends_no_pause(result, limits):
    assert result.pause_sent in limits["switch.pause_sent"]


@catches("pause_storm")
@measure(switch_window())
def test_switch_receives_no_pause(result, limits):
    assert result.pause_received in limits["switch.pause_received"]


@catches("ecn_thresholds_missing")
@measure(switch_window(congested=True))
def test_switch_marks_what_congests_it(result, limits):
    """At the ports in front of the receivers of incasts, where ECN is declared."""
    assert result.ecn_marked in limits["switch.ecn_marked"]
