"""`iblinkinfo --line [-C DEVICE -P PORT] [-D 0]`: every link of the subnet, or those of a device.

Written after the print statements of infiniband-diags.
"""

from __future__ import annotations

from pytest_fabric.lab import subnet
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result
from pytest_fabric.lab.subnet import End, Link

#: What the tool prints as the speed of a lane of so many Gb/s.
LANES = {
    2.5: "2.5",
    5: "5.0",
    10: "10.0",
    14: "14.0625",
    25: "25.78125",
    50: "53.125",
    100: "106.25",
    200: "212.5",
}


def run(call: Call) -> Result:
    """Print one line per port."""
    words = [*call.argv[1:]]
    is_near = words[-2:] == ["-D", "0"]
    port = asked(call, words[:-2] if is_near else words, ["--line"])
    if isinstance(port, Result):
        return port
    nodes = call.fabric.nodes
    if port.state != "ACTIVE" and not is_near:
        return Result(1, stderr="discover failed\n")
    found = [subnet.own(port, nodes)] if is_near else [*subnet.links(nodes)]
    return Result(0, "".join(f"{_line(link)}\n" for link in found))


def asked(call: Call, words: list[str], before: list[str]) -> Port | Result:
    """Return the port that a command line asks from, or what is printed instead of an answer."""
    name = call.argv[0].rpartition("/")[2]
    ports = [port for port in call.node.ports if port.is_infiniband]
    if words[: len(before)] == before:
        words = words[len(before) :]
        if words[:1] == ["-C"] and words[2:] == ["-P", "1"]:
            ports = [port for port in ports if port.device == words[1]]
            words = []
        if not words and ports:
            return ports[0]
        if not words:
            failed = "can't open UMAD port ((null):0)"
            return Result(1, stderr=f"ibwarn: [77] mad_rpc_open_port: {failed}\n")
    return Result(255, stderr=f"{name}: the lab answers only: {name} [-C DEVICE -P 1]\n")


def _line(link: Link) -> str:
    end, peer = link.end, link.peer
    head = f'0x{end.guid:016x} "{end.name:>30}" {end.lid:6} {end.number:4}[  ]'
    if peer is None:
        state = f"({'':23}{link.state:>6}/{link.physical:>8})"
        return f'{head} =={state}==>             [  ] "" ( )'
    speed = f"{LANES[round(link.speed_bps / 1e9)]} Gbps"
    state = f"({link.width}X {speed:>18} {link.state:>6}/{link.physical:>8})"
    return f"{head} =={state.replace('(', '( ', 1)}==>  {_peer(peer)} ({_hint(link)})"


def _peer(peer: End) -> str:
    return f'0x{peer.guid:016x} {peer.lid:6} {peer.number:4}[  ] "{peer.name}"'


def _hint(link: Link) -> str:
    return f"Could be {link.could_be}X " if link.could_be else " "
