"""Hours of full load, where `--fabric-soak 24h` asks for them: what shows over time only."""

from pytest_fabric import catches, measure, soak


@catches("flap_now_and_then")
@measure(soak())
def test_soak_flaps(result, limits):
    assert result.flaps in limits["soak.flaps"]


@catches("uncorrectable")
@measure(soak())
def test_soak_uncorrectable_blocks(result, limits):
    assert result.uncorrectable in limits["soak.uncorrectable"]


@catches("uncorrectable")
@measure(soak())
def test_soak_bit_errors_after_correction(result, limits):
    """Errors of a time too short to show the limit are no verdict."""
    assert result.effective_ber in limits["soak.effective_ber"]


@catches("high_ber")
@measure(soak())
def test_soak_bit_errors_before_correction(result, limits):
    assert result.raw_ber in limits["soak.raw_ber"]


@catches("ber_creep")
@measure(soak())
def test_soak_bit_errors_do_not_creep(result, limits):
    assert result.raw_ber_growth in limits["soak.raw_ber_growth"]


@catches("temperature_drift")
@measure(soak())
def test_soak_temperature_drift(result, limits):
    assert result.temperature_drift in limits["soak.temperature_drift"]


@catches("pcie_width")
@measure(soak(over="fabric"))
def test_soak_bandwidth(result, limits):
    assert result.bandwidth_p1 in limits["soak.bandwidth_p1"]
