"""`lspci -vvv -D`: the cards of a node and the bridges above them; root sees capabilities."""

from __future__ import annotations

from pytest_fabric.lab import slots
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result

#: Flags of the ACS rows, and those that a bridge has on where nothing was switched off.
ACS = ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans")
REDIRECTS = ("SrcValid", "ReqRedir", "CmpltRedir", "UpstreamFwd")

BRIDGE = (
    "PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0) (prog-if 00 [Normal decode])"
)
DENIED = "\tCapabilities: <access denied>\n"


def run(call: Call) -> Result:
    """Print bridges and cards in the order of their addresses."""
    if call.argv[1:] != ("-vvv", "-D"):
        return Result(1, stderr="lspci: the lab answers only: lspci -vvv -D\n")
    devices = {}
    for port in call.node.ports:
        for address in slots.bridges_above(port):
            rows = _bridge(port, call.node.redirects) if call.is_root else DENIED
            tail = "\tKernel driver in use: pcieport\n\n"
            devices[address] = f"{address} {BRIDGE}\n{_numa(port)}{rows}{tail}"
        rows = _link(port, "Endpoint") if call.is_root else DENIED
        tail = "\tKernel driver in use: mlx5_core\n\tKernel modules: mlx5_core\n\n"
        devices[port.pci] = f"{port.pci} {_title(port)}\n{_numa(port)}{rows}{tail}"
    return Result(0, "".join(devices[address] for address in sorted(devices)))


def _title(port: Port) -> str:
    kind = "Ethernet" if port.is_ethernet else "Infiniband"
    return f"{kind} controller: Mellanox Technologies {port.adapter.hca_type} Family [ConnectX]"


def _numa(port: Port) -> str:
    return f"\tNUMA node: {port.numa}\n" if port.numa >= 0 else ""


def _bridge(port: Port, redirects: bool) -> str:
    on = REDIRECTS if redirects else ()
    capable = " ".join(f"{name}+" for name in ACS)
    control = " ".join(f"{name}{'+' if name in on else '-'}" for name in ACS)
    rows = f"\t\tACSCap:\t{capable}\n\t\tACSCtl:\t{control}\n"
    title = "\tCapabilities: [170 v1] Access Control Services\n"
    return f"{_link(port, 'Downstream Port (Slot+)')}{title}{rows}"


def _link(port: Port, kind: str) -> str:
    speed = f"{port.pcie_tps / 1e9:g}GT/s"
    return (
        f"\tCapabilities: [60] Express (v2) {kind}, MSI 00\n"
        f"\t\tLnkCap:\tPort #0, Speed {speed}, Width x{port.pcie_max_width}, ASPM not supported\n"
        f"\t\tLnkSta:\tSpeed {speed}, Width x{port.pcie_width}\n"
    )
