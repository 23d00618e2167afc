"""The commands that read a host: only names get into them, and nothing that changes a node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_fabric.tools import (
    dcb_app,
    dcb_pfc,
    devlink_health,
    devlink_info,
    interrupts,
    kernel_log,
    lldp,
    lspci,
    mlnx_qos,
    proc_limits,
    sysctl,
)

Command = tuple[str, ...]

COMMANDS = {
    "dcb -N -j pfc show dev eth0": dcb_pfc.command("eth0"),
    "dcb -N -j app show dev ens1f0np0": dcb_app.command("ens1f0np0"),
    "devlink -j health show": devlink_health.command(),
    "devlink -j dev info": devlink_info.command(),
    "devlink -j dev info pci/0000:c1:00.0": devlink_info.command("pci/0000:c1:00.0"),
    "mlnx_qos -i eth0": mlnx_qos.command("eth0"),
    "lspci -vvv -D": lspci.command(),
    "lspci -vvv -D -s 0000:c1:00.0": lspci.command("0000:c1:00.0"),
    "lldpcli show neighbors -f json0": lldp.command(),
    "lldptool -t -n -i eth0": lldp.lldptool_command("eth0"),
    "cat /proc/interrupts": interrupts.command(),
    "dmesg": kernel_log.command(),
    "journalctl -k -b --no-pager -o short-iso": kernel_log.command("journalctl"),
    "sysctl -a": sysctl.command(),
    "sysctl net.core.rmem_max net.ipv4.tcp_rmem": sysctl.command(
        "net.core.rmem_max", "net.ipv4.tcp_rmem"
    ),
    "cat /proc/self/limits": proc_limits.command(),
}

NAMED: tuple[Callable[[str], Command], ...] = (
    dcb_pfc.command,
    dcb_app.command,
    devlink_info.command,
    mlnx_qos.command,
    lspci.command,
    lldp.lldptool_command,
    kernel_log.command,
    sysctl.command,
)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_line_only_reads(line: str) -> None:
    assert " ".join(COMMANDS[line]) == line


@pytest.mark.parametrize("command", NAMED)
@pytest.mark.parametrize("name", ["-w", "a b", "a;b", "$(a)", "a\nb", "a=1", "../a"])
def test_what_is_no_name_gets_into_no_command(command: Callable[[str], Command], name: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        command(name)
