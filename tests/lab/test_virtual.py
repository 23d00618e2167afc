"""Virtual functions beside cards: they stand in every list, and no selector picks one."""

from __future__ import annotations

import pytest

from pytest_fabric.config import Selector
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure import facts
from pytest_fabric.results import NodeFacts, RdmaPort
from pytest_fabric.tools import sysfs

from .clusters import ROCE, cluster, nodes, run

VIRTUAL = ROCE.replace("lab: {", 'lab: {vfs: {"gpu[001-002]": 2}, ')
CARDS = ("0000:1a:00.0", "0000:3a:00.0")


def seen() -> list[RdmaPort]:
    """Return what the parser makes of the node's files."""
    paths = sysfs.paths()
    text = "".join(
        run(f"grep -sH . {' '.join(paths[name])}", VIRTUAL, "gpu001").stdout for name in paths
    )
    return sysfs.ports(sysfs.parse(text))


def test_virtual_functions_shift_the_names_of_devices() -> None:
    """The second card of a node with them is mlx5_3, and of one without them mlx5_1."""
    names = {name: [one.device for one in node.ports] for name, node in nodes(VIRTUAL).items()}

    assert names["gpu001"] == ["mlx5_0", "mlx5_3"]
    assert names["gpu003"] == ["mlx5_0", "mlx5_1"]
    listed = run("ibv_devinfo", VIRTUAL, "gpu001").stdout
    assert [f"hca_id:\tmlx5_{number}" in listed for number in range(7)] == [True] * 6 + [False]


def test_a_virtual_function_knows_its_card_and_shows_no_link_of_its_own() -> None:
    of = {one.device: one.physical for one in seen()}
    first = next(one for one in seen() if one.device == "mlx5_1")

    assert of == {
        **{"mlx5_0": None, "mlx5_1": CARDS[0], "mlx5_2": CARDS[0]},
        **{"mlx5_3": None, "mlx5_4": CARDS[1], "mlx5_5": CARDS[1]},
    }
    assert (first.state, first.pcie[0].speed_tps, first.pcie[0].width) == ("ACTIVE", None, None)
    assert len({one.guid for one in seen()}) == 6
    assert len({one.netdevs for one in seen()}) == 6


def found(kind: str, value: str) -> RdmaPort:
    rail = next(iter(cluster(VIRTUAL).nodes["gpu001"].rails.values()))
    known = NodeFacts("gpu001", "", None, {}, None, (), {}, {}, tuple(seen()))
    selector = Selector.model_validate({"kind": kind, "value": value})
    return facts.find("gpu001:rail0", rail.model_copy(update={"selector": selector}), known)


@pytest.mark.parametrize("card", [0, 3])
def test_cards_are_found_by_whatever_names_them(card: int) -> None:
    one = next(port for port in seen() if port.device == f"mlx5_{card}")

    for kind, value in (
        ("pci", one.pci or ""),
        ("netdev", one.netdevs[0]),
        ("guid", one.guid),
        ("device", one.device),
    ):
        assert found(kind, value) == one


@pytest.mark.parametrize("kind", ["pci", "netdev", "guid", "device"])
def test_no_selector_picks_a_virtual_function(kind: str) -> None:
    """A name that was the card's, before it had functions, is the worst of them."""
    one = next(port for port in seen() if port.device == "mlx5_1")
    value = {"netdev": one.netdevs[0], "guid": one.guid, "device": "mlx5_1", "pci": one.pci}[kind]

    with pytest.raises(MeasurementError) as caught:
        found(kind, value or "")

    assert caught.value.kind == "port_not_found"
    assert "mlx5_1 at 0000:1a:00.2 is a virtual function (SR-IOV) of the card at " in str(
        caught.value
    )
    assert "the node has mlx5_0 at 0000:1a:00.0, mlx5_3 at 0000:3a:00.0" in str(caught.value)
