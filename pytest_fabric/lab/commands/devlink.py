"""`devlink -j dev info`: firmware that runs and firmware that is stored, of every card."""

from __future__ import annotations

import json

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print all devices as JSON."""
    if call.argv[1:] != ("-j", "dev", "info"):
        return Result(1, stderr="devlink: the lab answers only: devlink -j dev info\n")
    info = {f"pci/{port.pci}": _device(port) for port in call.node.ports}
    return Result(0, f"{json.dumps({'info': info}, separators=(',', ':'))}\n")


def _device(port: Port) -> dict[str, object]:
    running = port.adapter.firmware
    stored = port.stored_firmware or running
    return {
        "driver": "mlx5_core",
        "serial_number": f"{port.guid:016x}",
        "versions": {
            "fixed": {"fw.psid": port.adapter.psid},
            "running": {"fw.version": running, "fw": running},
            "stored": {"fw.version": stored, "fw": stored},
        },
    }
