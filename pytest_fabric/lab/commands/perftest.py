"""`ib_write_lat` and its siblings: what ends at once, and the start of what runs."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.perftest import session, text
from pytest_fabric.lab.perftest.options import PROGRAMS, UsageError, parse
from pytest_fabric.lab.perftest.programs import Program
from pytest_fabric.lab.process import Process, Result

__all__ = ["PROGRAMS", "run"]


def run(call: Call) -> Result | Process:
    """Start a server, or a client when an address is given; errors that need no peer at once."""
    try:
        options = parse(call.argv, call.node.perftest_version)
    except UsageError as error:
        return Result(1, stderr=str(error))
    if options.is_version:
        return Result(1, stdout=f"Version: {call.node.perftest}\n")
    if not call.node.ports:
        missing = " Did not detect devices \n If device exists, check if driver is up\n"
        return Result(1, stderr=missing + text.NO_DEVICE)
    port = call.node.device(options.device) if options.device else call.node.ports[0]
    if port is None:
        return Result(1, stderr=f"IB device {options.device} not found\n{text.NO_DEVICE}")
    if port.adapter.is_srd != (options.connection == "SRD"):
        return Result(1, stderr=text.NO_CONNECTION)
    if port.tool == "hangs":
        return Process()
    program = Program(call.fabric, call.node, port, options)
    if options.ib_port != 1 or port.state != "ACTIVE":
        state = "Down" if options.ib_port == 1 else "Nop"
        program.end(Result(1, stderr=text.port_down(options.ib_port, state)))
    elif options.address is None:
        program.starts(program.serve)
    else:
        program.starts(lambda: _connect(program))
    return program


def _connect(client: Program) -> None:
    server = client.connect()
    if server is not None:
        session.meet(client, server)
