"""One running perftest program: from its start to the handshake with its peer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv6Address

from pytest_fabric.lab.clock import Timer
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.model import Gid, Node, Port
from pytest_fabric.lab.perftest import text
from pytest_fabric.lab.perftest.options import Options
from pytest_fabric.lab.process import Process, Result

#: How much of its row a tool keeps to itself that is cut off.
CUT = 30


class Program(Process):
    """A client or a server; `gone` is told when it ends while it has a peer."""

    def __init__(self, fabric: Fabric, node: Node, port: Port, options: Options) -> None:
        super().__init__()
        self.fabric = fabric
        self.node = node
        self.port = port
        self.options = options
        self.version = node.perftest_version
        self.gid = gid(port, options)
        self.gone: Callable[[], None] | None = None
        self._timers: list[Timer] = []

    def starts(self, call: Callable[[], None]) -> None:
        """Call once the device is open and its memory pinned; at once where that takes no time."""
        if self.fabric.start_s:
            self.later(self.fabric.start_s, call)
        else:
            call()

    def later(self, simulated_s: float, call: Callable[[], None]) -> None:
        """Call under the lock after simulated seconds, unless the program has ended by then."""

        def due() -> None:
            with self.fabric.lock:
                if self.result is None:
                    call()

        self._timers.append(self.fabric.clock.after(self.fabric.clock.real(simulated_s), due))

    def fail(self, stderr: str, stdout: str = "") -> None:
        """End with status 1, the banner and an error."""
        self.end(Result(1, text.banner(self.options, self.version) + stdout, stderr))

    def end(self, result: Result) -> None:
        """End with a result as the port's tools present it."""
        super().end(_presented(result, self.port, self.options))

    def kill(self, signal: int = 15) -> None:
        """End by a signal: nothing is printed, whatever the tools do otherwise."""
        super().end(Result(128 + signal))

    def released(self) -> None:
        """Close the port, forget what was due, and tell the peer."""
        self.forget()
        self.fabric.network.close(self.node.name, self.options.port, self)
        if self.gone is not None:
            self.gone()

    def forget(self) -> None:
        """Go on for ever: nothing that was due happens any more."""
        for timer in self._timers:
            timer.cancel()

    def serve(self) -> None:
        """Listen for the one client."""
        if self.fabric.network.listen(self.node.name, self.options.port, self):
            self.listen()
        else:
            first = f"Couldn't listen to port {self.options.port}"
            self.fail(text.no_socket(first, self.version))

    def connect(self) -> Program | None:
        """Return the server, or fail because there is none."""
        address = self.options.address or ""
        if (":" in address) != self.options.is_ipv6 and address[:1].isalnum() and _is_ip(address):
            first = f"Address family for hostname not supported for {address}:{self.options.port}"
            self.fail(text.no_socket(first, self.version))
            return None
        host = self.fabric.network.resolve(address)
        if host is None and not address.replace(".", "").isdigit() and ":" not in address:
            first = f"Name or service not known for {address}:{self.options.port}"
            self.fail(text.no_socket(first, self.version))
            return None
        server = self.fabric.network.connect(host or "", self.options.port)
        if isinstance(server, Program):
            return server
        first = f"Couldn't connect to {address}:{self.options.port}"
        self.fail(text.no_socket(first, self.version))
        return None


def _is_ip(address: str) -> bool:
    return ":" in address or address.replace(".", "").isdigit()


def gid(port: Port, options: Options) -> Gid | None:
    """Return the GID that a run uses; None on InfiniBand, where nobody asked for one.

    An index without a GID reads as zeros. By default the last one: RoCE v2 with an IP address.
    """
    if options.gid_index is None:
        return port.gids[-1] if port.is_ethernet and port.gids else None
    empty = Gid(options.gid_index, IPv6Address(0), "", None)
    return next((gid for gid in port.gids if gid.index == options.gid_index), empty)


def way_out(fabric: Fabric, sender: Port) -> Port:
    """Return the port through which a node sends what a port of it should send."""
    ports = fabric.nodes[sender.id.node].ports
    return next((port for port in ports if port.id.rail == sender.quirks.detour), sender)


def _presented(result: Result, port: Port, options: Options) -> Result:
    """Return the result as the tools of a faulty port show it."""
    if port.tool == "garbage":
        return Result(0, text.GARBAGE)
    if port.tool == "silent":
        return Result(0)
    if port.tool == "truncated":  # within the line before the last, as a full pipe leaves it
        return replace(result, stdout=result.stdout[: -len(text.LINE) - CUT])
    if port.tool == "locale":
        return replace(result, stdout=re.sub(r"(?<=\d)\.(?=\d)", ",", result.stdout))
    if port.tool == "row then error" and options.address is not None and result.status == 0:
        return replace(result, status=1, stderr=text.PEER_GONE)
    return result
