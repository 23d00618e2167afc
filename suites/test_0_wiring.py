"""Every cable ends where the plan, `cables:` of the cluster file, says."""

from pytest_fabric import catches, measure, wiring_facts


@catches("cable_swapped", "cable_wrong_port", "cable_missing_lldp")
@measure(wiring_facts())
def test_cable_is_where_the_plan_says(result):
    assert result.misplaced == 0


@catches("cable_swapped")
@measure(wiring_facts(over="fabric"))
def test_no_cables_are_swapped(result):
    assert result.swapped == 0
