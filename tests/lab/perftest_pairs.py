"""A perftest client and a server on two nodes of a lab, for tests."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from pytest_fabric.lab.fabric import Fabric

from .controller import Controller, Frame

FAILED_EXCHANGE = (
    "ethernet_read_keys: Couldn't read remote address\n"
    " Unable to read from socket/rdma_cm\n"
    " Failed to exchange data between server and clients\n"
)


class Pair:
    """A client on gpu001 and a server on gpu002, on rail0 unless options say otherwise."""

    def __init__(self, world: Fabric, client: str = "gpu001", server: str = "gpu002") -> None:
        self.client = Controller(world, client)
        self.server = Controller(world, server)
        self.address = str(world.nodes[server].ports[0].address)

    def serve(self, command: str, port: int = 18515, **how: object) -> None:
        """Start the server; `ready` waits until it listens."""
        self.server.start(f"{command} -p {port}", port=port, **how)  # type: ignore[arg-type]

    def ready(self) -> None:
        assert self.server.next().kind == "ready"

    def run(
        self, command: str, server: str | None = None, address: str | None = None
    ) -> tuple[Frame, Frame]:
        """Return the ends of the client's and of the server's job."""
        self.serve(server or command)
        self.ready()
        end = self.client.run(f"{command} -p 18515 {address or self.address}")
        return end, self.server.end()


def row(frame: Frame) -> list[float]:
    """Return the numbers of the last row."""
    rows = [line for line in frame.stdout.splitlines() if re.fullmatch(r"[\s\d.]+", line)]
    return [float(field) for field in rows[-1].split()]


def wait_until(condition: Callable[[], object], fabric: Fabric) -> None:
    """Wait until something has happened in the fabric."""
    for _ in range(2000):
        with fabric.lock:
            if condition():
                return
        time.sleep(0.005)
    raise AssertionError("it never happened")
