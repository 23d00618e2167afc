"""Nodes of many shapes in one cluster: bonds, virtual functions, a DPU, EFA, several perftests."""

from __future__ import annotations

import pytest

from .runs import run, told, verdicts

#: Pairs are made within a shape: rails of one name meet.
CLUSTER = """
name: shapes
transport: lab
lab:
  time: 0.01
  adapters: {"dpu[1-2]": bluefield3-locked, srd1: efa, broad2: thor2}
  vfs: {"vf[1-2]": 4}
  perftest: {bond1: "5.92", bond2: "6.29", "vf[1-2]": "5.60", dpu1: "6.20", dpu2: "6.27"}
nodes:
  bond[1-2]:
    {profile: cx7, rails: {bond: {netdevs: [ens1f0np0, ens1f1np1], network: 10.1.0.0/16}}}
  vf[1-2]:
    profile: cx7
    rails:
      first: {pci: "0000:1a:00.0", network: 10.2.0.0/16}
      second: {pci: "0000:3a:00.0", network: 10.3.0.0/16}
  dpu[1-2]: {profile: dpu, rails: {dpu: {pci: "0000:1a:00.0", network: 10.4.0.0/16}}}
  srd1: {profile: builtin/efa-100g, rails: {srd: {pci: "0000:10:1b.0"}}}
  broad1: {profile: cx7, rails: {makers: {pci: "0000:1a:00.0", network: 10.5.0.0/16}}}
  broad2: {profile: thor2, rails: {makers: {pci: "0000:1a:00.0", network: 10.5.0.0/16}}}
profiles:
  cx7: {extends: builtin/cx7-400g-roce}
  thor2: {extends: builtin/thor2-400g-roce}
  dpu:
    extends: builtin/cx7-400g-roce
    not_available: *hidden
pairs: {strategy: ring}
"""

HIDDEN = ("trust", "lossless", "dscp_priority", "ecn", "cnp_dscp", "cnp_priority")
WHY = "the DPU holds it, and is a node of its own"
NOT_AVAILABLE = ", ".join(f"roce.{name}: {WHY!r}" for name in HIDDEN)

CHECKS = (
    "(test_link_speed or test_fec_mode or test_write_bandwidth or test_traffic_class or test_trust "
    "or test_ecn or test_small_write_p99 or test_cpu_governor) and not all_ports and not p999"
)


@pytest.fixture
def shapes(site: pytest.Pytester) -> pytest.Pytester:
    """Return a folder whose cluster has nodes of all shapes."""
    (site.path / "cluster.yaml").write_text(CLUSTER.replace("*hidden", f"{{{NOT_AVAILABLE}}}"))
    return site


def both(one: str, other: str) -> set[str]:
    return {f"{one}..{other}", f"{other}..{one}"}


def test_faults_are_found_at_their_place_and_the_other_shapes_are_green(
    shapes: pytest.Pytester,
) -> None:
    """A member without LACP, a class that is lost behind a DPU, one maker's card among others."""
    faults = (
        "bond_member_apart@bond2:bond",
        "default_class@dpu1:dpu",
        "link_speed@srd1:srd",
        "pcie_width@vf1:second",
        "latency_tail@broad2:makers",
    )
    done = run(shapes, "-k", CHECKS, faults=faults)

    assert done.ret == 1
    failed = told(shapes, "failed")
    assert failed.keys() == {
        ("test_link_speed", "bond2:bond"),
        *(("test_write_bandwidth", name) for name in both("bond1:bond", "bond2:bond")),
        ("test_traffic_class", "dpu1:dpu..dpu2:dpu"),
        ("test_link_speed", "srd1:srd"),
        *(("test_write_bandwidth", name) for name in both("vf1:second", "vf2:second")),
        *(("test_small_write_p99", name) for name in both("broad1:makers", "broad2:makers")),
    }
    assert "ens1f1np1 of its bond carries nothing" in done.stdout.str()
    assert told(shapes, "error").keys() == {
        (check, "dpu1:dpu..dpu2:dpu") for check in ("test_write_bandwidth", "test_small_write_p99")
    }
    skipped = {
        at: why for (check, at), why in told(shapes, "skipped").items() if check == "test_trust"
    }
    assert skipped.keys() == {"dpu1:dpu", "dpu2:dpu", "srd1:srd"}
    assert all("not available by profile" in why for why in skipped.values())


def test_what_a_dpu_holds_is_told_where_the_profile_does_not_say_it(
    shapes: pytest.Pytester,
) -> None:
    (shapes.path / "cluster.yaml").write_text(CLUSTER.replace("*hidden", "{}"))
    run(shapes, "-k", "(test_trust or test_ecn) and dpu", "suites/test_2_qos.py")

    found = {verdict.message or "" for verdict in verdicts(shapes)}
    assert {verdict.outcome for verdict in verdicts(shapes)} == {"error"}
    assert all("BlueField, and as a DPU its own system holds this" in text for text in found)
