"""One ping as a measurement: what is sent from where, and whatever happens, the record says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from pytest_fabric import ping
from pytest_fabric.declare import Declaration
from pytest_fabric.errors import TransportError
from pytest_fabric.measure import probe
from pytest_fabric.measure.end import End
from pytest_fabric.measure.fabric import CheckedSession, Fabric
from pytest_fabric.measure.plan import Policy, Want, job_of
from pytest_fabric.results import Gid, Measurement, Pair, Port, RdmaPort
from pytest_fabric.tools import ping as tool
from pytest_fabric.transport import Outcome
from tests.clusters import cluster
from tests.judge.test_views import PORT
from tests.measure.test_run import FACTS, FakeRunning, FakeSession, ended

PAIR = Pair(Port("gpu001", "rail0"), Port("gpu002", "rail0"))
FACTS = replace(FACTS, tools={"ping": "/usr/bin/ping"})


def gid(address: str, netdev: str | None = "ens1") -> Gid:
    return Gid(3, f"::ffff:{address}", "RoCE v2", netdev)


RDMA = replace(PORT, state="ACTIVE", gids=(gid("10.1.0.1"),), netdev_mtu=9000)


@dataclass
class Answering(FakeSession):
    """Answers each ping as `say` tells: by the interval of packets, in order."""

    outcomes: Iterator[FakeRunning] = field(default_factory=lambda: iter(()))


def answer(payload: int, host: str, sent: int, received: int | None = None) -> FakeRunning:
    """Return what ping prints that got answers to all its packets, or to so many."""
    back = sent if received is None else received
    replies = "".join(
        f"{payload + 8} bytes from {host}: icmp_seq={seq} ttl=64 time=0.03 ms\n"
        for seq in range(1, back + 1)
    )
    return FakeRunning(
        ended(
            f"PING {host} ({host}) {payload}({payload + 28}) bytes of data.\n{replies}\n"
            f"--- {host} ping statistics ---\n{sent} packets transmitted, {back} received, "
            f"{100 * (sent - back) / sent:g}% packet loss, time 1ms\n"
            + ("rtt min/avg/max/mdev = 0.03/0.03/0.03/0.0 ms\n" if back else "\n"),
            status=0 if back else 1,
        )
    )


class TwoNodes:
    """Two ports with prepared sessions, in place of a fabric."""

    def __init__(self, client: list[FakeRunning], server: list[FakeRunning]) -> None:
        self.cluster = cluster()
        self.sessions = {"gpu001": Answering(iter(client)), "gpu002": Answering(iter(server))}
        self.ports: dict[str, RdmaPort] = {
            "gpu001": RDMA,
            "gpu002": replace(RDMA, gids=(gid("10.1.0.2"),)),
        }
        self.tools = {"ping": "/usr/bin/ping"}

    def session(self, node: str) -> CheckedSession:
        return CheckedSession(self.sessions[node], ())

    def end(self, port: Port) -> End:
        rail = self.cluster.rail(port)
        return End(port, rail, replace(FACTS, tools=self.tools), self.ports[port.node])


def measured(nodes: TwoNodes, declaration: Declaration) -> Measurement:
    job = job_of(Want(declaration, PAIR), nodes.cluster, Policy())
    return probe.measure(cast("Fabric", nodes), job)


def test_packets_leave_by_the_rail_and_from_its_address() -> None:
    """The client alone sends, with the lease of its port."""
    nodes = TwoNodes([answer(56, "10.1.0.2", 3000)], [])
    record = measured(nodes, ping())

    assert record.error is None
    (reach,) = record.reach
    assert (reach.port, reach.sent, reach.loss, record.mtu) == ("gpu001:rail0", 3000, 0.0, None)
    assert record.commands == {
        "client": "ping -n -c 3000 -i 0.002 -s 56 -W 2 -I ens1 -I 10.1.0.1 10.1.0.2"
    }
    (sent,) = nodes.sessions["gpu001"].jobs
    assert sent.lease == "/sys/class/infiniband/mlx5_0/ports/1/state"
    assert nodes.sessions["gpu002"].jobs == []
    assert record.raw["client.stdout"].count("icmp_seq") == 10


def test_full_packets_go_both_ways_and_are_not_split() -> None:
    """Each end sends what its own netdev promises; the smaller says what RDMA may."""
    nodes = TwoNodes([answer(8972, "10.1.0.2", 3000)], [answer(1472, "10.1.0.1", 3000)])
    nodes.ports["gpu002"] = replace(nodes.ports["gpu002"], netdev_mtu=1500)
    record = measured(nodes, ping(full_size=True))

    assert record.error is None
    assert [(way.port, way.packet_bytes) for way in record.reach] == [
        ("gpu001:rail0", 9000),
        ("gpu002:rail0", 1500),
    ]
    assert record.mtu == 1024
    assert record.commands["server"].endswith("-s 1472 -W 2 -M do -I ens1 -I 10.1.0.2 10.1.0.1")


def test_a_ping_that_may_not_send_fast_is_asked_for_fewer_packets() -> None:
    """As many as a gate needs, every 200 ms; the record tells that it was tried twice."""
    refusal = "ping: cannot flood; minimal interval, allowed for user, is 200ms\n"
    refused = FakeRunning(ended(stderr=refusal, status=2))
    nodes = TwoNodes([refused, answer(56, "10.1.0.2", 100)], [])
    record = measured(nodes, ping())

    assert record.error is None
    assert record.reach[0].sent == 100
    assert " -c 100 -i 0.2 " in record.commands["client"]
    assert [attempt.outcome for attempt in record.attempts] == [
        "ping may not send every 2 ms here",
        "ran",
    ]


def held() -> FakeRunning:
    return FakeRunning(ended(stderr="held by ann, pid 7", status=None, end="lease"))


def test_a_held_lease_is_waited_for_by_the_caller() -> None:
    """The other end is ended at once: its port can be used by whoever has this one."""
    other = answer(8972, "10.1.0.1", 3000)
    nodes = TwoNodes([held()], [other])
    record = measured(nodes, ping(full_size=True))

    assert record.error is not None
    assert record.error.kind == "lease"
    assert "gpu001:rail0 is in use: held by ann" in record.error.message
    assert other.cancelled


def test_an_end_that_cannot_begin_ends_the_other() -> None:
    class Lost(Answering):
        def begin(self, collect: object) -> FakeRunning:
            raise TransportError("gpu002", "lost", "the connection was lost")

    begun = answer(8972, "10.1.0.2", 3000)
    nodes = TwoNodes([begun], [])
    nodes.sessions["gpu002"] = Lost()
    record = measured(nodes, ping(full_size=True))

    assert record.error is not None
    assert record.error.kind == "node_lost"
    assert begun.cancelled


def outcome(stdout: str = "", stderr: str = "", status: int = 0) -> list[FakeRunning]:
    return [FakeRunning(Outcome("exit", status, stdout, stderr, False, 1.0))]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (outcome(), "gpu001:rail0..gpu002:rail0: ping: client at gpu001:rail0: expected one run"),
        (outcome("\x00<b>"), "expected one run of ping"),
        (outcome(stderr="ping: socket: Operation not permitted\n", status=2), "not permitted"),
        (outcome(stderr="ping: unknown iface: ens1\n", status=2), "unknown iface"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_evidence(
    told: list[FakeRunning], message: str
) -> None:
    """No default in place of a value, and one line."""
    record = measured(TwoNodes(told, []), ping())

    assert record.reach == ()
    assert record.error is not None
    assert message in record.error.message
    assert "\n" not in record.error.message
    assert "client.stdout" in record.raw


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"link_layer": "InfiniBand"}, "address", "add ping to not_available of its profile"),
        ({"gids": ()}, "gid", "expected a RoCE v2 GID in 10.1.0.0/16 on mlx5_0, found none"),
        ({"state": "DOWN"}, "port_down", "expected port mlx5_0 to be ACTIVE"),
        ({"gids": (gid("10.1.0.2", None),), "netdevs": ()}, "netdev", "expected a netdev"),
        ({"netdev_mtu": 20}, "arguments", "ping of -8 B by 'ens1': expected"),
        ({"gids": (gid("10.1.0.2", "-f x"),)}, "arguments", "expected the name of an interface"),
        ({"netdev_mtu": None}, "netdev", "/sys/class/net/ens1/mtu, found none"),
    ],
)
def test_a_port_that_cannot_be_pinged_is_named(
    change: dict[str, object], kind: str, message: str
) -> None:
    """Nothing is sent then."""
    nodes = TwoNodes([], [])
    nodes.ports["gpu002"] = replace(nodes.ports["gpu002"], **change)  # type: ignore[arg-type]
    record = measured(nodes, ping(full_size=True))

    assert record.error is not None
    assert record.error.kind == kind
    assert record.error.message.startswith("gpu002:rail0: ")
    assert message in record.error.message


def test_a_node_without_ping_is_told_what_to_install() -> None:
    nodes = TwoNodes([], [])
    nodes.tools = {}
    record = measured(nodes, ping())

    assert record.error is not None
    assert record.error.message == (
        "gpu001: expected ping on the node, found none: install package iputils-ping"
    )


def test_the_command_is_one_that_ping_reads() -> None:
    """An IPv6 rail has larger headers."""
    nodes = TwoNodes([], [])
    side = probe._side(cast("Fabric", nodes), PAIR.client)
    way = probe.Way("client", side, "ens1", "fd00::1", "fd00::2", 56)

    assert way.packet_bytes == 104
    assert tool.command(way.host, device=way.netdev, source=way.source)[-1] == "fd00::2"
