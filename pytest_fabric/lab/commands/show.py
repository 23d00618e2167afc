"""SONiC's `show`: ports, neighbours, pause frames, and how full queues were."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_fabric.lab import gids
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.commands.sonic_table import table
from pytest_fabric.lab.history import paused_us
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result
from pytest_fabric.lab.sockets import Socket, sockets

PRIORITIES = 8

#: Blocks that FEC could not correct while the link was trained, once.
TRAINING = 3

#: Microseconds for which one pause frame of the lab's hosts stops their senders.
US_PER_PAUSE = 50

RULE = "-" * 79


def run(call: Call) -> Result:
    """Print what is asked for; other words are refused as `show` refuses them."""
    words = call.argv[1:]
    answer = ANSWERS.get(words)
    if answer is None:
        return Result(2, stderr=f"Usage: show [OPTIONS]\n\nError: No such command {words!r}.\n")
    return Result(0, answer(call))


def _status(call: Call) -> str:
    titles = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin")
    rows = [
        [
            socket.name,
            ",".join(str(socket.lane + lane) for lane in range(8)),
            _speed(socket.host),
            str(socket.mtu),
            socket.host.edge.fec if socket.host is not None else "rs",
            socket.alias,
            "routed",
            "up" if socket.is_up else "down",
            "up",
            "OSFP 8X Pluggable Transceiver" if socket.host is not None else "N/A",
            "N/A",
        ]
        for socket in sockets(call.node, call.fabric)
    ]
    return table((*titles, "Type", "Asym PFC"), rows)


def _speed(host: Port | None) -> str:
    speed = 400e9 if host is None else host.speed_bps
    return f"{speed / 1e9:g}G" if speed >= 1e9 else f"{speed / 1e6:g}M"


def _fec(call: Call) -> str:
    titles = ("IFACE", "STATE", "FEC_CORR", "FEC_UNCORR", "FEC_SYMBOL_ERR")
    rows = [
        [socket.name, state(socket), "1,204,311", f"{TRAINING + errors(call, socket):,}", "0"]
        for socket in sockets(call.node, call.fabric)
    ]
    return table(titles, rows)


def state(socket: Socket) -> str:
    """Return the state of a port in one letter."""
    return "U" if socket.is_up else "D"


def errors(call: Call, socket: Socket) -> int:
    """Return the frames that have come in damaged."""
    per_s = socket.host.edge.errors_per_s if socket.host is not None else 0.0
    return int(per_s * call.fabric.clock.uptime())


def _pfc(call: Call) -> str:
    found = []
    for title, count in (("Port Rx", _received), ("Port Tx", _sent)):
        titles = (title, *(f"PFC{priority}" for priority in range(PRIORITIES)))
        rows = [
            [socket.name, *(f"{number:,}" for number in count(call, socket.host))]
            for socket in sockets(call.node, call.fabric)
        ]
        found.append(table(titles, rows))
    return "\n".join(found)


def _received(call: Call, host: Port | None) -> list[int]:
    """Return the pause frames that a host has sent, by priority."""
    if host is None or not host.is_ethernet:
        return [0] * PRIORITIES
    tally = call.fabric.traffic.tally(host)
    return [
        12 + paused_us(host, tally, priority) // US_PER_PAUSE if priority in host.lossless else 0
        for priority in range(PRIORITIES)
    ]


def _sent(call: Call, host: Port | None) -> list[int]:
    """Return the pause frames that the switch has sent to a host, by priority."""
    if host is None or not host.is_ethernet:
        return [0] * PRIORITIES
    return [41 + count if count else 0 for count in call.fabric.traffic.tally(host).pauses]


def _lldp(call: Call) -> str:
    found = [RULE, "LLDP neighbors:", RULE]
    for number, socket in enumerate(sockets(call.node, call.fabric), start=1):
        if socket.host is None or not socket.is_up:
            continue
        address = gids.mac(socket.host.guid)
        found += [
            f"Interface:    {socket.name}, via: LLDP, RID: {number}, Time: 3 days, 02:11:09",
            "  Chassis:     ",
            f"    ChassisID:    mac {address}",
            f"    SysName:      {socket.host.id.node}",
            "    SysDescr:     Ubuntu 24.04.3 LTS Linux 6.8.0-71-generic x86_64",
            "    Capability:   Bridge, off",
            "    Capability:   Station, on",
            "  Port:        ",
            f"    PortID:       mac {address}",
            f"    PortDescr:    {socket.host.netdevs[0]}",
            "    TTL:          120",
            RULE,
        ]
    return "".join(f"{line}\n" for line in found)


def _watermark(call: Call) -> str:
    titles = ("Port", *(f"UC{queue}" for queue in range(PRIORITIES)))
    rows = [
        [socket.name, *("4368" if queue == 3 else "0" for queue in range(PRIORITIES))]
        for socket in sockets(call.node, call.fabric)
    ]
    return f"Egress shared pool occupancy per unicast queue:\n{table(titles, rows)}"


def _version(call: Call) -> str:
    facts = {
        "SONiC Software Version": "SONiC.202405.1",
        "SONiC OS Version": "12",
        "Distribution": "Debian 12.5",
        "Kernel": "6.1.0-11-2-amd64",
        "Build commit": "4e3f2a1c0",
        "Build date": "Wed Jun 12 04:05:06 UTC 2024",
        "Built by": "builder@lab",
        "Platform": "x86_64-lab_s4700-r0",
        "HwSKU": "LAB-S4700",
        "ASIC": "lab",
        "ASIC Count": "1",
        "Serial Number": f"LAB{call.node.name.upper()}",
        "Model Number": "S4700",
        "Hardware Revision": "A1",
    }
    told = "".join(f"{name}: {value}\n" for name, value in facts.items())
    return f"\n{told}\nDocker images:\nREPOSITORY  TAG  IMAGE ID  SIZE\n"


ANSWERS: Mapping[tuple[str, ...], Callable[[Call], str]] = {
    ("version",): _version,
    ("interfaces", "status"): _status,
    ("interfaces", "counters", "fec-stats"): _fec,
    ("pfc", "counters"): _pfc,
    ("lldp", "neighbors"): _lldp,
    ("queue", "watermark", "unicast"): _watermark,
}
