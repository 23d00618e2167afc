"""`iperf3 -J`, server and client, with the texts of its releases."""

from __future__ import annotations

import getopt
from collections.abc import Callable
from dataclasses import dataclass

from pytest_fabric.lab import iperf3_text as text
from pytest_fabric.lab import tcp
from pytest_fabric.lab.clock import Timer
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.model import Node, Port
from pytest_fabric.lab.process import Process, Result
from pytest_fabric.lab.traffic import Flow

#: Simulated seconds until it listens or connects: it opens no device.
START_S = 0.02

#: Bytes of a write to a socket.
BLOCK = 131_072


@dataclass(frozen=True)
class Options:
    """What a command line asks for; `host` is None for a server."""

    host: str | None
    address: str
    port: int
    seconds: int
    streams: int


def run(call: Call) -> Result | Process:
    """Start a server that ends after one client, or a client."""
    try:
        options = _options(call.argv[1:])
    except (getopt.GetoptError, ValueError) as error:
        return Result(1, stderr=f"iperf3: parameter error - {error}\n\n{text.USAGE}")
    port = next((one for one in call.node.ports if str(one.address) == options.address), None)
    program = _Program(call.fabric, call.node, options)
    if port is None or port.state != "ACTIVE":
        place = "unable to start listener for connections" if options.host is None else ""
        place = place or "unable to connect to server"
        program.fail(f"{place}: Cannot assign requested address")
        return program
    program.port = port
    program.later(START_S, program.serve if options.host is None else program.connect)
    return program


def _options(words: tuple[str, ...]) -> Options:
    given = dict(getopt.getopt(list(words), "Js1B:p:c:t:P:")[0])
    return Options(
        host=None if "-s" in given else given["-c"],
        address=given.get("-B", ""),
        port=int(given.get("-p", "5201")),
        seconds=int(given.get("-t", "10")),
        streams=int(given.get("-P", "1")),
    )


class _Program(Process):
    """A running iperf3; `peer` is the other one, once they have met."""

    port: Port

    def __init__(self, fabric: Fabric, node: Node, options: Options) -> None:
        super().__init__()
        self.fabric = fabric
        self.node = node
        self.options = options
        self.peer: _Program | None = None
        self.flow: Flow | None = None
        self._timers: list[Timer] = []

    def later(self, simulated_s: float, call: Callable[[], None]) -> None:
        """Call under the lock after simulated seconds, unless the program has ended by then."""

        def due() -> None:
            with self.fabric.lock:
                if self.result is None:
                    call()

        self._timers.append(self.fabric.clock.after(self.fabric.clock.real(simulated_s), due))

    def fail(self, message: str) -> None:
        """End with an error: in the JSON, with a status that older releases forgot."""
        self.end(text.failed(self.node.iperf3, message))

    def serve(self) -> None:
        """Listen for the one client."""
        if self.fabric.network.listen(self.node.name, self.options.port, self):
            self.listen()
        else:
            self.fail("unable to start listener for connections: Address already in use")

    def connect(self) -> None:
        """Find the server and begin, or fail because there is none."""
        host = self.fabric.network.resolve(self.options.host or "")
        server = self.fabric.network.connect(host or "", self.options.port)
        if not isinstance(server, _Program) or server.options.address != self.options.host:
            self.fail("unable to connect to server: Connection refused")
            return
        self.peer, server.peer = server, self
        chance = self.fabric.chance(f"iperf3 {self.port.id}..{server.port.id}")
        ends = ((self.node, self.port), (server.node, server.port))
        rates = tcp.rates(*ends, self.options.streams, chance)
        self.flow = self._flow(server.port, rates)
        self.fabric.traffic.start(self.flow)
        begun = self.fabric.clock.uptime()
        streams = [self._stream(rates, place, begun) for place in range(self.options.streams)]
        self.fabric.sockets.setdefault(self.node.name, []).extend(streams)
        self.when_ended(lambda _: self._forget(streams))
        self.later(self.options.seconds, lambda: self._finish(rates))

    def released(self) -> None:
        """Close the port; what flowed ends, and with it the peer."""
        for timer in self._timers:
            timer.cancel()
        self.fabric.network.close(self.node.name, self.options.port, self)
        if self.flow is not None:
            self.fabric.traffic.stop(self.flow, complete=False)
            self.flow = None
        if self.peer is not None and self.peer.result is None:
            self.peer.peer = None
            self.peer.fail("control socket has closed unexpectedly")

    def _forget(self, streams: list[tcp.Stream]) -> None:
        mine = self.fabric.sockets[self.node.name]
        self.fabric.sockets[self.node.name] = [one for one in mine if one not in streams]

    def _flow(self, receiver: Port, rates: tcp.Rates) -> Flow:
        seconds = float(self.options.seconds)
        return Flow(
            sender=self.port,
            receiver=receiver,
            verb="tcp",
            size=BLOCK,
            bps=sum(rates.bps),
            seconds=seconds,
            real_s=self.fabric.clock.real(seconds),
            priority=0,
            answers=0,
            bulk=True,
        )

    def _stream(self, rates: tcp.Rates, place: int, begun: float) -> tcp.Stream:
        bps = rates.bps[place]
        return tcp.Stream(
            local=f"{self.options.address}:{45_000 + place * 2}",
            peer=f"{self.options.host}:{self.options.port}",
            bps=bps,
            rtt_s=rates.rtt_s,
            mss=rates.mss,
            cwnd=max(10 * rates.mss, int(bps * rates.rtt_s / 8)),
            window=rates.window,
            loss=rates.loss,
            limited=rates.limited,
            begun=begun,
            seconds=float(self.options.seconds),
        )

    def _finish(self, rates: tcp.Rates) -> None:
        flow, server = self.flow, self.peer
        assert flow is not None
        assert server is not None
        self.fabric.traffic.stop(flow, complete=True)
        share = flow.average_bps() / flow.bps
        self.flow, self.peer, server.peer = None, None, None
        asked = text.Asked(
            self.options.address,
            self.options.host or "",
            self.options.port,
            self.options.seconds,
        )
        for end in (self, server):
            shown = text.report(asked, rates, share, end.node.iperf3, is_server=end is server)
            end.end(Result(0, shown))
