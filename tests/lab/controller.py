"""The other end of a lab's node runner, for tests: requests in, decoded frames out."""

from __future__ import annotations

import queue
from dataclasses import dataclass

from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.protocol import Greeting, Runner

TOKEN = "0123456789abcdef"
LEASE = "/sys/class/infiniband/mlx5_0/ports/1/state"
CAP = 10 * 2**20


@dataclass(frozen=True)
class Frame:
    """A frame: the words after the token, and both streams of an `end`."""

    words: tuple[str, ...]
    stdout: str = ""
    stderr: str = ""

    @property
    def kind(self) -> str:
        return self.words[0]

    @property
    def why(self) -> str:
        return self.words[2]

    @property
    def status(self) -> str:
        return self.words[3]


class Controller:
    """Speaks to the runner of one node."""

    def __init__(self, fabric: Fabric, node: str, holder: str = "run=1 user=ann host=ctl1") -> None:
        self.frames: queue.SimpleQueue[Frame] = queue.SimpleQueue()
        self.fabric = fabric
        self.runner = Runner(fabric, fabric.nodes[node], Greeting(TOKEN, "", holder), self._take)
        self._ident = 0
        assert self.next().kind == "hello"

    def send(self, request: str) -> None:
        self.runner.feed(f"{request}\n".encode())

    def start(
        self,
        command: str,
        *,
        deadline: int = 20,
        cap: int = CAP,
        lease: str = "-",
        port: int | str = "-",
        core: int | str = "-",
    ) -> str:
        """Start a job and return its number."""
        self._ident += 1
        self.send(f"run {self._ident} {deadline} {cap} {lease} {port} {core} {command}")
        return str(self._ident)

    def run(self, command: str, *, deadline: int = 20, cap: int = CAP, lease: str = "-") -> Frame:
        """Run a job to its end."""
        self.start(command, deadline=deadline, cap=cap, lease=lease)
        return self.end()

    def collect(self, **sections: str) -> Frame:
        """Run sections to their end."""
        self._ident += 1
        words = " ; ".join(f"section {name} {command}" for name, command in sections.items())
        self.send(f"collect {self._ident} 20 {CAP} - - - {words}")
        return self.end()

    def next(self, timeout: float = 10) -> Frame:
        return self.frames.get(timeout=timeout)

    def end(self) -> Frame:
        """Return the next end of a job."""
        while (frame := self.next()).kind != "end":
            pass
        return frame

    def _take(self, data: bytes) -> None:
        header, _, payload = data.partition(b"\n")
        token, *words = header.decode().split(" ")
        assert token == TOKEN
        if words[0] != "end":
            assert not payload
            self.frames.put(Frame(tuple(words)))
            return
        out, err = int(words[4]), int(words[5])
        assert len(payload) == out + err
        streams = (part.decode("utf-8", "replace") for part in (payload[:out], payload[out:]))
        self.frames.put(Frame(tuple(words), *streams))
