"""Server and client of one run: what is tried again, what ends it, and who is to blame."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from pytest_fabric.errors import MeasurementError, TransportError
from pytest_fabric.measure import blame, run
from pytest_fabric.measure.context import Context, Side, Trail
from pytest_fabric.measure.end import End
from pytest_fabric.measure.fabric import CheckedSession
from pytest_fabric.measure.settings import Settings
from pytest_fabric.results import Gid, NodeFacts, Pair, Port
from pytest_fabric.transport import Collect, Collecting, Job, Outcome, Running
from tests.clusters import cluster
from tests.judge.test_views import PORT

PAIR = Pair(Port("gpu001", "rail0"), Port("gpu002", "rail0"))
SETTINGS = Settings("ib_write_bw", 65536, None, 1, 1, 106, None, 3, expected_s=1.0)

TABLE = """\
 #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]
 65536      50000            0.00               3000.00              0.048000
"""
PEER_LOST = "ethernet_read_keys: Couldn't read remote address\n"
NO_MEMORY = "Couldn't allocate MR\nfailed to create mr\n"
TAKEN = "Couldn't listen to port 18515\n"
UNSTEADY = "Correlation coefficient r^2: 0.5 < 0.9\n"


def ended(stdout: str = "", stderr: str = "", status: int | None = 0, end: str = "exit") -> Outcome:
    return Outcome(end, status, stdout, stderr, False, 1.0)


GOOD = ended(TABLE)


@dataclass
class FakeRunning:
    outcome: Outcome
    is_ready: bool = True
    cancelled: bool = False
    before: Outcome | None = None
    lost: bool = False

    def ready(self, timeout_s: float) -> bool:
        return self.is_ready

    def wait(self) -> dict[str, Outcome]:
        if self.lost:
            raise TransportError("gpu001", "lost", "the connection is lost")
        return {**({"before-sysfs": self.before} if self.before else {}), "tool": self.outcome}

    def cancel(self) -> None:
        self.cancelled = True

    def when_ended(self, call: Callable[[], None]) -> None:
        call()


@dataclass
class FakeSession:
    """Hands out prepared outcomes, one per job, and remembers the jobs."""

    outcomes: Iterator[FakeRunning]
    jobs: list[Collect] = field(default_factory=list)
    given: list[FakeRunning] = field(default_factory=list)
    node: str = "gpu"

    def start(self, job: Job) -> Running:
        raise AssertionError(job)

    def run(self, job: Job) -> Outcome:
        return ended()

    def begin(self, collect: Collect) -> Collecting:
        self.jobs.append(collect)
        self.given.append(next(self.outcomes))
        return self.given[-1]

    def collect(self, collect: Collect) -> dict[str, Outcome]:
        return {}

    def shell(self, command: str, deadline_s: float) -> Outcome:
        return ended()

    def close(self) -> None:
        """Nothing is open."""


FACTS = NodeFacts("gpu", "6.1", "6.24", {}, None, (0,), {}, {}, ())


def context(
    clients: list[Outcome], servers: list[FakeRunning], prefix: tuple[str, ...] = ()
) -> Context:
    rail = cluster().nodes["gpu001"].rails["rail0"]

    def side(port: Port, outcomes: list[FakeRunning]) -> Side:
        session = CheckedSession(FakeSession(iter(outcomes)), prefix)
        return Side(session, End(port, rail, FACTS, PORT), None, None, "10.1.0.2")

    return Context(
        PAIR,
        SETTINGS,
        side(PAIR.client, [FakeRunning(outcome) for outcome in clients]),
        side(PAIR.server, servers),
        prefix,
        Trail(),
        lambda: None,
    )


def traffic(made: Context) -> str:
    return blame.verdict(made, run.traffic(made, itertools.count(18515)))


def test_both_ends_well_is_the_clients_text_and_everything_is_kept() -> None:
    """Same options at both ends, the lease of each port, and readiness at the server only."""
    made = context([GOOD], [FakeRunning(GOOD)])

    assert traffic(made) == TABLE
    (client,) = made.client.session.inner.jobs  # type: ignore[attr-defined]
    (server,) = made.server.session.inner.jobs  # type: ignore[attr-defined]
    assert client.sections["tool"] == (*server.sections["tool"], "10.1.0.2")
    assert (client.listen, server.listen) == (None, 18515)
    assert client.lease == server.lease == "/sys/class/infiniband/mlx5_0/ports/1/state"
    assert made.trail.raw["client.stdout"] == TABLE
    assert [attempt.outcome for attempt in made.trail.attempts] == ["ran"]


@pytest.mark.parametrize(
    "server",
    [
        FakeRunning(ended(end="port", status=None), is_ready=False),
        FakeRunning(ended(stderr=TAKEN, status=1), is_ready=False),
    ],
)
def test_a_taken_control_port_is_followed_by_the_next(server: FakeRunning) -> None:
    """Nothing was sent yet, so nothing is hidden; the record shows it."""
    made = context([GOOD], [server, FakeRunning(GOOD)])

    assert traffic(made) == TABLE
    assert [attempt.control_port for attempt in made.trail.attempts] == [18515, 18516]


def test_a_wrong_range_of_control_ports_is_told() -> None:
    """Ten taken ports in a row mean something else than bad luck."""
    taken = [FakeRunning(ended(end="port", status=None), is_ready=False) for _ in range(10)]

    with pytest.raises(MeasurementError, match="10 times") as caught:
        traffic(context([], taken))
    assert caught.value.kind == "port_in_use"


def test_a_held_lease_is_told_with_its_holder() -> None:
    """Somebody else measures on the port: theirs is the name shown, and the caller waits."""
    held = ended(stderr="held by ann, pid 7", status=None, end="lease")
    made = context([held, held], [FakeRunning(GOOD), FakeRunning(GOOD)])

    with pytest.raises(MeasurementError, match="gpu001:rail0 is in use: held by ann") as caught:
        traffic(made)
    assert caught.value.kind == "lease"


def test_a_server_whose_client_cannot_have_its_port_is_ended_at_once() -> None:
    """Else two runs that hold one end each would keep each other from measuring for seconds."""
    cancelled: list[float] = []

    class Waiting(FakeRunning):
        def when_ended(self, call: Callable[[], None]) -> None:
            self.call = call

        def cancel(self) -> None:
            if not self.cancelled:
                cancelled.append(time.monotonic())
                self.call()
            self.cancelled = True

    held = ended(stderr="held by ann, pid 7", status=None, end="lease")
    begun = time.monotonic()
    with pytest.raises(MeasurementError):
        traffic(context([held], [Waiting(ended(end="cancelled", status=143))]))
    assert cancelled[0] - begun < 2


def test_a_clock_that_cannot_be_calibrated_is_tried_again_five_times() -> None:
    """There is no value then, neither a good nor a bad one."""
    unsteady = ended(TABLE.replace("3000.00", "0.00"), UNSTEADY)

    assert traffic(context([unsteady, GOOD], [FakeRunning(GOOD), FakeRunning(GOOD)])) == TABLE
    with pytest.raises(MeasurementError, match="5 times") as caught:
        traffic(context([unsteady] * 5, [FakeRunning(GOOD)] * 5))
    assert caught.value.kind == "clock"


def test_the_clock_of_a_server_that_sends_too_is_tried_again() -> None:
    """With traffic in both directions the server prints rates of its own."""
    unsteady = ended(TABLE.replace("3000.00", "0.00"), UNSTEADY)

    assert traffic(context([GOOD, GOOD], [FakeRunning(unsteady), FakeRunning(GOOD)])) == TABLE
    with pytest.raises(MeasurementError, match=r"server at gpu002:rail0: .*5 times"):
        traffic(context([GOOD] * 5, [FakeRunning(unsteady)] * 5))


@pytest.mark.parametrize(
    ("client", "server", "kind", "place"),
    [
        (ended(stderr=NO_MEMORY, status=1), ended(stderr=PEER_LOST, status=1), "mr_alloc", "001"),
        (ended(stderr=PEER_LOST, status=1), ended(stderr=NO_MEMORY, status=1), "mr_alloc", "002"),
        (ended(stderr=PEER_LOST, status=1), ended(status=137), "tool_failed", "002"),
        (ended(end="cancelled", status=143), ended(status=137), "tool_failed", "002"),
        (ended(TABLE, PEER_LOST, status=1), GOOD, "peer_lost", "001"),
        (ended(end="deadline", status=124), ended(end="cancelled", status=143), "hang", "001"),
        (GOOD, ended(end="cancelled", status=143), "hang", "002"),
        (GOOD, ended(stderr="oops", status=1), "tool_failed", "002"),
        (
            ended(TABLE, " Completion with error at client\n Failed status 12: x"),
            GOOD,
            "completion",
            "001",
        ),
        (
            GOOD,
            ended(stderr=" Completion with error at server\n Failed status 12: x"),
            "completion",
            "002",
        ),
        (ended(TABLE, status=139), GOOD, "tool_failed", "001"),
    ],
)
def test_the_end_that_failed_first_is_named(
    client: Outcome, server: Outcome, kind: str, place: str
) -> None:
    """What only follows from the peer's death must not be reported as a second fault."""
    with pytest.raises(MeasurementError, match=f"at gpu{place}:rail0") as caught:
        traffic(context([client], [FakeRunning(server)]))
    assert caught.value.kind == kind
    assert "\n" not in str(caught.value)


def test_a_server_that_dies_before_it_listens_says_why() -> None:
    """The client is never started then."""
    made = context([], [FakeRunning(ended(stderr=NO_MEMORY, status=1), is_ready=False)])

    with pytest.raises(MeasurementError, match="server at gpu002:rail0") as caught:
        traffic(made)
    assert caught.value.kind == "mr_alloc"


LATE = ended(end="deadline", status=None)


class NeverReady(FakeRunning):
    def ready(self, timeout_s: float) -> bool:
        raise TimeoutError


@pytest.mark.parametrize(
    ("client", "server", "place"),
    [
        (FakeRunning(GOOD), NeverReady(LATE, before=LATE), "server at gpu002"),
        (FakeRunning(LATE, before=LATE), FakeRunning(GOOD), "client at gpu001"),
        (
            FakeRunning(ended(end="killed", status=None), before=ended(end="killed", status=None)),
            FakeRunning(GOOD),
            "client at gpu001",
        ),
    ],
)
def test_counters_that_hang_before_the_tool_are_no_fault_of_the_tool(
    client: FakeRunning, server: FakeRunning, place: str
) -> None:
    """It was never started: the next pair of these ports is measured all the same."""
    made = context([], [server])
    made.client.session.inner.outcomes = iter([client])  # type: ignore[attr-defined]

    told = f"{place}:rail0: before-sysfs did not end, so the tool was not started"
    with pytest.raises(MeasurementError, match=told) as caught:
        traffic(made)
    assert caught.value.kind == "counters"


def test_what_the_other_end_said_is_kept_when_a_node_is_lost() -> None:
    """It may be all that tells why."""
    made = context([GOOD], [FakeRunning(ended(stderr="oops", status=1))])
    made.client.session.inner.outcomes = iter([FakeRunning(GOOD, lost=True)])  # type: ignore[attr-defined]

    with pytest.raises(TransportError):
        traffic(made)
    assert made.trail.raw["server.stderr"] == "oops"


def test_output_without_end_is_no_result() -> None:
    """What was cut off may have said anything."""
    endless = Outcome("exit", 0, TABLE, "", True, 1.0)

    with pytest.raises(MeasurementError, match="printed without end"):
        traffic(context([endless], [FakeRunning(GOOD)]))


def test_both_ends_are_cancelled_whatever_happens() -> None:
    """Nothing may be left running on a node."""
    made = context([ended(stderr=NO_MEMORY, status=1)], [FakeRunning(ended(status=1))])

    with pytest.raises(MeasurementError):
        traffic(made)
    for side in (made.client, made.server):
        assert all(running.cancelled for running in side.session.inner.given)  # type: ignore[attr-defined]


def test_behind_a_prefix_core_and_deadline_go_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """`taskset N podman exec` would pin podman, and ending podman would not end the tool."""
    made = context([GOOD], [FakeRunning(GOOD)], prefix=("podman", "exec", "perf"))
    pinned = replace(made, client=replace(made.client, core=5))

    assert traffic(pinned) == TABLE
    (client,) = pinned.client.session.inner.jobs  # type: ignore[attr-defined]
    inside = ("timeout", "-k", "5", "21", "taskset", "-c", "5")
    assert client.sections["tool"][:10] == ("podman", "exec", "perf", *inside)
    assert pinned.trail.commands["client"].startswith("podman exec perf taskset -c 5 ib_write_bw")


OLD_PEER = "Current implementation is not compatible with versions older than 5.70\n"


def test_the_older_of_two_releases_is_named_whoever_complains() -> None:
    made = context([ended("", OLD_PEER, 1)], [FakeRunning(ended("", PEER_LOST, 1))])
    old = replace(made.server.end, node=replace(FACTS, perftest="4.4"))
    with pytest.raises(MeasurementError) as caught:
        traffic(replace(made, server=replace(made.server, end=old)))

    assert "gpu002 has perftest 4.4, its peer 6.24: not compatible" in str(caught.value)


def test_what_perftest_cannot_be_given_is_told_before_it_runs() -> None:
    """perftest takes GID indices up to 64 only."""
    made = context([], [])
    far = Gid(200, "::ffff:10.1.0.2", "RoCE v2", "ens1")

    with pytest.raises(MeasurementError) as caught:
        traffic(replace(made, server=replace(made.server, gid=far)))
    assert caught.value.kind == "arguments"


def test_each_end_reads_its_counters_while_it_holds_its_port() -> None:
    """What others did before or do afterwards must not be counted as ours."""
    made = context([GOOD], [FakeRunning(GOOD)])
    traffic(made)

    for side in (made.client, made.server):
        (job,) = side.session.inner.jobs  # type: ignore[attr-defined]
        names = list(job.sections)
        assert names[names.index("tool") - 1].startswith("before-")
        assert names[names.index("tool") + 1] == "settle"
        assert names[-1].startswith("after-")
        assert job.lease is not None
