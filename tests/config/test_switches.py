"""`switches:` of a cluster file: which are asked, how, and what is wrong at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fabric.config import Cluster, load, unasked, why_missing
from pytest_fabric.errors import ConfigError
from pytest_fabric.results import Port
from tests.clusters import TEXT

CABLES = "node,rail,switch,switch_port\ngpu001,rail0,Leaf-0,swp1\ngpu002,rail0,leaf-1,swp2\n"


def loaded(folder: Path, switches: str, cables: str = CABLES) -> Cluster:
    (folder / "cables.csv").write_text(cables)
    (folder / "cluster.yaml").write_text(f"{TEXT}cables: cables.csv\n{switches}")
    return load(folder / "cluster.yaml")


def test_switches_are_those_of_the_plan_as_it_spells_them(tmp_path: Path) -> None:
    """What is not said is left to ssh_config, as of nodes."""
    found = loaded(
        tmp_path,
        'switches:\n  leaf-[0-1]: {os: sonic, address: "{switch}.mgmt:2222", user: admin}\n',
    )

    assert list(found.switches) == ["Leaf-0", "leaf-1"]
    leaf = found.switches["leaf-1"]
    assert (leaf.address, leaf.port, leaf.user, leaf.files) == ("leaf-1.mgmt", 2222, "admin", None)
    assert found.switch(Port("gpu001", "rail0")) == found.switches["Leaf-0"]
    assert [str(cable.port) for cable in found.cabled("leaf-1")] == ["gpu002:rail0"]
    assert unasked(found, found.ports()) == []


def test_files_are_beside_the_cluster_file(tmp_path: Path) -> None:
    found = loaded(tmp_path, 'switches: {leaf-1: {os: sonic, files: "got/{switch}"}}\n')

    assert found.switches["leaf-1"].files == tmp_path / "got" / "leaf-1"


def test_a_switch_without_an_entry_is_not_asked(tmp_path: Path) -> None:
    found = loaded(tmp_path, "switches: {leaf-1: {os: sonic}}\n")

    assert unasked(found, found.ports()) == ["Leaf-0"]
    assert found.switch(Port("gpu001", "rail0")) is None
    assert why_missing("switch", found) is None


def test_a_cluster_without_switches_says_what_to_add(tmp_path: Path) -> None:
    found = loaded(tmp_path, "")

    for topic in ("switch", "switch_window"):
        reason = why_missing(topic, found)
        assert reason is not None
        assert "declares no switches: add `switches:" in reason


@pytest.mark.parametrize(
    ("switches", "line"),
    [
        ("switches: [leaf-0]", "20: switches: expected a mapping"),
        ("switches: {leaf-0: {}}", "20: switches.leaf-0.os: expected this key, found none"),
        ("switches: {leaf-0: {os: eos}}", "20: switches.leaf-0.os: expected sonic"),
        ("switches: {leaf-0: {os: sonic, adress: x}}", 'expected a known key such as "address"'),
        ("switches: {leaf-2: {os: sonic}}", 'expected a switch of the plan of cables such as "'),
        ("switches: {gpu001: {os: sonic}}", "expected a name that no node has"),
        ("switches: {leaf 0: {os: sonic}}", "expected a node set"),
        ("switches:\n  leaf-[0-1]: {os: sonic}\n  leaf-0: {os: sonic}", "22: switches.leaf-0: "),
        ("switches:\n  leaf-[0-1]: {os: sonic, address: sw}", "expected {switch} in the address"),
        ("switches:\n  leaf-[0-1]: {os: sonic, files: got}", "expected {switch} in the files"),
        ("switches: {leaf-0: {os: sonic, files: x, user: y}}", "expected no user beside files"),
        ('switches: {leaf-0: {os: sonic, address: "a@b"}}', "the user belongs in ssh.user"),
    ],
)
def test_what_is_wrong_is_told_at_its_line(tmp_path: Path, switches: str, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, f"{switches}\n")

    assert any(line in told for told in caught.value.lines), caught.value.lines


def test_without_a_plan_of_cables_no_switch_has_an_end_to_judge(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(f"{TEXT}switches: {{leaf-0: {{os: sonic}}}}\n")

    with pytest.raises(ConfigError, match="expected `cables:` that name the ports of switches"):
        load(tmp_path / "cluster.yaml")
