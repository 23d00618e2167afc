"""What the inventory declares is what the lab has."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab import build

from .clusters import INFINIBAND, ROCE, cluster, nodes, port


def rail(selector: str) -> str:
    return ROCE.replace('pci: "0000:1a:00.0"', selector)


def test_a_pci_address_gets_a_card() -> None:
    assert port().pci == "0000:1a:00.0"


def test_a_netdev_gets_its_name() -> None:
    assert port(rail("netdev: ens1np0")).netdevs == ("ens1np0",)


def test_a_device_gets_its_name_and_others_get_other_names() -> None:
    node = nodes(rail("device: mlx5_0"))["gpu001"]

    assert {str(port.id): port.device for port in node.ports} == {
        "gpu001:rail0": "mlx5_0",
        "gpu001:rail1": "mlx5_1",
    }


def test_a_guid_is_the_cards_guid() -> None:
    assert port(rail('guid: "0c42:a103:00aa:bbcc"')).guid == 0x0C42A10300AABBCC


def test_a_bond_has_its_members() -> None:
    assert port(rail("netdevs: [ens1f0, ens1f1]")).netdevs == ("ens1f0", "ens1f1")


def test_devices_are_numbered_by_pci_address_and_not_by_rail() -> None:
    """Who takes the order of rails for the order of devices must be caught by the lab."""
    swapped = ROCE.replace("1a:00.0", "xx:00.0").replace("3a:00.0", "1a:00.0")
    node = nodes(swapped.replace("xx:00.0", "3a:00.0"))["gpu001"]

    assert [(port.device, port.id.rail) for port in node.ports] == [
        ("mlx5_0", "rail1"),
        ("mlx5_1", "rail0"),
    ]


def test_cards_are_spread_over_both_sockets() -> None:
    assert [port.numa for port in nodes()["gpu001"].ports] == [0, 1]


def test_addresses_are_taken_from_the_rails_network_in_the_order_of_nodes() -> None:
    addresses = {
        str(port.id): str(port.address) for node in nodes().values() for port in node.ports
    }

    assert addresses["gpu001:rail0"] == "10.1.0.1"
    assert addresses["gpu004:rail1"] == "10.2.0.4"


def test_every_port_has_names_and_addresses_of_its_own() -> None:
    """Also when rails share a network, or declare none."""
    for text in (ROCE, ROCE.replace("10.2", "10.1"), ROCE.replace("network: 10.1.0.0/16, ", "")):
        ports = [port for node in nodes(text).values() for port in node.ports]

        for what in ("guid", "address", "id"):
            assert len({getattr(port, what) for port in ports}) == 8


def test_a_network_without_room_is_said() -> None:
    with pytest.raises(ConfigError, match=r"10\.1\.0\.0/30: expected room for 4 ports"):
        build.nodes(cluster(ROCE.replace("10.1.0.0/16", "10.1.0.0/30")))


def test_the_version_of_perftest_is_chosen_per_node() -> None:
    assert {node.perftest for node in nodes().values()} == {"6.24", "6.06"}
    assert nodes()["gpu002"].perftest_version == (6, 6)


def test_a_wrong_version_is_said() -> None:
    with pytest.raises(ConfigError, match=r"lab\.perftest: expected a version such as 6\.06"):
        build.nodes(cluster(ROCE.replace('"6.06"', "new")))


def test_infiniband_has_lids_and_no_second_version_of_gids() -> None:
    ports = [node.ports[0] for node in nodes(INFINIBAND).values()]

    assert [port.lid for port in ports] == [2, 3]
    assert [gid.kind for gid in ports[0].gids] == ["IB/RoCE v1"]


def test_ethernet_has_the_usual_four_gids() -> None:
    kinds = [(gid.index, gid.kind, gid.address.is_link_local) for gid in port().gids]

    assert kinds == [
        (0, "IB/RoCE v1", True),
        (1, "RoCE v2", True),
        (2, "IB/RoCE v1", False),
        (3, "RoCE v2", False),
    ]


def test_declared_firmware_runs() -> None:
    text = ROCE.replace("    sudo:", '    firmware: {MT_0000000999: "28.1.2"}\n    sudo:')

    assert (port(text).adapter.psid, port(text).adapter.firmware) == ("MT_0000000999", "28.1.2")


def test_a_declared_class_decides_the_priority_of_its_dscp() -> None:
    assert port().priorities == {26: 3}
    assert port(ROCE.replace("lossless: [3]", "lossless: [5]")).priorities == {26: 5}
