"""The session over byte streams that misbehave."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator

import pytest

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import Job, Outcome, client, running
from pytest_fabric.transport.client import NodeSession

TOKEN = "0123456789abcdef"


class FakeWire:
    """A runner that says what a test tells it to say."""

    def __init__(self) -> None:
        self.said: queue.Queue[bytes] = queue.Queue()
        self.lines: list[str] = []
        self.broken = self.closed = False
        self.reason: str | None = None

    def say(self, *lines: str) -> None:
        """Let frames come in."""
        self.said.put("".join(f"{TOKEN} {line}\n" for line in lines).encode())

    def read(self) -> bytes | None:
        """Return what was said."""
        try:
            return self.said.get(timeout=0.05)
        except queue.Empty:
            return b"" if self.closed else None

    def write(self, data: bytes) -> None:
        """Take a request."""
        if self.broken:
            raise BrokenPipeError("Broken pipe")
        self.lines += data.decode().splitlines()

    def stalled(self) -> str | None:
        """Return what the test wants."""
        return self.reason

    def ended(self) -> str:
        """Return a reason."""
        return "closed by the other side"

    def shell(self, command: str, deadline_s: float) -> Outcome:
        """Fail as a dead connection does."""
        raise OSError("no channel")

    def finish(self) -> None:
        """End, as the runner does then."""
        self.closed = True

    def close(self) -> None:
        """End."""
        self.closed = True


@pytest.fixture
def wire() -> FakeWire:
    """The streams of the session."""
    return FakeWire()


@pytest.fixture
def session(wire: FakeWire, monkeypatch: pytest.MonkeyPatch) -> Iterator[NodeSession]:
    """A session that has been greeted, with short bounds."""
    for module in (client, running):
        monkeypatch.setattr(module, "GRACE_S", 0.4)
        monkeypatch.setattr(module, "OVERDUE_S", 1.0)
    monkeypatch.setattr(client, "_LOOK_S", 0.05)
    opened = NodeSession("gpu001", TOKEN, wire, lambda node, *commands: None)
    wire.say("hello 1")
    opened.open(5)
    yield opened
    opened.close()


def lost(session: NodeSession) -> str:
    """Return what a lost session says."""
    with pytest.raises(TransportError) as error:
        session.run(Job(("true",), 5))
    assert error.value.kind == "lost"
    return str(error.value)


def test_an_end_that_never_comes_is_a_lost_node(session: NodeSession, wire: FakeWire) -> None:
    """Deadline and grace are the bound of every wait."""
    job = session.start(Job(("sleep", "1"), 0.2))
    started = time.monotonic()
    with pytest.raises(TransportError, match="did not report the end") as error:
        job.wait()

    assert error.value.kind == "lost"
    assert 0.5 < time.monotonic() - started < 2
    assert wire.closed
    assert "did not report" in lost(session)


def test_an_end_behind_other_frames_is_waited_for(session: NodeSession, wire: FakeWire) -> None:
    """Large outputs of other jobs on a slow line are no sign of death."""
    job = session.start(Job(("true",), 0.1))

    def chatter() -> None:
        for _ in range(8):
            time.sleep(0.1)
            wire.say("ready 99")
        wire.say("end 1 exit 0 0 0 0")

    threading.Thread(target=chatter).start()
    assert job.wait().end == "exit"


def test_chatter_does_not_keep_a_lost_job_for_ever(session: NodeSession, wire: FakeWire) -> None:
    """Even then there is a bound."""
    job = session.start(Job(("true",), 0.1))
    stop = threading.Event()

    def chatter() -> None:
        while not stop.wait(0.05):
            wire.say("ready 99")

    thread = threading.Thread(target=chatter)
    thread.start()
    with pytest.raises(TransportError, match="did not report the end"):
        job.wait()
    stop.set()
    thread.join()


def test_a_node_that_stops_answering_is_given_up(session: NodeSession, wire: FakeWire) -> None:
    """Whoever waits notices, for readiness or for the end."""
    job = session.start(Job(("true",), 60, listen=18515))
    wire.reason = "127.0.0.1:22 has not answered for 15 s"
    with pytest.raises(TransportError, match="not answered") as error:
        job.ready(30)

    assert error.value.kind == "lost"
    with pytest.raises(TransportError, match="not answered"):
        job.wait()


def test_a_stream_that_ends_ends_every_wait(session: NodeSession, wire: FakeWire) -> None:
    """All jobs under way are lost at once; an end that came before stays."""
    jobs = [session.start(Job(("true",), 60)) for _ in range(3)]
    wire.say("end 1 exit 0 0 0 0")
    assert jobs[0].wait().status == 0
    wire.closed = True
    for job in jobs[1:]:
        with pytest.raises(TransportError, match="closed by the other side"):
            job.wait()

    assert jobs[0].wait().status == 0


def test_a_request_that_cannot_be_sent_is_a_lost_node(session: NodeSession, wire: FakeWire) -> None:
    """The caller does not wait for a job that was never asked for."""
    wire.broken = True

    assert "Broken pipe" in lost(session)


def test_a_shell_command_without_a_channel_is_a_lost_node(session: NodeSession) -> None:
    """The same kind of error as for a job."""
    with pytest.raises(TransportError, match="no channel") as error:
        session.shell("true", 5)

    assert error.value.kind == "lost"


def test_a_cancel_is_sent_once(session: NodeSession, wire: FakeWire) -> None:
    """However often it is asked for, and not when the job has ended."""
    job = session.start(Job(("sleep", "1"), 60))
    job.cancel()
    job.cancel()
    wire.say("end 1 cancelled 143 0 0 0")

    assert job.wait().end == "cancelled"
    job.cancel()
    assert [line for line in wire.lines if line.startswith("cancel")] == ["cancel 1"]


def test_readiness_outlives_the_job(session: NodeSession, wire: FakeWire) -> None:
    """A server that was ready and has ended since was ready."""
    job = session.start(Job(("true",), 60, listen=18515))
    wire.say("ready 1", "end 1 exit 0 0 0 0")
    job.wait()

    assert job.ready(0.1)


def test_frames_of_unknown_jobs_are_ignored(session: NodeSession, wire: FakeWire) -> None:
    """A late frame does not hurt."""
    wire.say("end 77 exit 0 0 0 0", "ready 78")
    job = session.start(Job(("true",), 60))
    wire.say("end 1 exit 0 0 0 0")

    assert job.wait().status == 0


def test_a_runner_that_does_not_greet_is_no_shell(wire: FakeWire) -> None:
    """What came instead is shown."""
    opened = NodeSession("gpu001", TOKEN, wire, lambda node, *commands: None)
    wire.said.put(b"Welcome\nchoose a menu item: ")
    with pytest.raises(TransportError, match="choose a menu item") as error:
        opened.open(0.2)

    assert error.value.kind == "no_shell"
    assert "0.2 s" in str(error.value)
