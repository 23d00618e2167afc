"""A run of iperf3 as a measurement: what is started where, and what the record says of it."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from pytest_fabric import iperf3, ping
from pytest_fabric.measure import plan, tcp
from pytest_fabric.measure.end import End
from pytest_fabric.measure.fabric import CheckedSession, Fabric
from pytest_fabric.measure.plan import Policy, Want, job_of, jobs_of, load_of
from pytest_fabric.results import Gid, Measurement, Pair, Port
from pytest_fabric.transport import Collect, Outcome
from tests.clusters import TEXT, cluster
from tests.judge.test_views import PORT
from tests.measure.test_run import FACTS, FakeRunning, FakeSession, ended

PAIR = Pair(Port("gpu001", "rail0"), Port("gpu002", "rail0"))
REAL = (Path(__file__).parents[1] / "data/iperf3/softroce-four-streams.txt").read_text()
TOOLS = {name: f"/usr/bin/{name}" for name in ("iperf3", "taskset", "ss")}
RDMA = replace(PORT, state="ACTIVE", netdevs=("ens1",), local_cpus="0-15")
LIMITED = TEXT.replace("limits:\n", 'limits:\n      tcp.throughput: ">= 1 Gb/s"\n')

COUNTERS = "/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data:1\n"


def netdev(count: int) -> str:
    return "".join(f"/sys/class/net/ens1/statistics/{way}_bytes:{count}\n" for way in ("rx", "tx"))


@dataclass
class Both(FakeRunning):
    """Ends with a tool's text, between two readings of counters."""

    moved: int = 330_000_000

    def wait(self) -> dict[str, Outcome]:
        found = {"tool": self.outcome}
        for when, count in (("before", 0), ("after", self.moved)):
            found[f"{when}-sysfs"] = ended(f"/proc/uptime:10.0 20.0\n{COUNTERS}")
            found[f"{when}-netdevs"] = ended(netdev(count))
        return found


@dataclass
class Looking(FakeRunning):
    """What ss said, look by look."""

    looks: list[str] = field(default_factory=list)

    def wait(self) -> dict[str, Outcome]:
        return {f"ss{place}": ended(text) for place, text in enumerate(self.looks)}


class TwoNodes:
    """Two ports with prepared sessions, in place of a fabric."""

    def __init__(self, client: Outcome, server: Outcome | None = None, **tools: str) -> None:
        self.cluster = cluster(LIMITED)
        self.tools = tools or TOOLS
        looks = [Looking(ended(), looks=[""])] if "ss" in self.tools else []
        mine, theirs = [Both(client), *looks], [Both(server or ended("{}"))]
        self.sessions = {
            "gpu001": FakeSession(iter(mine)),
            "gpu002": FakeSession(iter(theirs)),
        }
        self.layer = "Ethernet"

    def session(self, node: str) -> CheckedSession:
        return CheckedSession(self.sessions[node], ())

    def end(self, port: Port) -> End:
        rail = self.cluster.rail(port)
        address = f"::ffff:10.1.0.{port.node[-1]}"
        rdma = replace(RDMA, gids=(Gid(3, address, "RoCE v2", "ens1"),), link_layer=self.layer)
        facts = replace(FACTS, tools=self.tools, allowed_cpus=tuple(range(16)))
        return End(port, rail, facts, rdma)

    def jobs(self, node: str) -> list[Collect]:
        return self.sessions[node].jobs


def measured(nodes: TwoNodes) -> Measurement:
    job = job_of(Want(iperf3(streams=4, duration=5), PAIR), nodes.cluster, Policy())
    return tcp.measure(cast("Fabric", nodes), job, itertools.count(18515))


def test_both_ends_are_bound_to_their_rails_and_each_stream_has_a_core() -> None:
    nodes = TwoNodes(ended(REAL), ended(REAL.replace("connecting_to", "accepted_connection")))
    record = measured(nodes)

    assert record.error is None
    assert record.tcp is not None
    assert record.doubts == ()
    assert record.commands == {
        "server": "taskset -c 1,2,3,4 iperf3 -J -s -1 -B 10.1.0.2 -p 18515",
        "client": "taskset -c 1,2,3,4 iperf3 -J -c 10.1.0.2 -B 10.1.0.1 -p 18515 -t 5 -P 4",
    }
    assert record.versions == {"client": "3.12", "server": "3.12"}
    assert record.traffic is not None
    assert (record.traffic.sent_bytes, record.traffic.received_bytes) == (330_000_000,) * 2
    client, looks = nodes.jobs("gpu001")
    assert client.lease == "/sys/class/infiniband/mlx5_0/ports/1/state"
    assert (looks.lease, looks.sections["ss0"][-1]) == (None, "10.1.0.2:18515")
    assert nodes.jobs("gpu002")[0].listen == 18515


@pytest.mark.parametrize("status", [0, 1])
def test_an_error_in_the_json_is_an_error_whatever_the_status(status: int) -> None:
    """Before 3.14 iperf3 -J ended with 0 when it had failed."""
    text = json.dumps({"start": {}, "intervals": [], "end": {}, "error": "error - Broken pipe"})
    record = measured(TwoNodes(ended(text, status=status)))

    assert record.error is not None
    assert record.error.kind == "lost"
    assert "client at gpu001:rail0: error - Broken pipe" in record.error.message
    assert record.tcp is None


@pytest.mark.parametrize("text", ["", "{}", "Segmentation fault\n", REAL[: len(REAL) // 2]])
def test_a_text_that_is_no_run_is_an_error(text: str) -> None:
    record = measured(TwoNodes(ended(text)))

    assert record.error is not None
    assert record.error.kind == "not_recognised"


def test_what_did_not_pass_the_ports_is_in_doubt() -> None:
    nodes = TwoNodes(ended(REAL))
    for session in nodes.sessions.values():
        session.outcomes = (
            replace(one, moved=12) if isinstance(one, Both) else one for one in session.outcomes
        )
    record = measured(nodes)

    assert len(record.doubts) == 2
    assert "the streams went by another way" in record.doubts[0]


def test_a_missing_tool_is_named_and_ss_is_not_needed() -> None:
    without = measured(TwoNodes(ended(REAL), taskset="/usr/bin/taskset"))
    assert without.error is not None
    assert without.error.message == (
        "gpu001: expected iperf3 on the node, found none: install package iperf3, or set tools.path"
    )
    plain = measured(TwoNodes(ended(REAL), iperf3="/usr/bin/iperf3", taskset="/usr/bin/taskset"))
    assert plain.error is None
    assert plain.tcp is not None
    assert plain.tcp.sockets == 0


def test_infiniband_has_no_address() -> None:
    nodes = TwoNodes(ended(REAL))
    nodes.layer = "InfiniBand"
    record = measured(nodes)

    assert record.error is not None
    assert record.error.message == (
        "gpu001:rail0: expected an IP address for TCP, found a port of InfiniBand: add tcp to "
        "not_available of its profile"
    )


@pytest.mark.parametrize(
    "options", [{"streams": 0}, {"streams": 129}, {"duration": 0.5}, {"isolate": "rack"}]
)
def test_what_makes_no_sense_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="iperf3"):
        iperf3(**options)  # type: ignore[arg-type]


def test_tcp_is_measured_after_rdma_and_only_where_a_limit_asks_for_it() -> None:
    """Without a limit it is neither planned nor an error: it is skipped with the reason."""
    want = Want(iperf3(), PAIR)
    silent, asking = cluster(), cluster(LIMITED)
    asleep = cluster(LIMITED.replace("not_available: {", 'not_available: {tcp: "no kernel path", '))

    assert plan.refusal(want, silent, Policy()) == "iperf3: profile ours declares no limit of tcp"
    assert jobs_of([want], silent, Policy()) == []
    assert "no kernel path" in (plan.refusal(want, asleep, Policy()) or "")
    (job,) = jobs_of([want], asking, Policy())
    assert plan.refusal(want, asking, Policy(load="light")) == (
        "iperf3 is full load, this run may only be light"
    )
    small, full = (
        replace(job, settings=replace(job.settings, tool=tool), load=load)
        for tool, load in (("ping", "light"), ("ib_write_bw", "full"))
    )
    last = replace(job, load="disruptive")
    assert small.phase < full.phase < job.phase < last.phase
    assert load_of(iperf3(), "permutation") == "disruptive"
    assert load_of(ping(), "permutation") == "light"
