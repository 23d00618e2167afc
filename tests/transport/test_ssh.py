"""Jobs on a node through a real sshd."""

from __future__ import annotations

import getpass
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import Collect, Job, Pool, Session, connection
from pytest_fabric.transport.client import NodeSession
from tests.transport.conftest import HOLDER, Servers, need
from tests.transport.processes import OWN, running, wait_until
from tests.transport.sshd import free_port

Pools = Callable[..., Pool]


def test_jobs_run_on_the_node(remote: Session) -> None:
    """Streams, status and end come back as from this machine."""
    outcome = remote.run(Job(("sh", "-c", "echo out; echo err >&2; exit 3"), 10))

    assert (outcome.end, outcome.status) == ("exit", 3)
    assert (outcome.stdout, outcome.stderr) == ("out\n", "err\n")


def test_large_outputs_come_back_whole_beside_other_jobs(remote: Session) -> None:
    """10 MiB on both streams at once do not stall 50 other jobs on the same channel."""
    script = "yes a | head -c 10485760 & yes b | head -c 10485760 >&2; wait"
    big = remote.start(Job(("sh", "-c", script), 30))
    small = [remote.start(Job(("echo", str(n)), 30)) for n in range(50)]
    outcome = big.wait()

    assert [job.wait().stdout for job in small] == [f"{n}\n" for n in range(50)]
    assert (len(outcome.stdout), len(outcome.stderr)) == (10485760, 10485760)
    assert (set(outcome.stdout), set(outcome.stderr)) == ({"a", "\n"}, {"b", "\n"})


def test_a_large_request_arrives_whole(remote: Session) -> None:
    """A node with many ports has long lists of paths."""
    words = tuple(f"/sys/class/infiniband/mlx5_{n}/ports/1/state" for n in range(1000))

    assert remote.run(Job(("echo", *words), 10)).stdout.split() == list(words)


def test_facts_readiness_and_leases_work_on_a_node(remote: Session, tmp_path: Path) -> None:
    """Everything that a measurement needs, over one channel."""
    lease = tmp_path / "state"
    lease.touch()
    got = remote.collect(Collect({"kernel": ("uname", "-s"), "tools": ("have", "sh")}, 10))
    holder = remote.start(Job(("sleep", f"7501{OWN}"), 60, lease=str(lease)))
    wait_until(lambda: running(f"sleep 7501{OWN}"))
    refused = remote.run(Job(("true",), 5, lease=str(lease)))
    mute = remote.start(Job(("sleep", f"7502{OWN}"), 60, listen=free_port()))
    with pytest.raises(TimeoutError):
        mute.ready(0.2)
    holder.cancel()
    mute.cancel()

    assert got["kernel"].stdout == "Linux\n"
    assert (refused.end, HOLDER in refused.stderr) == ("lease", True)
    assert {holder.wait().end, mute.wait().end} == {"cancelled"}


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox", "tcsh", "fish"])
def test_any_log_in_shell_will_do(shell: str, servers: Servers, pool: Pools) -> None:
    """Not every site's log-in shell is a POSIX shell; rare ones are tried where installed."""
    if shell in ("dash", "bash", "busybox"):
        need(shell)
    words = "busybox sh" if shell == "busybox" else shell
    if not any((Path(folder) / shell).exists() for folder in os.environ["PATH"].split(":")):
        pytest.skip(f"missing: {shell}")
    server = servers("sshd", f'ForceCommand {words} -c "$SSH_ORIGINAL_COMMAND"')
    session = pool(server.endpoint()).session("gpu001")

    assert session.run(Job(("echo", "a'b", "$x !y"), 10)).stdout == "a'b $x !y\n"


def test_what_a_log_in_prints_is_no_output(servers: Servers, pool: Pools) -> None:
    """A motd of 3 MB, a line without an end, a complaint, and more behind the runner's hello."""
    noise = (
        "printf 'Welcome!\\n'; yes 'last login' | head -c 3000000; printf 'on tty1: '; "
        "echo 'bash: module: not found' >&2; (sleep 0.2; echo late; echo late >&2) &"
    )
    server = servers("sshd", f'ForceCommand {noise} exec sh -c "$SSH_ORIGINAL_COMMAND"')
    session = pool(server.endpoint()).session("gpu001")
    time.sleep(0.5)

    for n in range(10):
        outcome = session.run(Job(("echo", str(n)), 10))
        assert (outcome.stdout, outcome.stderr) == (f"{n}\n", "")


def test_sudo_noise_stays_on_the_stream_that_it_came_on(remote: Session) -> None:
    """`sudo: unable to resolve host` on stderr of a good run does not touch its output."""
    script = "echo 'sudo: unable to resolve host gpu001' >&2; echo value"
    outcome = remote.run(Job(("sh", "-c", script), 10))

    assert (outcome.status, outcome.stdout) == (0, "value\n")


def test_shell_commands_have_channels_of_their_own(remote: Session) -> None:
    """A user's command runs in the log-in shell, its streams and status apart."""
    outcome = remote.shell('echo "$0"; echo oops >&2; exit 4', 10)

    assert (outcome.end, outcome.status, outcome.stderr) == ("exit", 4, "oops\n")
    assert outcome.stdout.strip()


def test_more_shell_commands_than_sessions_wait_their_turn(remote: Session) -> None:
    """MaxSessions is 10, and nobody has to know."""
    said: list[str] = []
    threads = [
        threading.Thread(target=lambda: said.append(remote.shell("sleep 0.1; echo x", 20).stdout))
        for _ in range(25)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert said == ["x\n"] * 25


def test_large_shell_outputs_come_back_whole(remote: Session) -> None:
    """Both streams of a channel are drained together."""
    script = "yes a | head -c 9000000 & yes b | head -c 9000000 >&2; wait"
    outcome = remote.shell(script, 30)

    assert (len(outcome.stdout), len(outcome.stderr)) == (9000000, 9000000)
    assert outcome.status == 0


def test_a_shell_command_is_ended_at_its_deadline(remote: Session) -> None:
    """What a user's test starts does not stay on the node."""
    outcome = remote.shell(f"echo x; sleep 7503{OWN}; echo y", 0.5)

    assert (outcome.end, outcome.status, outcome.stdout) == ("deadline", None, "x\n")
    wait_until(lambda: not running(f"sleep 7503{OWN}"))


def test_shell_commands_end_with_the_session(servers: Servers, pool: Pools) -> None:
    """They are on channels of their own, and still the controller's."""
    made = pool(servers().endpoint())
    session = made.session("gpu001")
    errors: list[TransportError] = []

    def run() -> None:
        try:
            session.shell(f"sleep 7507{OWN}; true", 60)
        except TransportError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: running(f"sleep 7507{OWN}"))
    made.close()
    thread.join(10)

    assert not thread.is_alive()
    wait_until(lambda: not running(f"sleep 7507{OWN}"))


def test_a_shell_command_on_a_connection_that_breaks_is_lost(servers: Servers, pool: Pools) -> None:
    """It has neither ended nor timed out."""
    server = servers()
    session = pool(server.endpoint()).session("gpu001")

    def kill() -> None:
        for pid in server.connections():
            os.kill(pid, signal.SIGKILL)

    threading.Timer(0.5, kill).start()
    with pytest.raises(TransportError) as error:
        session.shell(f"sleep 7508{OWN}; true", 60)

    assert error.value.kind == "lost"
    wait_until(lambda: not running(f"sleep 7508{OWN}"), 10)


def test_what_has_left_its_group_ends_with_the_session(servers: Servers, pool: Pools) -> None:
    """A tool that makes itself a daemon stays the controller's."""
    made = pool(servers().endpoint())
    made.session("gpu001").run(Job(("sh", "-c", f"setsid sleep 7509{OWN} & sleep 0.2"), 10))
    assert running(f"sleep 7509{OWN}")
    made.close()

    wait_until(lambda: not running(f"sleep 7509{OWN}"))


def test_a_session_that_closes_while_jobs_start_leaves_no_file(
    servers: Servers, pool: Pools, tmp_path: Path
) -> None:
    """A job whose files still have a name may tidy up; here that takes a while."""
    slow = tmp_path / "slow" / "rm"
    slow.parent.mkdir()
    slow.write_text('#!/bin/sh\nsleep 0.5\nexec /bin/rm "$@"\n')
    slow.chmod(0o755)
    made = pool(servers().endpoint(path=str(slow.parent)))
    session = made.session("gpu001")
    assert isinstance(session, NodeSession)
    pattern = f".pytest-fabric-{session.token}*"
    jobs = [session.start(Job(("echo", "x"), 10)) for _ in range(3)]
    wait_until(lambda: [*Path("/dev/shm").glob(pattern), *Path("/tmp").glob(pattern)])
    made.close()

    assert {job.wait().end for job in jobs} <= {"cancelled", "exit"}
    assert [*Path("/dev/shm").glob(pattern), *Path("/tmp").glob(pattern)] == []


def test_an_idle_connection_stays_alive(
    servers: Servers, pool: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keepalives are answered: a long quiet job is no lost node."""
    monkeypatch.setattr(connection, "KEEPALIVE_S", 0.2)
    monkeypatch.setattr(connection, "DEAD_S", 1.0)
    session = pool(servers().endpoint()).session("gpu001")

    assert session.run(Job(("sleep", "1.5"), 20)).end == "exit"


def test_a_frozen_node_is_lost_within_five_seconds(servers: Servers, pool: Pools) -> None:
    """Its kernel still acknowledges, so only an answer of its sshd proves that it lives."""
    server = servers()
    session = pool(server.endpoint()).session("gpu001")
    job = session.start(Job(("sleep", f"7504{OWN}"), 60))
    wait_until(lambda: running(f"sleep 7504{OWN}"))
    frozen = server.connections()
    try:
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        started = time.monotonic()
        with pytest.raises(TransportError, match="has not answered for") as error:
            job.wait()
        with pytest.raises(TransportError) as again:
            session.run(Job(("true",), 5))
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)

    assert error.value.kind == again.value.kind == "lost"
    assert time.monotonic() - started < 5
    wait_until(lambda: not running(f"sleep 7504{OWN}"), 10)


def test_a_connection_that_breaks_is_lost_at_once(servers: Servers, pool: Pools) -> None:
    """Every job that was under way says so, none waits for its deadline."""
    server = servers()
    session = pool(server.endpoint()).session("gpu001")
    jobs = [session.start(Job(("sleep", f"7505{OWN}"), 60)) for _ in range(3)]
    wait_until(lambda: len(running(f"sleep 7505{OWN}")) >= 3)
    started = time.monotonic()
    for pid in server.connections():
        os.kill(pid, signal.SIGKILL)
    for job in jobs:
        with pytest.raises(TransportError, match="the connection is lost") as error:
            job.wait()
        assert error.value.kind == "lost"

    assert time.monotonic() - started < 3
    wait_until(lambda: not running(f"sleep 7505{OWN}"), 10)


def test_the_log_in_name_is_the_configured_one(servers: Servers, pool: Pools) -> None:
    """`User` of ssh_config is used when the inventory names nobody."""
    session = pool(servers().endpoint()).session("gpu001")

    assert session.run(Job(("id", "-un"), 10)).stdout.strip() == getpass.getuser()


def test_directories_of_the_inventory_are_searched_first(
    servers: Servers, pool: Pools, tmp_path: Path
) -> None:
    """perftest from /opt wins over the distribution's."""
    tool = tmp_path / "opt" / "ib_write_lat"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho mine\n")
    tool.chmod(0o755)
    session = pool(servers().endpoint(path=str(tool.parent))).session("gpu001")

    assert session.run(Job(("ib_write_lat",), 10)).stdout == "mine\n"


def test_closing_leaves_no_thread_and_no_connection(servers: Servers, pool: Pools) -> None:
    """A run ends with nothing of it left, on either side."""
    others = set(threading.enumerate())
    server = servers()
    made = pool(server.endpoint())
    made.session("gpu001").start(Job(("sleep", f"7506{OWN}"), 60))
    wait_until(lambda: running(f"sleep 7506{OWN}"))
    made.close()

    assert not running(f"sleep 7506{OWN}")
    assert set(threading.enumerate()) <= others
    wait_until(lambda: not server.connections())
