"""`ibstat [-l | DEVICE]`, after infiniband-diags' ibstat.c. Devices without MADs are left out."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result

#: What ports can do, as cards of NVIDIA say it: on InfiniBand, and on Ethernet.
CAPABLE = {True: 0xA751E848, False: 0x00010000}

#: Words of ibstat for states of a port.
STATES = {
    "ACTIVE": ("Active", "LinkUp"),
    "DOWN": ("Down", "Disabled"),
    "POLLING": ("Down", "Polling"),
}


def run(call: Call) -> Result:
    """Print every device, or the one that is asked for; `-l` prints names only."""
    ports = [port for port in call.node.functions if not port.adapter.is_srd]
    words = call.argv[1:]
    if words == ("-l",):
        return Result(0, "".join(f"{port.device}\n" for port in ports))
    if len(words) > 1 or (words and words[0].startswith("-")):
        return Result(255, stderr="ibstat: the lab answers only: ibstat [-l | DEVICE]\n")
    if words:
        ports = [port for port in ports if port.device == words[0]]
        if not ports:
            missing = f"stat of IB device '{words[0]}' failed: No such file or directory"
            return Result(255, stderr=f"ibpanic: [77] main: {missing}\n")
    return Result(0, "".join(map(_device, ports)))


def _device(port: Port) -> str:
    state, physical = STATES[port.state]
    is_infiniband = port.is_infiniband
    lines = [
        f"CA '{port.device}'",
        f"\tCA type: {port.adapter.hca_type}",
        "\tNumber of ports: 1",
        f"\tFirmware version: {port.adapter.firmware}",
        "\tHardware version: 0",
        f"\tNode GUID: 0x{port.guid:016x}",
        f"\tSystem image GUID: 0x{port.guid:016x}",
        "\tPort 1:",
        f"\t\tState: {state}",
        f"\t\tPhysical state: {physical}",
        f"\t\tRate: {port.speed_bps / 1e9:g}",
        f"\t\tBase lid: {port.lid}",
        "\t\tLMC: 0",
        f"\t\tSM lid: {port.sm_lid if port.lid else 0}",
        f"\t\tCapability mask: 0x{CAPABLE[is_infiniband]:08x}",
        f"\t\tPort GUID: 0x{port.guid:016x}",
        f"\t\tLink layer: {port.layer}",
    ]
    return "".join(f"{line}\n" for line in lines)
