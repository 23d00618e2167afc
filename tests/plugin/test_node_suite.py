"""The suite of nodes against the lab: a fault shows at its node, whoever the partners are."""

from __future__ import annotations

import json

import pytest

from .runs import bad, latest, run, told, unplanned

SUITE = "suites/test_5_node.py"


def test_faults_are_found_at_their_nodes(site: pytest.Pytester) -> None:
    """A partner's fault is none of the node's: made again with other partners, it holds."""
    faults = ["packet_loss@gpu002:rail1", "tool_garbage@gpu004:rail0"]
    done = run(site, suites=[SUITE], faults=faults)

    assert done.ret == 1
    assert told(site, "failed").keys() == {
        ("test_no_discards_with_all_ports", "gpu002"),
        ("test_in_sequence_with_all_ports", "gpu002"),
    }
    errors = told(site, "error")
    assert {target for _, target in errors} == {"gpu004"}
    assert all("gpu004:rail0..gpu001:rail0: " in message for message in errors.values())
    lines = (latest(site) / "measurements.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    whole = [record for record in records if not record["error"]]
    assert whole
    assert all(len(record["members"]) == 2 for record in whole)
    assert all(member["began_s"] < 2 for record in whole for member in record["members"])


def test_nodes_with_one_port_are_skipped_once(site: pytest.Pytester) -> None:
    inventory = site.path / "cluster.yaml"
    lines = inventory.read_text().splitlines()
    inventory.write_text("\n".join(one for one in lines if not one.startswith("  rail1:")))
    (site.path / "cables.csv").unlink()
    inventory.write_text(unplanned(inventory.read_text()))
    done = run(site, suites=[SUITE], faults=[])

    assert done.ret == 0  # its GPU is measured nevertheless
    assert {one.target for one in bad(site, "skipped")} == {"no-node"}
