"""Settings: the declaration first, the profile for the rest, the class from what is declared."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fabric import ib_read_bw, ib_write_bw, ib_write_lat, ping, rdma_reach
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure.plan import Policy, Want, expected_s, jobs_of, refusal
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"packets": 0}, r"ping\(packets=0\): expected a whole number of at least 1"),
        ({"packets": 1.5}, r"ping\(packets=1.5\): expected a whole number"),
        ({"isolate": "rack"}, r"ping\(isolate='rack'\): expected one of node, leaf, fabric"),
    ],
)
def test_a_ping_that_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ping(**options)


def test_a_ping_takes_no_part_in_classes_and_partitions() -> None:
    """It shows the path; ends of unlike classes can be pinged all the same."""
    other = cluster(TEXT.replace("dscp: 26", "dscp: 10")).nodes["gpu001"].profile
    settings = resolve(ping(), PAIR, PROFILE, other)

    assert (settings.traffic_class, settings.priority, settings.duration_s) == (None, None, None)
    assert (settings.size, settings.iterations, settings.expected_s) == (56, 3000, 6.0)


def test_what_a_profile_does_not_have_is_refused_and_not_planned() -> None:
    """With its reason, whatever the load; other tools are measured."""
    text = TEXT.replace("not_available: {", 'not_available: {ping: "no address", ')
    cluster_without = cluster(text)
    wants = [Want(ping(full_size=True), PAIR), Want(rdma_reach(), PAIR)]

    assert refusal(wants[0], cluster_without, Policy()) == (
        "ping: not available by profile ours: no address"
    )
    assert refusal(wants[1], cluster_without, Policy()) is None
    assert refusal(wants[0], cluster(), Policy(load="light")) is None
    jobs = jobs_of(wants, cluster_without, Policy())
    assert [job.settings.tool for job in jobs] == ["ib_write_lat"]
    assert expected_s(jobs_of(wants, cluster(), Policy())[0]) == 7.0


def test_the_connection_is_that_of_both_profiles() -> None:
    """Without a word it is RC, as in the records of earlier runs."""
    usual = resolve(ib_write_lat(size=4), PAIR, PROFILE, PROFILE)
    traffic = PROFILE.traffic.model_copy(update={"connection": "SRD"})
    other = PROFILE.model_copy(update={"traffic": traffic})

    assert usual.connection is None
    assert "connection" not in usual.key
    assert resolve(ib_write_lat(size=4), PAIR, other, other).key.endswith("connection=SRD")
    with pytest.raises(MeasurementError, match=r"one traffic\.connection at both ends"):
        resolve(ib_write_lat(size=4), PAIR, PROFILE, other)
