"""The suite of the class of RDMA traffic: what it says of faults, and what traffic shows."""

from __future__ import annotations

import pytest

from .runs import ended, run, verdicts

SUITE = "suites/test_2_qos.py"

#: What a failure says beside its value.
TOLD = {
    "ecn_np_off@gpu001:rail0": "enp26s0np0: roce_np off on priority 3",
    "global_pause@gpu001:rail1": "enp58s0np0: rx on, tx on",
    "tclass_override@gpu002:rail0": "global traffic class 0, DSCP 0",
    "rails_one_subnet@gpu003": "enp26s0np0 and enp58s0np0 of rail1 share 10.0.0.0/14",
}


def test_a_failure_tells_what_is_set_up(site: pytest.Pytester) -> None:
    done = run(site, suites=[SUITE], faults=TOLD)

    assert done.ret == 1
    told = done.stdout.str()
    assert all(line in told for line in TOLD.values())


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
