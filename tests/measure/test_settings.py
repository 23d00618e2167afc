"""Settings: the declaration first, the profile for the rest, the class from what is declared."""

from __future__ import annotations

import pytest

from pytest_fabric import ib_read_bw, ib_write_bw, ib_write_lat
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure.settings import resolve
from pytest_fabric.results import Pair, Port
from tests.clusters import TEXT, cluster

PAIR = Pair(Port("gpu001", "rail0"), Port("gpu002", "rail0"))
PROFILE = cluster().nodes["gpu001"].profile


def test_latency_has_iterations_and_bandwidth_a_duration() -> None:
    """Percentiles need -n; 5,000 messages at 400G last milliseconds, so bandwidth needs -D."""
    latency = resolve(ib_write_lat(size=4), PAIR, PROFILE, PROFILE)
    bandwidth = resolve(ib_write_bw(), PAIR, PROFILE, PROFILE)

    assert (latency.iterations, latency.duration_s, latency.qps) == (20_000, None, None)
    assert (bandwidth.iterations, bandwidth.duration_s, bandwidth.qps) == (None, 5, 4)
    assert (latency.size, bandwidth.size) == (4, 2**20)


def test_what_the_test_declares_wins() -> None:
    """The profile only fills up."""
    settings = resolve(ib_read_bw(size=65536, duration=2, qps=1), PAIR, PROFILE, PROFILE)

    assert (settings.size, settings.duration_s, settings.qps) == (65536, 2, 1)


def test_equal_settings_have_equal_keys_and_different_ones_do_not() -> None:
    """What is the same is measured once."""
    asked = resolve(ib_write_lat(size=4, iterations=20_000), PAIR, PROFILE, PROFILE)
    default = resolve(ib_write_lat(size=4), PAIR, PROFILE, PROFILE)
    other = resolve(ib_write_lat(size=8), PAIR, PROFILE, PROFILE)

    assert asked.key == default.key != other.key


def test_the_class_is_dscp_and_ecn_bits() -> None:
    """DSCP 26 travels as traffic class 106 on priority 3."""
    settings = resolve(ib_write_bw(), PAIR, PROFILE, PROFILE)

    assert (settings.traffic_class, settings.priority, settings.service_level) == (106, 3, None)


def test_infiniband_has_a_service_level_and_no_traffic_class() -> None:
    """The class of InfiniBand is its service level."""
    text = TEXT.replace("Ethernet", "InfiniBand").replace(
        "roce: {version: 2, lossless: [3], dscp: 26}", "infiniband: {service_level: 2}"
    )
    profile = cluster(text).nodes["gpu001"].profile
    settings = resolve(ib_write_bw(), PAIR, profile, profile)

    assert (settings.traffic_class, settings.priority, settings.service_level) == (None, None, 2)


def test_ends_of_different_classes_are_refused() -> None:
    """Traffic in two classes would prove neither."""
    other = cluster(TEXT.replace("dscp: 26", "dscp: 24")).nodes["gpu001"].profile

    with pytest.raises(MeasurementError, match="one traffic class at both ends"):
        resolve(ib_write_bw(), PAIR, PROFILE, other)


def test_a_slow_fabric_has_the_time_that_its_limits_allow() -> None:
    """An emulated machine needs a minute for what takes hardware a moment: no hang is made up."""
    slow = TEXT.replace("1.5 us .. 3 us", "<= 20 ms")
    profile = cluster(slow).nodes["gpu001"].profile

    assert resolve(ib_write_lat(size=4), PAIR, PROFILE, PROFILE).expected_s == pytest.approx(20)
    assert resolve(ib_write_lat(size=4), PAIR, profile, profile).expected_s == pytest.approx(1600)
    assert resolve(ib_write_bw(), PAIR, profile, profile).expected_s == 5


def test_another_partition_than_the_default_is_refused() -> None:
    """perftest runs in the default partition: its figures say nothing of another one."""
    text = TEXT.replace("Ethernet", "InfiniBand").replace(
        "roce: {version: 2, lossless: [3], dscp: 26}", 'infiniband: {partition: "0x8001"}'
    )
    profile = cluster(text).nodes["gpu001"].profile

    with pytest.raises(MeasurementError, match="0x8001"):
        resolve(ib_write_bw(), PAIR, profile, profile)
