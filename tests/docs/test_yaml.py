"""Cluster files in the documentation are valid: what people copy must not be wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_fabric import metrics
from pytest_fabric.config import load
from pytest_fabric.config.nodesets import expand
from pytest_fabric.config.written import ClusterFile
from tests.docs.samples import Sample, every

#: What a sample that shows only some keys is a part of.
WHOLE = """
name: sample
nodes: {"gpu[001-064]": {profile: ours}}
rails:
  rail0: {device: mlx5_0, network: 10.1.0.0/16, leaf: leaf-0}
  rail3: {device: mlx5_3, network: 10.2.0.0/16, leaf: leaf-1}
profiles: {ours: {extends: builtin/cx7-400g-roce}}
"""


def is_metric(key: str) -> bool:
    return metrics.unit_of(key) is not None


def whole(text: str) -> dict[str, Any]:
    """Return a sample with what it leaves out: one of metrics alone is of a profile's limits."""
    shown = yaml.safe_load(text)
    assert isinstance(shown, dict)
    if all(map(is_metric, shown)):
        shown = {"profiles": {"ours": {"extends": "builtin/cx7-400g-roce", "limits": shown}}}
    assert set(shown) <= set(ClusterFile.model_fields), "no key of a cluster file"
    if {"nodes", "rails", "profiles"} <= set(shown):
        return shown
    profile = next(iter(shown.get("profiles", ["ours"])))
    return {**yaml.safe_load(WHOLE.replace("{profile: ours}", f"{{profile: {profile}}}")), **shown}


def planned(known: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a cluster file with the plan of cables that it, or its switches, ask for."""
    switches = [name for names in known.get("switches", {}) for name in expand(names)]
    if not switches and "cables" not in known:
        return known
    rows = [f"gpu{number:03},rail0,{name},1" for number, name in enumerate(switches, 1)]
    text = "\n".join(("node,rail,switch,switch_port", *(rows or ["gpu001,rail0,leaf-0,1"]), ""))
    (folder / "cables.csv").write_text(text)
    for entry in known.get("switches", {}).values():
        (folder / entry.get("files", ".")).mkdir(parents=True, exist_ok=True)
    unnamed = {"rail0": {"device": "mlx5_0"}}  # of a leaf, which the plan names
    return {**known, "cables": "cables.csv", "rails": unnamed} if switches else known


@pytest.mark.parametrize("sample", every("yaml"), ids=str)
def test_a_cluster_file_loads(sample: Sample, tmp_path: Path) -> None:
    """Whole or in part, without a problem."""
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump(planned(whole(sample.text), tmp_path), sort_keys=False))

    assert load(path).ports()


def test_there_are_samples() -> None:
    """An empty list would pass all of the above."""
    assert len(every("yaml")) > 10


@pytest.mark.parametrize("text", ["limits: {}\n", "name: a\nspeed: 3\n", "ib_write_lat.p98: 1\n"])
def test_what_is_no_part_of_a_cluster_file_is_found(text: str) -> None:
    with pytest.raises(AssertionError):
        whole(text)
