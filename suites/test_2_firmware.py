"""Every card runs the firmware that is declared for its board, and all cards of a kind the same."""

from pytest_fabric import catches, firmware_facts, measure


@catches("firmware_minority", "firmware_declared")
@measure(firmware_facts())
def test_declared_firmware(result, limits):
    assert result.running in limits.firmware(result.psid)


@catches("firmware_pending")
@measure(firmware_facts())
def test_no_firmware_waits_for_a_reset(result):
    assert result.pending == 0


@catches("firmware_minority")
@measure(firmware_facts(over="fabric"))
def test_same_firmware(result):
    assert result.odd("running", among="psid") == 0


@catches("driver_minority")
@measure(firmware_facts(over="fabric"))
def test_same_driver(result):
    assert result.odd("driver", among="psid") == 0
