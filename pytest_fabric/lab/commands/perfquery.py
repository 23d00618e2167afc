"""`perfquery [-x] [LID PORT]`: the counters of a port of a node, by default of its own first one.

Written after infiniband-diags' perfquery.c. Options that clear counters are refused.
"""

from __future__ import annotations

from pytest_fabric.lab import drivers
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Result

#: The names of perfquery, for the files of `counters/`, in its order; all stick at 32 bits.
SHORT = {
    "SymbolErrorCounter": "symbol_error",
    "LinkErrorRecoveryCounter": "link_error_recovery",
    "LinkDownedCounter": "link_downed",
    "PortRcvErrors": "port_rcv_errors",
    "PortRcvRemotePhysicalErrors": "port_rcv_remote_physical_errors",
    "PortRcvSwitchRelayErrors": "port_rcv_switch_relay_errors",
    "PortXmitDiscards": "port_xmit_discards",
    "PortXmitConstraintErrors": "port_xmit_constraint_errors",
    "PortRcvConstraintErrors": "port_rcv_constraint_errors",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors",
    "VL15Dropped": "VL15_dropped",
    "PortXmitData": "port_xmit_data",
    "PortRcvData": "port_rcv_data",
    "PortXmitPkts": "port_xmit_packets",
    "PortRcvPkts": "port_rcv_packets",
    "PortXmitWait": "port_xmit_wait",
}
EXTENDED = {
    "PortXmitData": "port_xmit_data",
    "PortRcvData": "port_rcv_data",
    "PortXmitPkts": "port_xmit_packets",
    "PortRcvPkts": "port_rcv_packets",
    "PortUnicastXmitPkts": "unicast_xmit_packets",
    "PortUnicastRcvPkts": "unicast_rcv_packets",
    "PortMulticastXmitPkts": "multicast_xmit_packets",
    "PortMulticastRcvPkts": "multicast_rcv_packets",
}
MOST = 2**32 - 1

#: Where the colon ends that dots lead to.
COLUMN = 33


def run(call: Call) -> Result:
    """Print the counters of a port by its LID."""
    words = [word for word in call.argv[1:] if word != "-x"]
    known = "perfquery [-x] [LID PORT]"
    if len(words) not in (0, 2) or not all(word.isdecimal() for word in words):
        return Result(255, stderr=f"perfquery: the lab answers only: {known}\n")
    own = [port for port in call.node.ports if port.is_infiniband]
    if not own:
        failed = "can't open UMAD port ((null):0)"
        return Result(1, stderr=f"ibwarn: [77] mad_rpc_open_port: {failed}\n")
    port = own[0]
    if words:
        everybody = (one for node in call.fabric.nodes.values() for one in node.ports)
        lid = int(words[0])
        found = next((one for one in everybody if one.is_infiniband and one.lid == lid), None)
        if found is None or words[1] != "1" or found.state != "ACTIVE":
            dead = f"ibwarn: [77] mad_rpc: _do_madrpc failed; dport (Lid {lid})\n"
            return Result(1, stderr=f"{dead}perfquery: iberror: failed: classportinfo query\n")
        port = found
    return Result(0, _text(call, port, "-x" in call.argv))


def _text(call: Call, port: Port, is_extended: bool) -> str:
    values = drivers.of(port).pma(port, call.fabric.traffic.tally(port))
    title = "Port extended counters" if is_extended else "Port counters"
    lines = [f"# {title}: Lid {port.lid} port 1 (CapMask: 0x5A00)", _row("PortSelect", "1")]
    lines.append(_row("CounterSelect", "0x0000"))
    for name, file in (EXTENDED if is_extended else SHORT).items():
        value = values.get(file, 0)
        lines.append(_row(name, str(value if is_extended else min(MOST, value))))
    return "".join(f"{line}\n" for line in lines)


def _row(name: str, value: str) -> str:
    return f"{name + ':':.<{COLUMN}}{value}"
