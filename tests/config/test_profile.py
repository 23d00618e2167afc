"""Profiles: what `extends` makes of them, and which line each limit comes from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fabric import counters, metrics
from pytest_fabric.config import (
    Absolute,
    Cluster,
    Profile,
    Range,
    Relative,
    Word,
    builtin_names,
    load_text,
)
from pytest_fabric.config.profile import builtin_table
from pytest_fabric.judge.limits import NOTIFICATIONS
from pytest_fabric.units import Quantity, gbps, us
from tests import clusters

#: Messages that the suites send besides each tool's usual one.
SUITE_METRICS = [
    f"{tool}{size}.{statistic}"
    for tool in metrics.LATENCY_TOOLS
    for size in ("", ".4096")
    for statistic in ("p999", "p99", "median")
] + [f"{tool}.average" for tool in metrics.BANDWIDTH_TOOLS]


def cluster(profiles: str, profile: str = "a") -> Cluster:
    text = f"nodes: {{n: {{profile: {profile}}}}}\nrails: {{r: {{device: mlx5_0}}}}\n{profiles}"
    return load_text(text, Path("cluster.yaml"))


def profile(profiles: str, name: str = "a") -> Profile:
    return cluster(profiles, name).nodes["n"].profile


def test_the_builtin_profiles_are_known() -> None:
    """Their names are the names of their files."""
    assert builtin_names() == (
        "cx5-100g-roce",
        "cx6-200g-hdr",
        "cx6-200g-roce",
        "cx7-400g-ndr",
        "cx7-400g-roce",
        "e810-100g-roce",
        "efa-100g",
        "pollara-400g-roce",
        "soft-roce",
        "thor2-400g-roce",
    )


def test_a_child_overrides_by_key_and_inherits_the_rest() -> None:
    """Mappings merge deep; scalars and lists are replaced."""
    found = profile(
        """
profiles:
  b: {link: {layer: Ethernet, speed: 100 Gb/s, width: 4}, roce: {lossless: [3], dscp: 26}}
  a: {extends: b, link: {speed: 25 Gb/s}, roce: {lossless: [4]}}
"""
    )

    assert found.link.layer == "Ethernet"
    assert (found.link.speed, found.link.width) == (gbps(25), 4)
    assert found.roce is not None
    assert (found.roce.lossless, found.roce.dscp) == ((4,), 26)


def test_a_limit_points_at_the_line_where_it_stands() -> None:
    """The winning value's own line is named, in the cluster file or in a builtin profile."""
    limits = profile(
        """
profiles:
  b:
    extends: builtin/cx7-400g-roce
    limits:
      ib_write_lat.p99: "<= 4 us"
      ib_write_lat.median: "<= 2 us"
  a:
    extends: b
    link: {speed: 200 Gb/s}
    limits:
      ib_write_lat.median: "<= 1 us"
"""
    ).limits
    builtin = builtin_table("cx7-400g-roce")

    assert limits["ib_write_lat.p99"].source == "cluster.yaml:8"
    assert limits["ib_write_lat.median"].source == "cluster.yaml:14"
    assert limits["link.speed"].source == "cluster.yaml:12"
    assert limits["ib_read_lat.p99"].source == str(builtin["limits"].marks["ib_read_lat.p99"])
    assert limits["ib_read_lat.p99"].source.startswith("builtin/cx7-400g-roce.yaml:")
    assert {limit.profile for limit in limits.values()} == {"a"}


def test_declared_facts_are_limits() -> None:
    """A port must have what its profile declares."""
    found = profile(
        """
profiles:
  a:
    link: {layer: InfiniBand, speed: 400 Gb/s, width: 4, mtu: 4096}
    pcie: {speed: 32 GT/s, width: 16}
"""
    )

    assert {name: limit.clauses for name, limit in found.limits.items()} == {
        "link.layer": (Word("InfiniBand"),),
        "link.speed": (Absolute("==", gbps(400)),),
        "link.width": (Absolute("==", Quantity(4, "")),),
        "link.mtu": (Absolute("==", Quantity(4096, "B")),),
        "pcie.speed": (Absolute("==", Quantity(32e9, "T/s")),),
        "pcie.width": (Absolute("==", Quantity(16, "")),),
    }
    assert [limit.text for limit in found.limits.values()] == [
        *("== InfiniBand", "== 400 Gb/s", "== 4", "== 4096 B", "== 32 GT/s", "== 16")
    ]


def limits_of(roce: str, rest: str = "") -> dict[str, tuple[str, str]]:
    """Return text and place of each limit on the class of RDMA that a profile makes."""
    found = profile(
        f"""
profiles:
  a:
    link: {{layer: Ethernet, mtu: 4096}}
    roce:
      {roce}
{rest}
"""
    )
    return {
        name: (limit.text, limit.source.rpartition(":")[2])
        for name, limit in found.limits.items()
        if name.startswith("roce.")
    }


ROOM = {"roce.netdev_mtu": (">= 4192 B", "6")}


@pytest.mark.parametrize(
    ("roce", "limits"),
    [
        ("version: 1", {"gid_version": ("== 1", "8")}),
        ("lossless: []", {"lossless": ("== none", "8"), "gid_version": ("== 2", "7")}),
        ("lossless: [3, 4]", {"lossless": ("== 3,4", "8"), "gid_version": ("== 2", "7")}),
        ("ecn: false", {"ecn": ("== off", "8"), "gid_version": ("== 2", "7")}),
        ("dscp: 26", {"dscp_priority": ("== 3", "8"), "gid_version": ("== 2", "7")}),
        ("trust: pcp\n      dscp: 26", {"trust": ("== pcp", "8"), "gid_version": ("== 2", "7")}),
        (
            "dscp: 26\n      priority: 5",
            {"dscp_priority": ("== 5", "9"), "gid_version": ("== 2", "7")},
        ),
        (
            "dscp: 26\n      lossless: [4]\n      version: 2",
            {
                "lossless": ("== 4", "9"),
                "dscp_priority": ("== 4", "9"),
                "gid_version": ("== 2", "10"),
            },
        ),
        ("cnp: {dscp: 48}", {"cnp_dscp": ("== 48", "8"), "gid_version": ("== 2", "7")}),
        (
            "cnp:\n        dscp: 48\n        priority: 6",
            {
                "cnp_dscp": ("== 48", "9"),
                "cnp_priority": ("== 6", "10"),
                "gid_version": ("== 2", "7"),
            },
        ),
    ],
)
def test_what_is_declared_of_roce_is_a_limit_at_its_line(
    roce: str, limits: dict[str, tuple[str, str]]
) -> None:
    """Each key that is written; what is not written binds nobody but the version."""
    expected = {f"roce.{name}": limit for name, limit in limits.items()}

    assert limits_of(roce) == expected | ROOM


def test_a_site_may_ask_for_more_room_than_the_rdma_mtu_needs() -> None:
    """The bound follows from link.mtu, and is nobody's declaration."""
    limits = limits_of("version: 2", "    limits: {roce.netdev_mtu: '== 9000 B'}")

    assert limits["roce.netdev_mtu"] == ("== 9000 B", "9")


def test_a_fact_that_is_not_declared_may_have_a_limit() -> None:
    """Where hardware is mixed, a bound can stand instead of a declaration."""
    found = profile(
        """
profiles:
  a: {link: {layer: Ethernet}, limits: {link.speed: ">= 100 Gb/s", link.mtu: "== 4096 B"}}
"""
    )

    assert found.limits["link.speed"].clauses == (Absolute(">=", gbps(100)),)


def test_a_list_means_all_of_them() -> None:
    """Every clause of a list is kept, in order."""
    limit = profile(
        """
profiles:
  a:
    extends: builtin/cx7-400g-roce
    limits:
      ib_write_bw.average: [">= 97% of payload rate", ">= 92.5% of line rate", 1 Gb/s .. 1 Tb/s]
"""
    ).limits["ib_write_bw.average"]

    assert limit.clauses == (
        Relative(">=", 0.97, "payload rate"),
        Relative(">=", 0.925, "line rate"),
        Range(gbps(1), gbps(1000)),
    )
    assert limit.text == ">= 97% of payload rate and >= 92.5% of line rate and 1 Gb/s .. 1 Tb/s"


def test_null_takes_a_part_back() -> None:
    """A child on InfiniBand has no use for its parent's RoCE class."""
    found = profile(
        """
profiles:
  a: {extends: builtin/cx7-400g-roce, link: {layer: InfiniBand}, roce: null, pcie: ~}
"""
    )

    assert found.roce is None
    assert "pcie.width" not in found.limits


def test_a_base_need_not_stand_alone() -> None:
    """A profile that no port has may lack its link."""
    found = profile(
        """
profiles:
  common: {limits: {ib_write_bw.average: ">= 97% of payload rate"}}
  a: {extends: common, link: {layer: Ethernet, speed: 100 Gb/s, mtu: 1024}}
"""
    )

    assert found.payload_rate_bps == pytest.approx(92.6e9, rel=1e-3)


def test_a_rail_of_ipv6_has_the_payload_rate_of_larger_headers() -> None:
    """4096 of 4178 bytes are payload over IPv4, 4096 of 4198 over IPv6: one profile serves both."""
    rails = 'rails:\n  rail1: {pci: "0000:3a:00.0", network: "fd00:2::/64"}\n'
    found = clusters.cluster(clusters.TEXT.replace("rails:\n", rails))
    four, six = (found.nodes["gpu001"].rails[name].profile for name in ("rail0", "rail1"))

    assert four.payload_rate_bps == pytest.approx(400e9 * 4096 / 4178)
    assert six.payload_rate_bps == pytest.approx(400e9 * 4096 / 4198)
    assert (four.name, four.limits) == (six.name, six.limits)
    assert found.nodes["gpu002"].rails["rail1"].profile.payload_rate_bps == six.payload_rate_bps


def test_roce_version_1_has_a_global_route_header() -> None:
    """40 bytes stand in place of IPv4 and UDP."""
    link = "link: {layer: Ethernet, speed: 100 Gb/s, mtu: 1024}, roce: {version: 1}"
    found = profile("\nprofiles:\n  a: {" + link + "}\n")

    assert found.payload_rate_bps == pytest.approx(100e9 * 1024 / (1024 + 94))


@pytest.mark.parametrize(
    ("roce", "traffic_class", "priority"),
    [
        ("{dscp: 26}", 106, 3),
        ("{dscp: 26, lossless: [4]}", 106, 4),
        ("{dscp: 26, lossless: [3, 4]}", 106, 3),
        ("{dscp: 26, lossless: [3], priority: 5}", 106, 5),
        ("{dscp: 0}", 2, 0),
        ("{lossless: [5]}", None, 5),
        ("{lossless: [5, 6]}", None, None),
        ("{}", None, None),
    ],
)
def test_the_class_follows_from_what_is_declared(
    roce: str, traffic_class: int | None, priority: int | None
) -> None:
    """The traffic class is DSCP and ECT(0); a declared priority beats lossless beats DSCP."""
    found = profile(f"profiles: {{a: {{link: {{layer: Ethernet}}, roce: {roce}}}}}").roce

    assert found is not None
    assert (found.traffic_class, found.class_priority) == (traffic_class, priority)


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("pcie.speed", "virtual"),
        ("pause.growth", "old"),
        ("link.width", "unknown"),
        ("link.speed", None),
        ("ib_read_lat.4096.p99", "no reads"),
        ("ib_write_lat.p99", None),
    ],
)
def test_not_available_goes_by_metric_or_first_word(metric: str, reason: str | None) -> None:
    """A word stands for everything that begins with it."""
    found = profile(
        """
profiles:
  a:
    link: {layer: Ethernet}
    not_available: {pcie: virtual, pause: old, link.width: unknown, ib_read_lat: no reads}
"""
    )

    assert found.why_not_available(metric) == reason


#: What only a cluster that declares it is asked: `tcp`, `collective`, and the switches' ends.
ASKED_FOR = re.compile(r"tcp|collective|switch")


@pytest.mark.parametrize("name", builtin_names())
def test_builtin_profiles_judge_all_that_the_suites_measure(name: str) -> None:
    """Each metric that a suite reads a limit of has one, or a reason for having none."""
    found = profile("", f"builtin/{name}")
    suites = (path.read_text() for path in (Path(__file__).parents[2] / "suites").glob("*.py"))
    read = {metric for text in suites for metric in re.findall(r'limits\["([^"]+)"\]', text)}
    layers = {"InfiniBand": ("roce", "pause", "class"), "Ethernet": ("infiniband",)}
    wanted = [
        *sorted(metric for metric in read if not ASKED_FOR.match(metric)),
        *SUITE_METRICS,
        *(f"{meaning}.growth" for meaning in metrics.MEANINGS),
        *metrics.LINK_METRICS,
    ]
    bare = [
        metric
        for metric in wanted
        if metric not in found.limits
        and found.why_not_available(metric) is None
        and metric.partition(".")[0] not in layers[found.link.layer]
        and metric not in NOTIFICATIONS
    ]

    assert len(read) > 80
    assert not bare


def test_every_limit_of_a_fast_port_is_what_its_comment_says() -> None:
    """The numbers that people read in the profile are the ones that judge."""
    limits = profile("", "builtin/cx7-400g-roce").limits

    assert limits["ib_write_lat.p99"].clauses == (Absolute("<=", us(5)),)
    assert limits["ib_write_bw.average"].clauses == (Relative(">=", 0.97, "payload rate"),)
    assert limits["class.share"].clauses == (Absolute(">=", Quantity(0.9, "")),)
    for meaning in metrics.MEANINGS:
        assert limits[f"{meaning}.growth"].clauses == (Absolute("==", Quantity(0, "")),)
    for statistic in ("p99", "median", "4096.p99", "4096.median"):
        (write,) = limits[f"ib_write_lat.{statistic}"].clauses
        (read,) = limits[f"ib_read_lat.{statistic}"].clauses
        assert isinstance(write, Absolute)
        assert isinstance(read, Absolute)
        assert read.quantity.number == pytest.approx(2 * write.quantity.number)


@pytest.mark.parametrize(
    ("name", "driver"),
    [
        ("cx7-400g-roce", "mlx5_core"),
        ("thor2-400g-roce", "bnxt_en"),
        ("e810-100g-roce", "ice"),
        ("efa-100g", "efa"),
        ("pollara-400g-roce", "ionic"),
        ("cx6-200g-roce", "mlx5_core"),
        ("cx5-100g-roce", "mlx5_core"),
    ],
)
def test_what_a_driver_cannot_count_is_not_available_and_nothing_else(
    name: str, driver: str
) -> None:
    """Each reason is one that the catalogue of counters agrees with."""
    found = profile("", f"builtin/{name}")
    known = {metric for metric in metrics.MEANINGS if found.why_not_available(f"{metric}.growth")}

    assert known == set(counters.missing(driver, metrics.MEANINGS, "Ethernet"))
    is_blind = found.why_not_available("class.share") is not None
    assert is_blind is not counters.per_priority(driver, "bytes")


def test_a_builtin_profile_may_extend_another_one() -> None:
    """What it does not say is as there, at the line that stands there."""
    limits = profile("", "builtin/thor2-400g-roce").limits

    assert limits["ib_write_bw.average"].clauses == (Relative(">=", 0.875, "line rate"),)
    assert limits["ib_write_bw.average"].source.startswith("builtin/thor2-400g-roce.yaml:")
    assert limits["ib_write_lat.p99"].source.startswith("builtin/cx7-400g-roce.yaml:")
    assert profile("", "builtin/e810-100g-roce").line_rate_bps == 100e9


def test_soft_roce_is_gentle() -> None:
    """Emulated machines measure little, and their tools show no hardware."""
    found = profile("", "builtin/soft-roce")

    assert found.roce is not None
    assert found.roce.traffic_class == 106
    assert found.line_rate_bps is None
    assert found.payload_rate_bps is None
    assert found.traffic.model_dump() == {
        "iterations": 1000,
        "duration": {"number": 3.0, "unit": "s"},
        "qps": 1,
        "size": {"number": 65536.0, "unit": "B"},
        "connection": "RC",
    }
    assert found.why_not_available("link_downed.growth") is None


@pytest.mark.parametrize("name", builtin_names())
def test_each_number_of_a_builtin_profile_has_its_source(name: str) -> None:
    """A comment on its line, or above it in its paragraph; the head of a file counts for `link`."""
    path = Path(__file__).parents[2] / "pytest_fabric" / "config" / "profiles" / f"{name}.yaml"
    bare, is_told, section = [], False, ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        body, _, comment = line.partition("# ") if "# " in line else (line, "", "")
        if line and not line[0].isspace() and line[0] != "#":
            section = line.partition(":")[0]
        is_told = bool(line.strip()) and (is_told or bool(comment))
        is_said = section == "not_available" or not re.search(r"[0-9]", body.partition(":")[2])
        if not is_said and not is_told:
            bare.append(f"{path.name}:{number}: {line.strip()}")

    assert not bare
