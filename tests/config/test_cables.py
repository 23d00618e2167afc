"""The plan of the cables: beside the cluster file, by port, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fabric.config import Cable, Cluster, load
from pytest_fabric.results import Port
from tests.clusters import TEXT, cluster

#: Columns in another order, quotes, blanks, no length for one, a mark of Excel's at the start.
PLAN = """\
\ufeffswitch,switch_port,node,rail,length
# leaf-0 is in rack 7
leaf-0, Ethernet1/1 ,gpu001,rail0,2.5 m

"leaf-0","Ethernet1/2",gpu002,rail0,
"""


def planned(folder: Path, plan: str = PLAN) -> Cluster:
    (folder / "plans").mkdir()
    (folder / "plans" / "cables.csv").write_text(plan, "utf-8")
    (folder / "cluster.yaml").write_text(f"{TEXT}cables: plans/cables.csv\n")
    return load(folder / "cluster.yaml")


def test_a_cable_is_known_by_its_port(tmp_path: Path) -> None:
    """A path starts at the cluster file; blanks around a name are none of it."""
    found = planned(tmp_path)

    port = Port("gpu001", "rail0")
    source = f"{tmp_path}/plans/cables.csv:3"
    assert found.cable(port) == Cable(
        port=port, switch="leaf-0", switch_port="Ethernet1/1", length_m=2.5, source=source
    )
    second = found.cable(Port("gpu002", "rail0"))
    assert second is not None
    assert (second.place, second.length_m) == ("leaf-0 Ethernet1/2", None)


def test_a_port_without_a_row_has_no_cable(tmp_path: Path) -> None:
    """Its check says so; the plan of a fabric may grow rack by rack."""
    found = planned(tmp_path, "node,rail,switch,switch_port\ngpu001,rail0,leaf-0,1\n")

    assert found.cable(Port("gpu002", "rail0")) is None


def test_without_a_plan_there_is_none() -> None:
    assert cluster().cables == {}


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"a\x00b,c"])
def test_bytes_are_no_plan(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "cables.csv").write_bytes(data)
    (tmp_path / "cluster.yaml").write_text(f"{TEXT}cables: cables.csv\n")

    with pytest.raises(Exception, match="expected") as caught:
        load(tmp_path / "cluster.yaml")
    assert type(caught.value).__name__ == "ConfigError"
