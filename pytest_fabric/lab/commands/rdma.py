"""`rdma [-j] resource show ctx|qp`: what is held of the RDMA devices, by the kernel and by jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pytest_fabric.lab import machine
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result

#: What the core holds on every idle port, and what mlx5 does besides: number, type, holder.
CORE_QPS = ((1, "GSI", "ib_core"),)
MLX5_QPS = ((0, "SMI", "ib_core"), *CORE_QPS, (7, "UD", "mlx5_ib"))

Fields = dict[str, str | int]

#: A server of perftest that nobody waits for; before its client comes it has a context only.
LEFT: Fields = {"pid": machine.LEFT_PID, "comm": machine.LEFT_COMM}


def run(call: Call) -> Result:
    """Print all contexts or all queue pairs of the node."""
    words = [word for word in call.argv[1:] if word != "-j"]
    if words[:2] != ["resource", "show"] or words[2:] not in (["ctx"], ["qp"]):
        return Result(1, stderr=f"Unknown parameter '{' '.join(words)}'.\n")
    make = _contexts if words[2] == "ctx" else _queue_pairs
    rows = [row for place, port in enumerate(call.node.functions) for row in make(place, port)]
    if "-j" in call.argv:
        return Result(0, f"{json.dumps(rows, separators=(',', ':'))}\n")
    return Result(0, "".join(f"{_line(row)}\n" for row in rows))


def _contexts(place: int, port: Port) -> Iterator[Fields]:
    if port.is_held:
        job: Fields = {"pid": machine.JOB_PID, "comm": machine.JOB_COMM}
        yield {"ifindex": place, "ifname": port.device, "ctxn": place + 5, **job}
    if port.quirks.left:
        yield {"ifindex": place, "ifname": port.device, "ctxn": place + 6, **LEFT}


def _queue_pairs(place: int, port: Port) -> Iterator[Fields]:
    where: Fields = {"ifindex": place, "port": 1, "ifname": port.device}
    usual = MLX5_QPS if port.adapter.driver == "mlx5_core" else CORE_QPS
    for number, kind, holder in () if port.adapter.is_srd else usual:
        state: Fields = {"type": kind, "state": "RTS", "sq-psn": 0}
        yield {**where, "lqpn": number, **state, "comm": holder}
    if port.is_held:
        job: Fields = {"pid": machine.JOB_PID, "comm": machine.JOB_COMM}
        ends: Fields = {"lqpn": 391, "pdn": 9, "rqpn": 391, "type": "RC", "state": "RTS"}
        order: Fields = {"rq-psn": 1, "sq-psn": 1, "path-mig-state": "MIGRATED"}
        yield {**where, **ends, **order, **job}


def _line(row: Fields) -> str:
    """Return a row as text: names of the kernel in brackets, a blank at the end of the line."""
    rest = dict(row)
    del rest["ifindex"]
    device, port = rest.pop("ifname"), rest.pop("port", None)
    words = [f"dev {device}" if port is None else f"link {device}/{port}"]
    if "pid" not in rest:
        rest["comm"] = f"[{rest['comm']}]"
    return " ".join([*words, *(f"{key} {value}" for key, value in rest.items()), ""])
