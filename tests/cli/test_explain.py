"""`pytest-fabric explain`: what holds, and the line on which each of it was said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fabric import config
from pytest_fabric.config.lineage import lineages
from pytest_fabric.errors import ConfigError
from pytest_fabric.report.explain import Known, lines

TEXT = """\
name: two
transport: lab
nodes:
  gpu[001-003]: {profile: ours}
rails:
  rail0: {pci: "0000:1a:00.0", network: 10.1.0.0/16, leaf: leaf-0}
  rail1: {pci: "0000:3a:00.0", network: 10.2.0.0/16, profile: slow}
profiles:
  slow:
    extends: ours
    link: {speed: 200 Gb/s}
  ours:
    extends: builtin/cx7-400g-roce
    firmware: {MT_1: "28.1"}
    limits: {ib_write_lat.p99: "<= 4 us"}
    not_available: {module: copper}
excluded: {gpu003: "drained, INC-4711"}
waivers:
  - check: test_pcie_width
    target: "gpu[001-002]:rail1"
    until: 2027-01-15
    owner: ops
    reason: RMA
"""


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Known:
    monkeypatch.chdir(tmp_path)
    path = Path("cluster.yaml")
    path.write_text(TEXT)
    return Known(config.load(path), lineages(path))


def row(found: list[str], word: str) -> str:
    return next(line for line in found if line.strip().startswith(f"{word} "))


def test_each_limit_of_a_port_has_its_line_and_what_it_replaces(known: Known) -> None:
    """A limit whose origin is unknown cannot be argued about."""
    found = lines(known, "gpu001:rail1")

    chain = "profile slow (cluster.yaml:9) extends ours (cluster.yaml:12) extends builtin/cx7"
    assert any(line.startswith(chain) for line in found)
    assert re.search(
        r"<= 4 us  cluster\.yaml:15, instead of <= 5 us  builtin/cx7-400g-roce\.yaml:\d+$",
        row(found, "ib_write_lat.p99"),
    )
    assert "== 200 Gb/s  cluster.yaml:11, instead of == 400 Gb/s" in row(found, "link.speed")
    assert "(>= 190.2 Gb/s)" in row(found, "ib_write_bw.average")
    assert row(found, "firmware.MT_1").endswith("== 28.1  cluster.yaml:14")
    assert row(found, "module").endswith("copper")
    assert "until 2027-01-15: RMA (ops)" in row(found, "waiver")
    declared = found[found.index("  declared") : found.index("  limits")]
    assert not any("link.fec" in line for line in declared)


def test_a_node_with_limits_of_its_own_shows_them_and_where_they_stand(tmp_path: Path) -> None:
    """A profile that extends that of the others overrides it for one node, and for one rail."""
    path = tmp_path / "cluster.yaml"
    own = "  gpu009: {profile: odd}\nrails:"
    odd = 'profiles:\n  odd: {extends: ours, limits: {ib_write_lat.p99: "<= 9 us"}}'
    path.write_text(TEXT.replace("rails:", own, 1).replace("profiles:", odd, 1))
    known = Known(config.load(path), lineages(path))

    said = row(lines(known, "gpu009:rail0"), "ib_write_lat.p99")
    assert re.search(r"<= 9 us  \S*cluster\.yaml:10, instead of <= 5 us  builtin", said)
    assert "<= 4 us" in row(lines(known, "gpu001:rail0"), "ib_write_lat.p99")
    assert "== 200 Gb/s" in row(lines(known, "gpu009:rail1"), "link.speed")


def test_waivers_and_exclusions_are_told_where_they_hold(known: Known) -> None:
    """Of a rail that a waiver does not name nothing is waived."""
    assert not any("waiver" in line for line in lines(known, "gpu001:rail0"))
    assert "drained, INC-4711" in row(lines(known, "gpu003"), "excluded")
    assert any("waiver" in line for line in lines(known, "gpu001"))


def test_a_pair_shows_the_profiles_of_both_ends(known: Known) -> None:
    """Each end has its own limits, and both must hold."""
    found = lines(known, "gpu001:rail0..gpu002:rail1")

    assert "  both profiles must hold" in found
    assert sum(line.startswith("profile ") for line in found) == 2


def test_a_metric_shows_each_profile_that_has_ports(known: Known) -> None:
    """And says where nothing limits it, or nothing can show it."""
    assert sum("cluster.yaml:15" in line for line in lines(known, "ib_write_lat.p99")) == 2
    assert sum("not available: copper" in one for one in lines(known, "module.temperature")) == 2
    assert any("no limit" in line for line in lines(known, "ib_read_bw.message_rate"))


@pytest.mark.parametrize(
    "target", ["gpu009", "gpu001:rail7", "gpu001:rail0..gpu009:rail0", "ib_write_lat.p98", ""]
)
def test_an_unknown_target_is_one_line(known: Known, target: str) -> None:
    """Nothing is explained of what is not there."""
    with pytest.raises(ConfigError, match=r"^explain: expected .* got ") as caught:
        lines(known, target)
    assert "\n" not in str(caught.value)
