"""What the fabric does when it is congested, and what its middle carries: disruptive load.

A fabric that is never congested proves nothing about PFC and ECN: an incast congests one on
purpose, and must be answered by marks, notifications or pauses, without any loss.
"""

from pytest_fabric import bisection, catches, measure


@catches("uplink_half_speed")
@measure(bisection())
def test_bisection_mean(result, limits):
    assert result.mean in limits["bisection.mean"]
