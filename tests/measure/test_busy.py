"""A node in use is not loaded: who uses it is said, and what cannot be told is never idle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from pytest_fabric import endpoints
from pytest_fabric.config import load_text
from pytest_fabric.errors import TransportError
from pytest_fabric.measure import busy
from pytest_fabric.measure.end import End
from pytest_fabric.measure.fabric import CheckedSession, Fabric
from pytest_fabric.measure.moving import IDLE_SHARE
from pytest_fabric.results import NodeFacts, Port
from pytest_fabric.transport import Collect, Collecting, Job, Outcome, Pool, Running
from tests.clusters import TEXT, cluster
from tests.judge.test_views import PORT as RDMA

PORT = Port("gpu001", "rail0")
BASE = "/sys/class/infiniband/mlx5_0/ports/1"
END = End(
    PORT,
    cluster().nodes["gpu001"].rails["rail0"],
    NodeFacts("gpu001", "6.1", "6.24", {}, None, (0,), {}, {}, ()),
    RDMA,
)

#: A second at the most that an idle port of 400 Gb/s may move, in words of four bytes.
IDLE_WORDS = int(IDLE_SHARE * 400e9 / 8 / 4)

GSI = "link mlx5_0/1 lqpn 1 type GSI state RTS sq-psn 0 comm [ib_core] \n"
TITLE = "pid, process_name\n"


def said(stdout: str = "", stderr: str = "", status: int | None = 0, end: str = "exit") -> Outcome:
    return Outcome(end, status, stdout, stderr, False, 1.0)


def moved(words: int, netdev: int = 0) -> Outcome:
    """Return what the counters say: a netdev counts bytes, the port words of four."""
    return said(
        f"{BASE}/counters/port_xmit_data:{words}\n{BASE}/counters/port_rcv_data:7\n"
        f"/sys/class/net/ens1/statistics/tx_bytes:{netdev}\n"
    )


IDLE = {
    "uptime0": said("100.00 5.0\n"),
    "bytes0": moved(1000),
    "pause": said(),
    "bytes1": moved(1000),
    "uptime1": said("101.00 5.0\n"),
    "contexts": said(),
    "queue_pairs": said(GSI),
    "gpus": said(TITLE),
}
MOVING = {**IDLE, "bytes1": moved(1000 + 2 * IDLE_WORDS)}


@dataclass
class Said:
    outcomes: dict[str, Outcome]

    def ready(self, timeout_s: float) -> bool:
        return False

    def wait(self) -> dict[str, Outcome]:
        return self.outcomes

    def cancel(self) -> None:
        """It has ended."""

    def when_ended(self, call: Callable[[], None]) -> None:
        call()


@dataclass
class FakeSession:
    """A node that says prepared things, one set per look; the last one for ever."""

    looks: list[dict[str, Outcome]]
    lease: str = "exit"
    collects: list[Collect] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    node: str = "gpu001"

    def start(self, job: Job) -> Running:
        raise AssertionError(job)

    def run(self, job: Job) -> Outcome:
        self.jobs.append(job)
        if self.lease == "refused":
            return said("", "pytest-fabric: cannot open the file, so no lease can be taken\n", 126)
        return said(end=self.lease, status=0 if self.lease == "exit" else None)

    def begin(self, collect: Collect) -> Collecting:
        return Said(self.collect(collect))

    def collect(self, collect: Collect) -> dict[str, Outcome]:
        self.collects.append(collect)
        if "owners" in collect.sections:
            return {"owners": said("alice:/proc/4711\n", "stat: no /proc/12\n", 1)}
        look = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        return {name: look[name] for name in collect.sections}

    def shell(self, command: str, deadline_s: float) -> Outcome:
        raise AssertionError(command)

    def close(self) -> None:
        """Nothing is open."""


def check(*looks: dict[str, Outcome], lease: str = "exit") -> tuple[tuple[str, ...], FakeSession]:
    session = FakeSession(list(looks), lease)
    return busy.check(CheckedSession(session, ()), [END]), session


def reasons(**changes: Outcome) -> tuple[str, ...]:
    return check({**IDLE, **changes})[0]


def test_an_idle_node_costs_one_job() -> None:
    found, session = check(IDLE)

    assert found == ()
    assert len(session.collects) == 1
    assert session.jobs == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"contexts": said("dev mlx5_0 ctxn 1 pid 4711 comm python\n")},
            "gpu001: in use: python (pid 4711, user alice) holds an RDMA context on mlx5_0",
        ),
        (
            {"queue_pairs": said(GSI + GSI.replace("comm [ib_core]", "pid 12 comm job"))},
            "gpu001: in use: job (pid 12) holds an RDMA context on mlx5_0",
        ),
        (
            {
                "contexts": said(
                    "dev mlx5_0 ctxn 1 pid 12 comm job\ndev mlx5_1 ctxn 1 pid 12 comm job\n"
                    "dev mlx5_0 ctxn 2 pid 13 comm job\ndev mlx5_0 ctxn 3 pid 901 comm ibacm\n"
                )
            },
            "gpu001: in use: job (pid 12) holds an RDMA context on mlx5_0, mlx5_1, "
            "and 1 more like it",
        ),
        (
            {"gpus": said(f"{TITLE}4711, /usr/bin/python3\n")},
            "gpu001: in use: /usr/bin/python3 (pid 4711, user alice) computes on a GPU",
        ),
    ],
)
def test_who_uses_a_node_is_said(changes: dict[str, Outcome], reason: str) -> None:
    assert reasons(**changes) == (reason,)


@pytest.mark.parametrize(
    "changes",
    [
        {"contexts": said("dev mlx5_0 ctxn 1 pid 901 comm ibacm\n")},
        {"contexts": said("dev mlx5_0 ctxn 1 pid 903 comm raw_ethernet_la\n")},
        {"contexts": said("", "Unknown parameter 'ctx'.\n", 1)},
        {"contexts": said("", "sh: 1: rdma: not found\n", 127)},
        {"gpus": said("", "sh: 1: nvidia-smi: not found\n", 127)},
        {"gpus": said("No devices were found\n", "", 6)},
        {"gpus": said(f"{TITLE}904, /usr/bin/nvidia-cuda-mps-server\n")},
        {"bytes1": moved(1000 + IDLE_WORDS - 1)},
    ],
)
def test_what_is_always_there_is_no_use(changes: dict[str, Outcome]) -> None:
    assert reasons(**changes) == ()


LEFT = {**IDLE, "contexts": said("dev mlx5_0 ctxn 1 pid 4711 comm ib_write_bw\n")}


def test_a_server_that_no_run_has_locked_is_left_over() -> None:
    reason = "gpu001: in use: ib_write_bw (pid 4711, user alice) is left on mlx5_0"

    assert [line.partition(":")[0] for line in check(LEFT)[0]] == ["gpu001"]
    assert check(LEFT)[0][0].startswith(reason)
    assert check(LEFT, lease="lease")[0] == ()
    assert check(LEFT, lease="refused")[0] == ()  # nobody knows whether it is locked


def test_a_tool_that_was_just_ending_is_not_left_over() -> None:
    """Another run was between two measurements: its tool has gone, and the lock with it."""
    assert check(LEFT, IDLE)[0] == ()

    hidden = {**IDLE, "contexts": said(end="deadline", status=None)}
    assert "is left on mlx5_0" in check(LEFT, hidden)[0][0]
    garbage = {**IDLE, "queue_pairs": said("Illegal instruction\n")}
    assert "is left on mlx5_0" in check(LEFT, garbage)[0][0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"contexts": said("Illegal instruction\n")}, "rdma resource show ctx: expected"),
        ({"contexts": said("", "", 1)}, "rdma resource show ctx: expected exit status 0, got 1"),
        ({"queue_pairs": said("", "error: Operation not permitted\n", 1)}, "not permitted"),
        ({"gpus": said()}, "nvidia-smi"),
        ({"gpus": said("Failed to initialize NVML: Unknown Error\n", "", 255)}, "NVML"),
        ({"gpus": said(end="deadline", status=None)}, "within 45 s, it did not come"),
        ({"pause": said(end="deadline", status=None)}, "pause did not come"),
        ({"bytes0": said()}, "no counter in both of two reads"),
        ({"bytes1": said(), "bytes0": said()}, "no counter in both of two reads"),
        ({"bytes1": moved(10)}, "B of growth"),
        ({"uptime1": said("soon\n")}, "in nan s"),
        ({"uptime1": said("100.00 1\n")}, "in 0 s"),
    ],
)
def test_what_cannot_be_told_is_not_idle(changes: dict[str, Outcome], words: str) -> None:
    (reason,) = reasons(**changes)

    assert "gpu001" in reason
    assert "cannot tell whether it is in use: " in reason
    assert words in reason
    assert "\n" not in reason


def test_a_hanging_tool_is_told_once_and_hides_nothing_else() -> None:
    late = said(end="deadline", status=None)
    found, _ = check({**MOVING, "contexts": late, "queue_pairs": late, "gpus": late})

    assert found == (
        "gpu001: cannot tell whether it is in use: expected the answer of rdma resource show ctx "
        "within 45 s, it did not come",
        "gpu001:rail0 moves 800 Mb/s that are not ours",
    )


def test_the_netdev_tells_where_rdma_counters_stand_still() -> None:
    (reason,) = reasons(bytes0=moved(1000, 0), bytes1=moved(1000, 10**9))

    assert reason == "gpu001:rail0 moves 8 Gb/s that are not ours"


def test_a_counter_that_is_full_counts_nothing() -> None:
    full = said(f"{BASE}/counters/port_xmit_data:{2**32 - 1}\n")

    assert "no counter in both" in reasons(bytes0=full, bytes1=full)[0]


def test_a_leased_port_is_another_runs() -> None:
    found, session = check(MOVING, lease="lease")

    assert found == ()
    assert [job.lease for job in session.jobs] == [f"{BASE}/state"]


def test_what_moves_in_one_look_only_is_no_use() -> None:
    """A run that just ended its last measurement gave its lease back before we asked."""
    found, session = check(MOVING, IDLE)

    assert found == ()
    assert "contexts" not in session.collects[1].sections


def test_a_slow_driver_is_watched_for_longer() -> None:
    session = FakeSession([IDLE])
    busy.check(session, [replace(END, rdma=replace(RDMA, driver="ice"))])

    assert session.collects[0].sections["pause"] == ("sleep", "2")


FAULTS = (
    "rdma_context@gpu002:rail0",
    "gpu_job@gpu003",
    "foreign_traffic@gpu004:rail0",
    "ssh_down@gpu005",
)


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabric]:
    """Return the nodes of a lab: an idle one, three in use, one that is down, one for leases."""
    path: Path = tmp_path_factory.mktemp("lab") / "cluster.yaml"
    path.write_text(TEXT.replace("001-002", "001-006"))
    given = load_text(path.read_text(), path)
    with (
        closing(endpoints.Lab(given, FAULTS)) as lab,
        closing(Pool(endpoints.of(given, lab), "test", lambda node, *commands: None)) as pool,
    ):
        yield Fabric(given, pool, lambda facts: None)


def test_the_nodes_of_a_lab_are_told_apart(fabric: Fabric) -> None:
    """Everything over SSH, all nodes side by side; a node that is down is told elsewhere."""
    found = busy.busy_nodes(fabric, [Port(name, "rail0") for name in fabric.cluster.nodes])

    assert list(found) == ["gpu002", "gpu003", "gpu004"]
    assert found["gpu002"] == (
        "gpu002: in use: python (pid 4711, user alice) holds an RDMA context on mlx5_0",
    )
    assert found["gpu003"] == ("gpu003: in use: python (pid 4711, user alice) computes on a GPU",)
    (moves,) = found["gpu004"]
    assert moves.startswith("gpu004:rail0 moves ")
    assert 90 < float(moves.split()[2]) < 110
    assert moves.endswith(" Gb/s that are not ours")


def test_a_lease_of_another_run_is_seen_on_the_node(fabric: Fabric) -> None:
    """What moves while a lease is held is waited for, not refused."""
    end = fabric.end(Port("gpu004", "rail0"))
    session = fabric.session("gpu004")
    state = "/sys/class/infiniband/mlx5_0/ports/1/state"
    holder = session.inner.start(Job(("sleep", "60000"), 60, lease=state))
    try:
        assert busy.check(session, [end]) == ()
    finally:
        holder.cancel()
        holder.wait()
    assert busy.check(session, [end]) != ()


def test_a_node_that_is_lost_on_the_way_is_not_idle() -> None:
    class Lost:
        cluster = cluster()

        def end(self, port: Port) -> End:
            return replace(END, port=port)

        def session(self, node: str) -> None:
            raise TransportError(node, "lost", "the connection is gone")

    assert busy.busy_nodes(Lost(), [PORT]) == {  # type: ignore[arg-type]
        "gpu001": ("gpu001: cannot tell whether it is in use: the connection is gone",)
    }
