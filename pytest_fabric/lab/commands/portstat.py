"""SONiC's `portstat -j`, `queuestat -j` and `wredstat -j`: what ports and queues have counted."""

from __future__ import annotations

import json

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.commands.show import PRIORITIES, errors, state
from pytest_fabric.lab.history import past
from pytest_fabric.lab.process import Result
from pytest_fabric.lab.sockets import Socket, sockets
from pytest_fabric.lab.traffic import Tally

#: Bytes of a frame on the average, of what was moved before the lab began.
FRAME = 4096

#: Packets that were marked before the lab began.
OLDER = 4711


def ports(call: Call) -> Result:
    """Print the counters of every port."""
    if call.argv[1:] != ("-j",):
        return Result(2, stderr="portstat: the lab answers only: portstat -j\n")
    found = {one.name: _port(call, one) for one in sockets(call.node, call.fabric)}
    return Result(0, f"{json.dumps(found, indent=4, sort_keys=True)}\n")


def _port(call: Call, socket: Socket) -> dict[str, str]:
    older, tally = _moved(call, socket)
    received, sent = sum(tally.sent_packets), sum(tally.received_packets)
    rates = {f"{way}_{what}": "N/A" for way in ("RX", "TX") for what in ("BPS", "PPS", "UTIL")}
    return {
        **rates,
        "STATE": state(socket),
        "RX_OK": f"{older + received:,}",
        "RX_ERR": f"{errors(call, socket):,}",
        "RX_DRP": "17",
        "RX_OVR": "0",
        "TX_OK": f"{older + sent:,}",
        "TX_ERR": "0",
        "TX_DRP": f"{_dropped(call, socket):,}",
        "TX_OVR": "0",
    }


def queues(call: Call) -> Result:
    """Print the counters of every queue of every port."""
    if call.argv[1:] != ("-j",):
        return Result(2, stderr="queuestat: the lab answers only: queuestat -j\n")
    found = {one.name: _queues(call, one) for one in sockets(call.node, call.fabric)}
    return Result(0, f"{json.dumps(found, indent=4, sort_keys=True)}\n")


def _queues(call: Call, socket: Socket) -> dict[str, object]:
    older, tally = _moved(call, socket)
    lossless = socket.host.edge.lossless if socket.host is not None else ()
    rows: dict[str, object] = {"time": "2026-11-29T21:00:00.000000"}
    for queue in range(PRIORITIES):
        own = older if queue in lossless else 0
        drops = _dropped(call, socket) if queue in lossless else 0
        rows[f"UC{queue}"] = {
            "totalpacket": str(own + tally.received_packets[queue]),
            "totalbytes": str(own * FRAME + tally.received_bytes[queue]),
            "droppacket": str(drops),
            "dropbytes": str(drops * FRAME),
        }
    for queue in range(PRIORITIES, 2 * PRIORITIES):
        names = ("totalpacket", "totalbytes", "droppacket", "dropbytes")
        rows[f"MC{queue}"] = dict.fromkeys(names, "0")
    return rows


def marks(call: Call) -> Result:
    """Print what every queue of every port has marked; none has dropped early."""
    if call.argv[1:] != ("-j",):
        return Result(2, stderr="wredstat: the lab answers only: wredstat -j\n")
    found = {one.name: _marks(call, one) for one in sockets(call.node, call.fabric)}
    return Result(0, f"{json.dumps(found, indent=4, sort_keys=True)}\n")


def _marks(call: Call, socket: Socket) -> dict[str, object]:
    host = socket.host
    marking = host.edge.marks[:1] if host is not None else ()
    marked = int(call.fabric.traffic.tally(host).marked) if host is not None else 0
    rows: dict[str, object] = {"time": "2026-11-29T21:00:00.000000"}
    for queue in range(PRIORITIES):
        packets = OLDER + marked if queue in marking else 0
        rows[f"UC{queue}"] = {
            "wreddroppacket": "0",
            "wreddropbytes": "0",
            "ecnmarkedpacket": str(packets),
            "ecnmarkedbytes": str(packets * FRAME),
        }
    return rows


def _moved(call: Call, socket: Socket) -> tuple[int, Tally]:
    """Return the packets of an older life, and what the host's end has moved since."""
    if socket.host is None:
        return 0, Tally()
    return past(socket.host) // FRAME, call.fabric.traffic.tally(socket.host)


def _dropped(call: Call, socket: Socket) -> int:
    per_s = socket.host.edge.drops_per_s if socket.host is not None else 0.0
    return int(per_s * call.fabric.clock.uptime())
