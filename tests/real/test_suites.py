"""The suites over real SSH, against real perftest on real RDMA: right values, right verdicts."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_fabric.report.rundir import read_raw

from .machines import (
    DEVICE,
    NETDEV,
    Machine,
    background,
    frozen,
    rescue,
    restored,
    ssh,
    wait_for_listener,
)
from .site import Site, make
from .wire import capture_traffic_class

Machines = tuple[Machine, Machine]

#: One check of each kind that Soft-RoCE can show; a run of these takes seconds.
FEW = "test_port_state or (test_small_write_p99 and not p999) or test_write_bandwidth"


@pytest.fixture
def site(machines: Machines, tmp_path: Path) -> Iterator[Site]:
    """Return a site for the machines, which are put back in order afterwards."""
    with restored(*machines):
        yield make(tmp_path / "site", machines)


def until(condition: Callable[[], bool], seconds: float) -> float:
    """Wait for a condition and return how long it took."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, f"not within {seconds} s"
        time.sleep(0.2)
    return time.monotonic() - started


#: Lists the perftest processes of a machine, without the probe for its version.
PERFTEST = "pgrep -f '^([^ ]*/)?ib_[a-z]+_(lat|bw) .*-p '"


def perftest_pids(machine: Machine) -> list[str]:
    return ssh(machine, PERFTEST, check=False).stdout.split()


#: Why a check of a healthy run may be skipped: by the profile, or by what the cluster file has not.
SKIPS = (
    "not available by profile",
    "has no plan of the cables",
    "is InfiniBand",
    "every node has a single port",
    "nodes on a rail, found at most 2",
    "a bisection ",
    "no limit tcp.fairness",
    "declares no `collectives`",
    "declares no switches",
    "declares the GPU beside its port",
    "a soak takes hours of full load",
    "with fabric.routing ecmp flows meet by chance",
)


def test_healthy_machines_pass_and_values_are_what_the_raw_text_says(site: Site) -> None:
    """What is reported is what perftest printed; what rxe cannot show is skipped with a reason.

    A busy host lets emulated machines answer later than their own queue pairs wait: such errors are
    measured once more, and nothing that failed.
    """
    done = site.run()
    if done.returncode == 10:
        done = site.run("--fabric-resume=latest")

    assert done.returncode == 0, done.stdout
    found = site.verdicts().values()
    assert {verdict.outcome for verdict in found} == {"passed", "skipped"}
    assert all(
        any(reason in (v.message or "") for reason in SKIPS)
        for v in found
        if v.outcome == "skipped"
    )
    measured = site.measurements()
    assert len(measured) == 2 * 15
    for record in measured:
        if record.tool == "ping":
            assert all(way.received > way.sent / 2 for way in record.reach)
            continue
        if record.tcp is not None:  # see test_tcp.py
            continue
        text = read_raw(site.latest / record.raw["client.stdout"])["client.stdout"]
        header, row = text.splitlines()[-3:-1]
        numbers = [float(word) for word in row.split()]
        if record.latency is not None:
            assert (record.latency.bytes, record.latency.iterations) == tuple(numbers[:2])
            assert record.latency.median_s == pytest.approx(numbers[4] * 1e-6)
            assert record.latency.p99_s == pytest.approx(numbers[7] * 1e-6)
        else:
            assert record.bandwidth is not None
            assert "MB/sec" in header or "MiB/sec" in header
            assert record.bandwidth.average_bps == pytest.approx(numbers[3] * 2**20 * 8)
            assert record.bandwidth.message_rate == pytest.approx(numbers[4] * 1e6)
        assert set(record.versions.values()) == {"6.06", "6.24"}
        assert record.mtu == 4096


def test_the_declared_class_is_on_the_wire(site: Site, machines: Machines) -> None:
    """DSCP 26 with ECN: 0x6a in every packet of both machines."""
    client, server = machines
    with capture_traffic_class(client) as sent, capture_traffic_class(server) as answered:
        done = site.run("-k", "test_small_write_p99 and not p999")

    assert done.returncode == 0, done.stdout
    assert (sent, answered) == ({0x6A}, {0x6A})


def test_a_server_killed_in_the_middle_is_an_error_in_seconds(
    site: Site, machines: Machines
) -> None:
    """The surviving side may spin for ever; the run does not."""
    site.last(seconds=60)
    run = site.start("-k", "test_write_bandwidth and fab1:rail0..fab2:rail0")
    until(lambda: bool(perftest_pids(machines[0])), 60)
    time.sleep(2)
    ssh(machines[1], f"kill -KILL {' '.join(perftest_pids(machines[1]))}")
    took = until(lambda: run.poll() is not None, 40)

    assert run.returncode == 10
    assert took < 25
    (message,) = site.messages("error")
    assert "fab2:rail0" in message
    assert "\n" not in message
    assert perftest_pids(machines[0]) == []


def test_a_missing_gid_is_told_before_anything_runs(site: Site, machines: Machines) -> None:
    """No address on one end: the error names the end and what is there."""
    ssh(machines[1], f"ip address flush dev {NETDEV}")
    done = site.run("-k", FEW)

    assert done.returncode == 10, done.stdout
    assert all("fab2:rail0" in m and "RoCE v2 GID" in m for m in site.messages("error"))
    assert not any(
        "ib_write" in command and "-V" not in command and "have" not in command
        for command in site.audit()
    )


def test_a_taken_control_port_is_passed_over(site: Site, machines: Machines) -> None:
    """Somebody else listens on the first port: the next one is used, and the record says so.

    A server of perftest that no run has locked is left over, unless that is allowed.
    """
    server = machines[1]
    chosen = ("-k", "test_small_write_p99 and not p999 and fab1:rail0..fab2:rail0")
    with background(server, f"ib_write_lat -d {DEVICE} -p 18515"):
        wait_for_listener(server, 18515)
        refused = site.run(*chosen)
        told = site.messages("error")
        done = site.run(*chosen, "--fabric-allow-busy")

    assert refused.returncode == 10, refused.stdout
    assert [f"is left on {DEVICE}: no run measures there" in message for message in told] == [True]
    assert done.returncode == 0, done.stdout
    (record,) = site.measurements()
    assert [attempt.control_port for attempt in record.attempts] == [18515, 18516]
    assert "taken" in record.attempts[0].outcome


def test_a_stopped_sshd_loses_one_node_and_no_time(site: Site, machines: Machines) -> None:
    """Every check of the node is an error that names it; the run is over in seconds."""
    ssh(machines[1], "kill $(cat /run/sshd.pid)")
    started = time.monotonic()
    done = site.run("-k", FEW)

    assert done.returncode == 10, done.stdout
    assert time.monotonic() - started < 40
    errors = site.messages("error")
    assert len(errors) == 1 + 2 + 2
    assert all("fab2" in message for message in errors)
    assert site.verdicts()["test_port_state[fab1:rail0]"].outcome == "passed"


def test_a_frozen_machine_accepts_tcp_and_is_unreachable_all_the_same(
    site: Site, machines: Machines
) -> None:
    """A TCP probe alone does not prove that a node lives."""
    with frozen(machines[1]):
        started = time.monotonic()
        done = site.run("-k", "test_port_state")

    assert done.returncode == 10, done.stdout
    assert time.monotonic() - started < 40
    assert all("fab2" in message for message in site.messages("error"))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("tcp dport 18515-18999", "no answer"),
        ("udp dport 4791", "fab"),
    ],
)
def test_a_firewall_that_drops_is_an_error_in_seconds(
    site: Site, machines: Machines, rule: str, message: str
) -> None:
    """The handshake or the traffic itself is dropped: the kernel would wait for minutes."""
    ssh(
        machines[1],
        "nft add table inet t && nft 'add chain inet t in { type filter hook input priority 0; }' "
        f"&& nft add rule inet t in iifname {NETDEV} {rule} drop",
    )
    started = time.monotonic()
    done = site.run("-k", "test_write_bandwidth and fab1:rail0..fab2:rail0")

    assert done.returncode == 10, done.stdout
    assert time.monotonic() - started < 60
    (error,) = site.messages("error")
    assert message in error


def test_an_mtu_of_one_end_fails_at_that_end_and_on_the_path(
    site: Site, machines: Machines
) -> None:
    """perftest takes the smaller MTU without a word; the verdict must not."""
    ssh(machines[1], f"ip link set {NETDEV} mtu 1500")
    done = site.run("-k", "mtu")

    assert done.returncode == 1, done.stdout
    found = site.verdicts()
    assert found["test_mtu[fab2:rail0]"].outcome == "failed"
    assert found["test_mtu[fab1:rail0]"].outcome == "passed"
    assert found["test_mtu_of_the_path[fab1:rail0..fab2:rail0]"].value == 1024
    assert "fab2:rail0" in done.stdout.partition("suspects")[2]


def test_a_controller_killed_with_sigkill_leaves_nothing_on_the_nodes(
    site: Site, machines: Machines
) -> None:
    """No perftest, no lease, no runner, no file within ten seconds."""
    site.last(seconds=60)
    before = [ssh(machine, "ls -A /tmp /dev/shm").stdout for machine in machines]
    run = site.start("-k", "test_write_bandwidth")
    until(lambda: all(perftest_pids(machine) for machine in machines), 60)
    gone = f"sh -c {shlex.quote(f'while {PERFTEST}; do sleep 0.1; done')}"
    with background(machines[0], gone) as first, background(machines[1], gone) as second:
        run.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        run.wait()
        assert (first.wait(30), second.wait(30)) == (0, 0)

    assert time.monotonic() - killed < 10
    state = f"/sys/class/infiniband/{DEVICE}/ports/1/state"
    for machine, files in zip(machines, before, strict=True):
        ssh(machine, f"flock -n {state} true")
        until(lambda m=machine: "fabric-runner" not in ssh(m, "ps -eo args").stdout, 10)  # type: ignore[misc]
        assert ssh(machine, "ls -A /tmp /dev/shm").stdout == files


def test_a_plain_user_measures_too(machines: Machines, tmp_path: Path) -> None:
    """Nothing needs root on a node."""
    site = make(tmp_path / "site", machines, user="ops")
    done = site.run("-k", FEW)

    assert done.returncode == 0, done.stdout


def test_check_tells_ready_machines_from_closed_ones(machines: Machines, tmp_path: Path) -> None:
    """One line per node: what it measures with, or what keeps it from measuring."""
    site = make(tmp_path / "site", machines, user="ops")
    with restored(*machines):
        ready = site.check()
        ssh(rescue(machines[1]), "chmod 600 /dev/infiniband/uverbs0")
        closed = site.check()

    assert ready.returncode == 0, ready.stdout
    assert "fab1: ready; perftest 6.06" in ready.stdout
    assert "fab2: ready; perftest 6.24" in ready.stdout
    assert closed.returncode == 1
    assert (
        "fab2: expected ops to open /dev/infiniband/uverbs0, found no permission" in closed.stdout
    )
    assert "Traceback" not in closed.stderr
