"""The suite of the class of RDMA traffic finds each of its faults, where it is and nowhere else."""

from __future__ import annotations

import pytest

from .runs import ended, run, verdicts

SUITE = "suites/test_2_qos.py"

#: Several faults at once, each at its own port: which tests must not pass there, and how they end.
WAVES: tuple[dict[str, dict[str, str]], ...] = (
    {
        "pfc_off@gpu001:rail0": {"test_lossless_priorities": "failed"},
        "pfc_other_priority@gpu001:rail1": {"test_lossless_priorities": "failed"},
        "trust_pcp@gpu002:rail0": {"test_trust": "failed", "test_priority_of_rdma": "error"},
        "dscp_map@gpu002:rail1": {"test_priority_of_rdma": "failed"},
        "ecn_np_off@gpu003:rail0": {"test_ecn": "failed"},
        "ecn_rp_off@gpu003:rail1": {"test_ecn": "failed"},
        "cnp_class@gpu004:rail0": {
            "test_dscp_of_cnps": "failed",
            "test_priority_of_cnps": "failed",
        },
        "global_pause@gpu004:rail1": {"test_no_global_pause": "failed"},
    },
    {
        "gid_v1_only@gpu001:rail0": {"test_roce_version": "failed"},
        "tclass_override@gpu001:rail1": {"test_no_other_class_is_forced": "failed"},
        "netdev_mtu@gpu002:rail0": {"test_room_for_the_rdma_mtu": "failed"},
        "mtu_low@gpu002:rail1": {"test_room_for_the_rdma_mtu": "failed"},
        "rails_one_subnet@gpu003": {"test_rails_have_their_own_subnets": "failed"},
        "gid_missing@gpu004:rail0": {"test_roce_version": "error"},
    },
)


def wanted(wave: dict[str, dict[str, str]]) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for fault, tests in wave.items():
        place = fault.partition("@")[2]
        targets = [place] if ":" in place else [f"{place}:rail0", f"{place}:rail1"]
        found |= {(test, t): outcome for test, outcome in tests.items() for t in targets}
    return found


#: What a failure says beside its value.
TOLD = (
    ("enp26s0np0: roce_np off on priority 3", "enp58s0np0: rx on, tx on"),
    ("global traffic class 0, DSCP 0", "enp26s0np0 and enp58s0np0 of rail1 share 10.0.0.0/14"),
)


@pytest.mark.parametrize(
    ("wave", "lines"), list(zip(WAVES, TOLD, strict=True)), ids=("classes", "addresses")
)
def test_each_fault_is_found_at_its_place_alone(
    site: pytest.Pytester, wave: dict[str, dict[str, str]], lines: tuple[str, ...]
) -> None:
    done = run(site, suites=[SUITE], faults=wave)

    assert ended(site) == wanted(wave)
    told = done.stdout.str()
    assert all(line in told for line in lines)


def test_every_fault_that_a_test_catches_is_tried_here(site: pytest.Pytester) -> None:
    """What the suite promises to catch and what the waves show are the same."""
    text = (site.path / "suites" / "test_2_qos.py").read_text()
    promised = {
        word.strip('", ')
        for line in text.splitlines()
        if line.startswith("@catches(")
        for word in line.removeprefix("@catches(").removesuffix(")").split(",")
    }

    assert promised == {fault.partition("@")[0] for wave in WAVES for fault in wave}


#: What travels on another priority is no measurement of the declared one; an override of the class
#: is one of what the port sends.
ASTRAY = {
    "trust_pcp@gpu001:rail0": ("client", "server"),
    "dscp_map@gpu001:rail1": ("client", "server"),
    "tclass_override@gpu003:rail0": ("client",),
}


def test_a_wrong_class_is_seen_in_the_traffic_too(site: pytest.Pytester) -> None:
    """Facts and traffic agree; where PFC is off, nothing can count the pause of its priority."""
    faults = (*ASTRAY, "pfc_off@gpu003:rail1")
    run(site, "-k", "class or pause", suites=["suites/test_4_pair.py"], faults=faults)

    astray = {(fault.partition("@")[2], end) for fault, ends in ASTRAY.items() for end in ends}
    targets = {verdict.target for verdict in verdicts(site)}
    ends = {name: zip(name.split(".."), ("client", "server"), strict=True) for name in targets}
    bad = {target for target, pair in ends.items() if not astray.isdisjoint(pair)}
    assert len(bad) == 5
    blind = {target for target in ends if "gpu003:rail1" in target}
    assert ended(site) == {
        **{("test_traffic_class", target): "failed" for target in bad},
        **{("test_no_pause", target): "error" for target in bad | blind},
    }


INFINIBAND = """\
name: lab
transport: lab
nodes:
  ib[1-2]: {profile: ndr}
rails:
  rail0: {pci: "0000:1a:00.0", leaf: leaf-0}
profiles:
  ndr: {extends: builtin/cx7-400g-ndr}
pairs: {strategy: ring}
"""


def test_infiniband_is_skipped_with_the_reason(site: pytest.Pytester) -> None:
    (site.path / "cluster.yaml").write_text(INFINIBAND)
    done = run(site, "-rs", suites=[SUITE])

    assert {verdict.outcome for verdict in verdicts(site)} == {"skipped"}
    assert "InfiniBand has credits" in done.stdout.str()
