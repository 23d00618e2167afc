"""The commands of ethtool, ip and mlxlink name one device, and never an option."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_fabric.tools import (
    ethtool,
    ethtool_driver,
    ethtool_fec,
    ethtool_module,
    ethtool_pause,
    ethtool_statistics,
    ip_link,
    mlxlink,
)

Command = Callable[[str], tuple[str, ...]]

COMMANDS = (
    (ethtool.command, ("ethtool", "eth0")),
    (ethtool_driver.command, ("ethtool", "-i", "eth0")),
    (ethtool_pause.command, ("ethtool", "-a", "eth0")),
    (ethtool_module.command, ("ethtool", "-m", "eth0")),
    (ethtool_fec.command, ("ethtool", "-I", "--show-fec", "eth0")),
    (ethtool_statistics.command, ("ethtool", "-S", "eth0")),
    (ip_link.command, ("ip", "-j", "-s", "addr", "show", "dev", "eth0")),
    (mlxlink.command, ("mlxlink", "-d", "eth0", "-m", "-c", "--json")),
)


@pytest.mark.parametrize(("command", "words"), COMMANDS)
def test_a_command_names_its_device(command: Command, words: tuple[str, ...]) -> None:
    assert command("eth0") == words


@pytest.mark.parametrize("command", [command for command, _ in COMMANDS])
@pytest.mark.parametrize("name", ["", "-s", "--json", "eth0 eth1", "eth0;id", "eth0\n", "\u0663"])
def test_what_is_no_name_is_refused(command: Command, name: str) -> None:
    with pytest.raises(ValueError, match="expected a name"):
        command(name)


def test_all_devices_are_asked_at_once() -> None:
    assert ip_link.command() == ("ip", "-j", "-s", "addr")


def test_a_pci_address_is_a_device_of_mlxlink() -> None:
    assert mlxlink.command("0000:9a:00.0")[2] == "0000:9a:00.0"
    assert mlxlink.command("/dev/mst/mt4129_pciconf0")[2] == "/dev/mst/mt4129_pciconf0"
