"""SONiC's `sonic-cfggen -d --var-json TABLE`: a table of the configuration."""

from __future__ import annotations

import json

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result
from pytest_fabric.lab.sockets import Socket, sockets

Row = dict[str, str]

#: The profile of lossless queues, by the name that SONiC's own configuration gives it.
PROFILE = "AZURE_LOSSLESS"
WRED: Row = {
    "ecn": "ecn_all",
    "wred_green_enable": "true",
    "wred_yellow_enable": "true",
    "wred_red_enable": "true",
    "green_min_threshold": "250000",
    "green_max_threshold": "2097152",
    "green_drop_probability": "5",
}


def run(call: Call) -> Result:
    """Print a table as JSON; a table that is not there prints nothing."""
    if call.argv[1:3] != ("-d", "--var-json") or len(call.argv) != 4:
        return Result(2, stderr="sonic-cfggen: the lab answers only: -d --var-json TABLE\n")
    found = list(sockets(call.node, call.fabric))
    tables = {
        "PORT_QOS_MAP": {one.name: _map(one) for one in found},
        "QUEUE": {f"{one.name}|{q}": _queue(one, q) for one in found for q in range(7)},
        "WRED_PROFILE": {PROFILE: WRED},
    }
    rows = tables.get(call.argv[3])
    return Result(0, "" if rows is None else f"{json.dumps(rows, indent=4)}\n")


def _map(socket: Socket) -> Row:
    fields = {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE"}
    lossless = socket.host.edge.lossless if socket.host is not None else ()
    on = ",".join(map(str, lossless))
    return {**fields, "pfc_enable": on, "pfcwd_sw_enable": on} if on else fields


def _queue(socket: Socket, number: int) -> Row:
    marks = socket.host.edge.marks if socket.host is not None else ()
    return {"scheduler": "scheduler.0", **({"wred_profile": PROFILE} if number in marks else {})}
