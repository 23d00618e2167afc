"""`lspci [-v|-vv|-vvv] [-D] [-k] [-s ADDRESS] [-d VENDOR:]`; root sees settings."""

from __future__ import annotations

import getopt
from collections.abc import Mapping

from pytest_fabric.lab import slots
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result

NAMES = {
    "MT4131": "ConnectX-8",
    "MT4129": "ConnectX-7",
    "MT4123": "ConnectX-6",
    "MT4119": "ConnectX-5",
    "MT41692": "BlueField-3 integrated ConnectX-7",
}

#: Cards of other makers, by driver.
OTHERS = {
    "bnxt_en": "Broadcom Inc. and subsidiaries BCM57608 25Gb/50Gb/100Gb/200Gb/400Gb Ethernet",
    "efa": "Amazon.com, Inc. Elastic Fabric Adapter (EFA)",
    "ice": "Intel Corporation Ethernet Controller E810-C for QSFP",
}

#: Flags of the ACS rows, and those that a bridge has on where nothing was switched off.
ACS = ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans")
REDIRECTS = ("SrcValid", "ReqRedir", "CmpltRedir", "UpstreamFwd")

BRIDGE = (
    "PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0) (prog-if 00 [Normal decode])"
)
KNOWN = "lspci [-v|-vv|-vvv] [-D] [-k] [-s ADDRESS] [-d VENDOR:]"

#: So many -v show all.
VERBOSE = 3

DENIED = ["\tCapabilities: <access denied>"]


def run(call: Call) -> Result:
    """Print what is on the bus, or at one address; nothing where none is there, as the real one."""
    try:
        found, rest = getopt.getopt(list(call.argv[1:]), "vDnks:d:")
    except getopt.GetoptError:
        found, rest = [], ["?"]
    options = dict(found)
    if rest:
        return Result(1, stderr=f"lspci: the lab answers only: {KNOWN}\n")
    wanted = options.get("-s")
    wanted = f"0000:{wanted}" if wanted and wanted.count(":") == 1 else wanted
    maker = options.get("-d", "").partition(":")[0].lower()
    devices: dict[str, list[str]] = {}
    for port in call.node.functions:
        for address in slots.bridges_above(port):
            devices[address] = _bridge(address, port, call) if maker in ("", "1000") else []
        is_wanted = maker in ("", port.adapter.pci_id.partition(":")[0].lower())
        devices[port.pci] = _card(port, call) if is_wanted else []
    chosen = [lines for address, lines in sorted(devices.items()) if wanted in (None, address)]
    count = sum(option == "-v" for option, _ in found)
    if count < VERBOSE:
        chosen = [[line for line in lines if _is_shown(line, count, options)] for lines in chosen]
    if "-D" not in options:
        chosen = [[line.removeprefix("0000:") for line in lines] for lines in chosen]
    return Result(0, "".join(f"{line}\n" for lines in chosen for line in lines))


def _is_shown(line: str, verbose: int, options: Mapping[str, str]) -> bool:
    """Return whether a line is shown with less than `-vvv`: one per device, or what it is."""
    if not line.startswith("\t"):
        return bool(line) or verbose > 0
    is_driver = line.startswith("\tKernel")
    return (verbose > 0 and not line.startswith("\t\t")) or ("-k" in options and is_driver)


def _card(port: Port, call: Call) -> list[str]:
    kind = "Infiniband" if port.is_infiniband else "Ethernet"
    family = NAMES.get(port.adapter.hca_type, "ConnectX")
    chip = f"Mellanox Technologies {port.adapter.hca_type} Family [{family}]"
    driver = port.adapter.driver
    first = [f"{port.pci} {kind} controller: {OTHERS.get(driver, chip)}"]
    first.append(f"\tSubsystem: {OTHERS.get(driver, f'Mellanox Technologies {family}')}")
    last = [f"\tKernel driver in use: {driver}", f"\tKernel modules: {driver}", ""]
    shown = _settings(port) if call.is_allowed else DENIED
    return [*first, *_numa(port), *shown, *last]


def _bridge(address: str, port: Port, call: Call) -> list[str]:
    rows = [*_link(port, "Downstream Port (Slot+)"), *_acs(call.node.redirects)]
    shown = rows if call.is_allowed else DENIED
    return [f"{address} {BRIDGE}", *_numa(port), *shown, "\tKernel driver in use: pcieport", ""]


def _numa(port: Port) -> list[str]:
    return [f"\tNUMA node: {port.numa}"] if port.numa >= 0 else []


def _acs(redirects: bool) -> list[str]:
    on = REDIRECTS if redirects else ()
    capable = " ".join(f"{name}+" for name in ACS)
    control = " ".join(f"{name}{'+' if name in on else '-'}" for name in ACS)
    title = "\tCapabilities: [170 v1] Access Control Services"
    return [title, f"\t\tACSCap:\t{capable}", f"\t\tACSCtl:\t{control}"]


def _link(port: Port, kind: str) -> list[str]:
    able = f"{(port.slot.max_tps or port.pcie_tps) / 1e9:g}GT/s"
    return [
        f"\tCapabilities: [60] Express (v2) {kind}, IntMsgNum 0",
        "\t\tDevCap:\tMaxPayload 512 bytes, PhantFunc 0, Latency L0s unlimited, L1 unlimited",
        "\t\tDevCtl:\tCorrErr+ NonFatalErr+ FatalErr+ UnsupReq-",
        "\t\t\tRlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop+ FLReset-",
        f"\t\t\tMaxPayload 256 bytes, MaxReadReq {port.slot.max_read_request} bytes",
        f"\t\tLnkCap:\tPort #0, Speed {able}, Width x{port.pcie_max_width}, ASPM not supported",
        f"\t\tLnkSta:\tSpeed {port.pcie_tps / 1e9:g}GT/s, Width x{port.pcie_width}",
        "\t\t\tTrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-",
    ]


def _settings(port: Port) -> list[str]:
    return [
        *_link(port, "Endpoint"),
        "\tCapabilities: [100 v1] Advanced Error Reporting",
        "\t\tUESta:\tDLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- MalfTLP-",
        "\t\tCESta:\tRxErr- BadTLP- BadDLLP- Rollover- Timeout- AdvNonFatalErr-",
    ]
