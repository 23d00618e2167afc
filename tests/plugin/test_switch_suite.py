"""The suites of the switch end against the lab: over SSH, and from files of the site."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_fabric.config import load
from pytest_fabric.lab import build, faults
from pytest_fabric.lab.commands import start
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.measure.switches import counts, facts

from .runs import latest, run, told, verdicts

#: The suites, and something that loads every port.
CHOSEN = ("-k", "test_1_switch or test_9_switch or (test_write_bandwidth and not bidirectional)")

#: The fault and its port; the tests that must fail there.
FAULTS = {
    "switch_pfc_off@gpu001:rail0": {"test_lossless_priorities_at_the_switch"},
    "switch_ecn_off@gpu002:rail0": {"test_ecn_of_lossless_queues_at_the_switch"},
    "switch_fec@gpu003:rail0": {"test_both_ends_have_one_fec"},
    "switch_errors@gpu004:rail0": {
        "test_no_errors_at_the_switch",
        "test_no_uncorrectable_blocks_at_the_switch",
    },
    "switch_drops@gpu001:rail1": {"test_no_drops_of_lossless_queues"},
    "fec_mode@gpu002:rail1": {"test_both_ends_have_one_fec"},
    "pause_rx@gpu003:rail1": {"test_switch_sends_no_pause"},
    "pause_storm@gpu004:rail1": {"test_switch_receives_no_pause"},
}


def test_each_fault_is_found_at_its_cable_and_judged_again_without_the_switches(
    site: pytest.Pytester,
) -> None:
    """What the switches said is stored: a replay finds the same, and contacts nobody."""
    done = run(site, *CHOSEN, faults=FAULTS)

    assert done.ret == 1
    wanted = {(check, at.partition("@")[2]) for at, checks in FAULTS.items() for check in checks}
    assert set(told(site, "failed")) == wanted
    assert told(site, "error") == {}
    names = {path.name for path in (latest(site) / "readings").iterdir()}
    assert {"switch-leaf-0.json", "switch_window-leaf-1.json"} <= names

    first = latest(site).resolve()
    replayed = run(site, *CHOSEN, f"--fabric-replay={first}")

    assert replayed.ret == 1
    assert set(told(site, "failed")) == wanted
    assert not (latest(site) / "audit.jsonl").exists()


def test_a_swap_of_cables_is_heard_and_idle_cables_show_nothing(site: pytest.Pytester) -> None:
    """A link at half its speed is one at both ends; a counter that stood still is no proof."""
    places = ("cable_swapped@gpu001:rail0", "link_speed@gpu004:rail1")
    done = run(site, "-k", "test_1_switch or test_9_switch", faults=places)

    assert done.ret == 1
    hears = "test_switch_hears_the_planned_port"
    failed = told(site, "failed")
    assert failed.keys() == {
        (hears, "gpu001:rail0"),
        (hears, "gpu002:rail0"),
        ("test_switch_port_speed", "gpu004:rail1"),
    }
    message = failed[hears, "gpu001:rail0"]
    assert "hears gpu002" in message
    assert "planned gpu001:rail0 at leaf-0 swp1 (cables.csv:3)" in message
    assert "the host hears leaf-0 swp2" in message
    errors = told(site, "error")
    assert len(errors) == 6 * 8
    assert all("let the run measure pairs of the port" in message for message in errors.values())


def test_resumed_and_with_workers(site: pytest.Pytester) -> None:
    """A run with nothing left to measure takes the window over; workers wait for its end."""
    few = (*CHOSEN, "--fabric-nodes=gpu[001-002]")
    assert run(site, *few, "-n1").ret == 0
    first = latest(site).resolve()
    assert len({v.check for v in verdicts(site) if v.layer == "switch"}) == 13

    resumed = run(site, *few, f"--fabric-resume={first}")

    assert resumed.ret == 0, resumed.stdout.str()
    window = "readings/switch_window-leaf-0.json"
    assert (latest(site) / window).read_text() == (first / window).read_text()


def captured(folder: Path, cluster: Path, switch: str, *broken: str) -> None:
    """Write what a site would capture of a switch of the lab, before and after 2,000 s."""
    site = load(cluster)
    nodes = faults.inject(build.nodes(site), broken)
    fabric = Fabric((*nodes, *build.switches(site)), 1, 0.0001)
    node = fabric.nodes[switch]
    for when, sections in (
        ("before", {**facts.SECTIONS, **counts.SECTIONS}),
        ("after", counts.SECTIONS),
    ):
        (folder / when).mkdir(parents=True)
        for section, words in sections.items():
            result = start(Call(fabric, node, words, fabric.view(node))).result
            assert result is not None
            (folder / when / f"{section}.txt").write_text(result.stdout)
        subprocess.run(["sleep", "0.2"], check=True)


def test_files_of_the_site_and_switches_that_nobody_asks(site: pytest.Pytester) -> None:
    """The other switch is named once, and its ports are no targets."""
    inventory = site.path / "cluster.yaml"
    captured(site.path / "got", inventory, "leaf-0", "switch_pfc_off@gpu001:rail0")
    text = inventory.read_text()
    inventory.write_text(text.replace("leaf-[0-1]: {os: sonic}", "leaf-0: {os: sonic, files: got}"))
    (site.path / "got" / "after" / "drops.txt").unlink()
    done = run(site, "-k", "test_1_switch or test_9_switch")

    assert done.ret == 1
    done.stdout.fnmatch_lines(["not asked, since `switches:` does not have them: leaf-1"])
    failed = told(site, "failed")
    assert failed.keys() == {("test_lossless_priorities_at_the_switch", "gpu001:rail0")}
    errors = told(site, "error")
    assert {target for _, target in errors} == {f"gpu00{number}:rail0" for number in range(1, 5)}
    assert all("after/drops.txt: No such file" in message for message in errors.values())
    assert "leaf-0" not in (latest(site) / "audit.jsonl").read_text()
