"""`lspci -vvv -D [-s ADDRESS]`: the network cards on the PCI bus; only root sees their settings."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result

NAMES = {
    "MT4131": "ConnectX-8",
    "MT4129": "ConnectX-7",
    "MT4123": "ConnectX-6",
    "MT4119": "ConnectX-5",
}

#: Cards of other makers, by driver.
OTHERS = {
    "bnxt_en": "Broadcom Inc. and subsidiaries BCM57608 25Gb/50Gb/100Gb/200Gb/400Gb Ethernet",
    "ice": "Intel Corporation Ethernet Controller E810-C for QSFP",
}


def run(call: Call) -> Result:
    """Print the cards, or the one at an address; nothing where none is there, as the real one."""
    words = list(call.argv[1:])
    if words[:2] != ["-vvv", "-D"] or (words[2:] and words[2:-1] != ["-s"]):
        return Result(1, stderr="lspci: the lab answers only: lspci -vvv -D [-s ADDRESS]\n")
    wanted = words[-1] if words[2:] else None
    ports = [port for port in call.node.ports if wanted in (None, port.pci)]
    return Result(0, "".join(_device(port, call.is_allowed) for port in ports))


def _device(port: Port, is_allowed: bool) -> str:
    kind = "Ethernet" if port.is_ethernet else "Infiniband"
    family = NAMES.get(port.adapter.hca_type, "ConnectX")
    chip = f"Mellanox Technologies {port.adapter.hca_type} Family [{family}]"
    driver = port.adapter.driver
    first = [f"{port.pci} {kind} controller: {OTHERS.get(driver, chip)}"]
    first.append(f"\tSubsystem: {OTHERS.get(driver, f'Mellanox Technologies {family}')}")
    last = [f"\tKernel driver in use: {driver}", f"\tKernel modules: {driver}", ""]
    middle = _capabilities(port) if is_allowed else ["\tCapabilities: <access denied>"]
    return "".join(f"{line}\n" for line in [*first, *middle, *last])


def _capabilities(port: Port) -> list[str]:
    speed, most = f"{port.pcie_tps / 1e9:g}GT/s", port.pcie_max_width
    able = f"{(port.slot.max_tps or port.pcie_tps) / 1e9:g}GT/s"
    return [
        f"\tNUMA node: {port.numa}",
        "\tCapabilities: [60] Express (v2) Endpoint, IntMsgNum 0",
        "\t\tDevCap:\tMaxPayload 512 bytes, PhantFunc 0, Latency L0s unlimited, L1 unlimited",
        "\t\tDevCtl:\tCorrErr+ NonFatalErr+ FatalErr+ UnsupReq-",
        "\t\t\tRlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop+ FLReset-",
        f"\t\t\tMaxPayload 256 bytes, MaxReadReq {port.slot.max_read_request} bytes",
        f"\t\tLnkCap:\tPort #0, Speed {able}, Width x{most}, ASPM not supported",
        f"\t\tLnkSta:\tSpeed {speed}, Width x{port.pcie_width}",
        "\t\t\tTrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-",
        "\tCapabilities: [100 v1] Advanced Error Reporting",
        "\t\tUESta:\tDLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- MalfTLP-",
        "\t\tCESta:\tRxErr- BadTLP- BadDLLP- Rollover- Timeout- AdvNonFatalErr-",
    ]
