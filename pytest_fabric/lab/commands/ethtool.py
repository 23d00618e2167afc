"""`ethtool` of a network device: its link, statistics, FEC, module, pause, driver."""

from __future__ import annotations

from pytest_fabric.lab import drivers
from pytest_fabric.lab.commands import ethtool_driver, ethtool_module, ethtool_pause
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result

#: What netlink answers, as ethtool prints it.
NO_DEVICE = "netlink error: No such device\n"
NOT_SUPPORTED = "netlink error: Operation not supported\n"
NOT_PERMITTED = "netlink error: Operation not permitted\n"


def run(call: Call) -> Result:
    """Answer one of the forms; other uses of ethtool are refused by name."""
    *options, netdev = call.argv[1:] or ("",)
    form = FORMS.get(tuple(options))
    if form is None or not netdev:
        known = ", ".join(" ".join(("ethtool", *words, "DEVNAME")) for words in FORMS)
        return Result(1, stderr=f"ethtool: the lab answers only: {known}\n")
    exists = call.view.exists(f"/sys/class/net/{netdev}")
    return form(call, exists, call.node.netdev(netdev), netdev)


def _statistics(call: Call, exists: bool, port: Port | None, netdev: str) -> Result:
    """Print one line per counter of the driver."""
    if not exists:
        return Result(96, stderr="Cannot get stats strings information: No such device\n")
    if port is None:
        return Result(94, stderr="no stats available\n")
    values = drivers.of(port).ethernet(port, call.fabric.traffic.written(port))
    if port.is_bond:
        values = {name: _share(port, netdev, value) for name, value in values.items()}
    lines = [f"     {name}: {value}\n" for name, value in values.items()]
    return Result(0, "NIC statistics:\n" + "".join(lines))


def _share(port: Port, netdev: str, value: int) -> int:
    """Return what of the counter of a bond a member has counted: those that are up share it."""
    carrying = port.carrying
    if netdev not in carrying:
        return 0
    return (value + carrying.index(netdev)) // len(carrying)


def _refusal(exists: bool, port: Port | None) -> Result | None:
    """Return what a device without such settings answers: a plain netdev, or one of IPoIB."""
    if not exists:
        return Result(1, stderr=NO_DEVICE)
    return Result(1, stderr=NOT_SUPPORTED) if port is None or not port.is_ethernet else None


def _fec(call: Call, exists: bool, port: Port | None, netdev: str) -> Result:
    """Print configured and active FEC, and with `-I` what it has counted."""
    refused = _refusal(exists, port)
    if refused is not None or port is None:
        return refused or Result(1)
    is_up = port.state == "ACTIVE" and port.members.get(netdev) != "down"
    lines = [
        f"FEC parameters for {netdev}:",
        "Supported/Configured FEC encodings: Auto Off RS",
        f"Active FEC encoding: {port.signal.fec if is_up else 'None'}",
    ]
    if "-I" in call.argv:
        uptime = call.fabric.clock.uptime()
        corrected = int(port.signal.raw_ber * port.speed_bps * port.aging.more(uptime))
        lines += [
            "Statistics:",
            f"  corrected_blocks: {corrected}",
            f"  uncorrectable_blocks: {port.signal.lost(uptime)}",
            f"  corrected_bits: {corrected}",
        ]
    return Result(0, "".join(f"{line}\n" for line in lines))


def _module(call: Call, exists: bool, port: Port | None, netdev: str) -> Result:
    """Print the memory of the module, which only root may read."""
    if exists and not call.is_allowed:
        return Result(1, stderr=NOT_PERMITTED)
    refused = _refusal(exists, port)
    if refused is not None or port is None:
        return refused or Result(1)
    return Result(0, ethtool_module.text(port, port.aging.rise_c(call.fabric.clock.uptime())))


def _pause(call: Call, exists: bool, port: Port | None, netdev: str) -> Result:
    """Print global pause."""
    return ethtool_pause.run(call)


def _driver(call: Call, exists: bool, port: Port | None, netdev: str) -> Result:
    """Print driver and firmware."""
    return ethtool_driver.run(call)


def _settings(call: Call, exists: bool, port: Port | None, netdev: str) -> Result:
    """Print the link, as people ask for it first."""
    if not exists:
        return Result(75, stderr=f"Settings for {netdev}:\n{NO_DEVICE}No data available\n")
    if port is None:
        return Result(0, f"Settings for {netdev}:\n\tSpeed: 1000Mb/s\n\tLink detected: yes\n")
    is_up = port.state == "ACTIVE" and port.members.get(netdev) != "down"
    speed = f"{int(port.member_bps / 1e6)}Mb/s" if is_up else "Unknown!"
    lines = [
        f"Settings for {netdev}:",
        f"\tSpeed: {speed}",
        f"\tLanes: {port.width}",
        f"\tDuplex: {'Full' if is_up else 'Unknown! (255)'}",
        "\tAuto-negotiation: on",
        f"\tPort: {'Direct Attach Copper' if port.module.is_copper else 'FIBRE'}",
        f"\tLink detected: {'yes' if is_up else 'no'}",
    ]
    return Result(0, "".join(f"{line}\n" for line in lines))


FORMS = {
    (): _settings,
    ("-S",): _statistics,
    ("--show-fec",): _fec,
    ("-I", "--show-fec"): _fec,
    ("-m",): _module,
    ("-a",): _pause,
    ("-i",): _driver,
}
