"""`dcb -N -j pfc|app show dev NETDEV`: the kernel's view of PFC and of priority rules."""

from __future__ import annotations

import json

from pytest_fabric.lab.commands import mlnx_qos
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result

DSCPS = 64
PRIORITIES = 8


def run(call: Call) -> Result:
    """Print one document; a device without DCB gives a blank line and the reason on stderr."""
    words = [word for word in call.argv[1:] if word not in ("-N", "-j")]
    if len(words) != 4 or words[0] not in ("pfc", "app") or words[1:3] != ["show", "dev"]:
        return Result(1, stderr=f'Object "{" ".join(words)}" is unknown, try "dcb help".\n')
    if not call.view.exists(f"/sys/class/net/{words[3]}"):
        return Result(1, "\n", "Attribute read: No such device\n")
    port = call.node.netdev(words[3])
    if port is None or not port.is_ethernet:
        return Result(1, "\n", "Attribute read: Operation not supported\n")
    if port.adapter.owner == "locked":
        return Result(1, "\n", "Attribute read: Operation not permitted\n")
    port = mlnx_qos.shown(port)
    document = _pfc(port) if words[0] == "pfc" else _app(port)
    return Result(0, f"{json.dumps(document, separators=(',', ':'))}\n")


def _pfc(port: Port) -> dict[str, object]:
    flags = [priority in port.lossless for priority in range(PRIORITIES)]
    return {"pfc_cap": PRIORITIES, "macsec_bypass": False, "delay": 0, "prio_pfc": flags}


def _app(port: Port) -> dict[str, object]:
    """Return a rule for each DSCP; the driver has them exactly while DSCP is trusted."""
    if port.trust == "pcp":
        return {}
    return {"dscp_prio": [[dscp, port.mapped(dscp)] for dscp in range(DSCPS)]}
