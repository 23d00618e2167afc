"""One session per node, made once, whoever asks first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import Collect, Endpoint, Glob, Job, Pool, local
from tests.transport.conftest import HOLDER, Servers
from tests.transport.processes import OWN, running, wait_until
from tests.transport.sshd import free_port

Pools = Callable[..., Pool]


def test_a_node_is_logged_in_to_once(servers: Servers, pool: Pools) -> None:
    """Threads that ask at the same time get the same session."""
    server = servers()
    made = pool(server.endpoint())
    with ThreadPoolExecutor(16) as executor:
        sessions = set(executor.map(lambda _: made.session("gpu001"), range(32)))

    assert len(sessions) == 1
    assert server.log.read_text().count("Accepted publickey") == 1


def test_a_failed_log_in_is_remembered(pool: Pools, tmp_path: Path) -> None:
    """A dead node costs its time-out once, and each of its measurements the same clear error."""
    (tmp_path / "config").touch()
    endpoint = Endpoint("gpu001", host="127.0.0.1", port=free_port(), config=tmp_path / "config")
    made = pool(endpoint)
    errors = []
    for _ in range(3):
        with pytest.raises(TransportError) as error:
            made.session("gpu001")
        errors.append(error.value)

    assert errors[0] is errors[1] is errors[2]


def test_nodes_are_reached_side_by_side_and_failures_are_told_by_node(
    servers: Servers, pool: Pools
) -> None:
    """One dead node does not keep the others."""
    server = servers()
    made = pool(
        server.endpoint("a"), server.endpoint("b", port=free_port()), Endpoint("c", "local")
    )
    errors = made.connect_all(["a", "b", "c", "a"])

    assert {node: error.kind for node, error in errors.items()} == {"b": "refused"}
    assert made.session("c").run(Job(("true",), 5)).status == 0


def test_every_command_is_audited_before_it_is_sent(tmp_path: Path) -> None:
    """The record holds plain command lines, one per job, section and shell command."""
    records: list[tuple[str, str]] = []
    made = Pool(
        {"gpu001": Endpoint("gpu001", "local")},
        HOLDER,
        lambda node, *commands: records.extend((node, command) for command in commands),
    )
    session = made.session("gpu001")
    session.run(Job(("echo", "a b"), 5, core=0))
    session.collect(Collect({"x": ("ls", Glob("/proc/self/*")), "y": ("true",)}, 5))
    session.shell("echo $HOME; true", 5)
    made.close()

    assert records == [
        ("gpu001", "taskset -c 0 echo 'a b'"),
        ("gpu001", "ls /proc/self/*"),
        ("gpu001", "true"),
        ("gpu001", "echo $HOME; true"),
    ]


def test_a_command_that_the_audit_refuses_is_not_sent(tmp_path: Path) -> None:
    """An allow-list can stand there."""

    def refuse(node: str, *commands: str) -> None:
        raise PermissionError(commands)

    made = Pool([Endpoint("gpu001", "local")], HOLDER, refuse)
    with pytest.raises(PermissionError):
        made.session("gpu001").run(Job(("touch", str(tmp_path / "ran")), 5))
    made.close()

    assert not (tmp_path / "ran").exists()


def test_closing_ends_what_runs_everywhere(servers: Servers, pool: Pools) -> None:
    """Local or remote, nothing is left, and nothing can be started any more."""
    server = servers()
    made = pool(server.endpoint("a"), Endpoint("b", "local"), Endpoint("c", "local"))
    made.session("a").start(Job(("sleep", f"7701{OWN}"), 60))
    made.session("b").start(Job(("sleep", f"7702{OWN}"), 60))
    wait_until(lambda: running(f"sleep 7701{OWN}") and running(f"sleep 7702{OWN}"))
    late = made.session("a")
    made.close()

    assert not running(f"sleep 7701{OWN}", f"sleep 7702{OWN}")
    assert not [t for t in threading.enumerate() if t.name.startswith("fabric")]
    with pytest.raises(TransportError, match="the session was closed"):
        late.run(Job(("true",), 5))
    with pytest.raises(TransportError, match="the run is over"):
        made.session("c")


def test_a_local_shell_that_is_not_there_is_told() -> None:
    """As a node without a shell would be."""
    with pytest.raises(TransportError, match="nonsense cannot be started") as error:
        local.open_session(
            Endpoint("a", "local"), HOLDER, lambda node, *commands: None, ("nonsense",)
        )

    assert error.value.kind == "no_shell"


def test_local_shell_commands_end_at_their_deadline(pool: Pools) -> None:
    """With everything that they have started."""
    session = pool(Endpoint("a", "local")).session("a")
    good = session.shell("echo x; echo y >&2; exit 3", 10)
    late = session.shell(f"sleep 7703{OWN} & sleep 7704{OWN}", 0.3)

    assert (good.end, good.status, good.stdout, good.stderr) == ("exit", 3, "x\n", "y\n")
    assert late.end == "deadline"
    assert not running(f"sleep 7703{OWN}", f"sleep 7704{OWN}")
