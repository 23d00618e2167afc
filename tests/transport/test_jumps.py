"""Nodes behind jump hosts: reached through them, and what goes wrong names the right place."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import Job, Pool, pacing
from tests.transport.conftest import Servers
from tests.transport.processes import OWN, running, wait_until
from tests.transport.sshd import Sshd, free_port

Pools = Callable[..., Pool]


def through(node: Sshd, *jumps: Sshd, chain: str = "") -> Path:
    """Write an ssh_config that leads to a node through jump hosts, in an included file."""
    included = node.folder / "included"
    blocks = [
        f"Host jump{n}\n  Port {jump.port}\n  UserKnownHostsFile {jump.known_hosts}\n"
        for n, jump in enumerate(jumps)
    ]
    chain = chain or ",".join(f"jump{n}" for n in range(len(jumps)))
    included.write_text("".join(blocks) + f"Host gpu*\n  ProxyJump {chain}\n")
    return node.config(f"Include {included}")


def test_a_node_behind_two_jump_hosts(servers: Servers, pool: Pools) -> None:
    """Each of them is logged in to with its own port and its own known hosts."""
    node, *jumps = (servers(name, host_key=key) for name, key in (
        ("node", "host"), ("first", "other"), ("second", "host")))  # fmt: skip
    session = pool(node.endpoint(config=through(node, *jumps))).session("gpu001")

    assert session.run(Job(("echo", "x"), 10)).stdout == "x\n"
    for server in (node, *jumps):
        assert "Accepted publickey" in server.log.read_text()
    assert "127.0.0.1" in jumps[1].log.read_text()


def test_a_jump_host_is_logged_in_to_once(servers: Servers, pool: Pools) -> None:
    """It would see all nodes at once otherwise, and drop some."""
    node, jump = servers("node"), servers("jump")
    config = through(node, jump)
    names = [f"gpu{n:03}" for n in range(12)]
    made = pool(*(node.endpoint(name, config=config) for name in names))

    assert made.connect_all(names) == {}
    assert jump.log.read_text().count("Accepted publickey") == 1
    assert node.log.read_text().count("Accepted publickey") == 12


def test_nodes_come_and_go_while_others_behind_the_jump_host_work(
    servers: Servers, pool: Pools
) -> None:
    """A channel that closes under traffic does not end the connection that it shares."""
    node, jump = servers("node"), servers("jump")
    config = through(node, jump)
    names = [f"gpu{n:03}" for n in range(12)]
    made = pool(*(node.endpoint(name, config=config) for name in names))
    assert made.connect_all(names) == {}
    chatty = Job(("sh", "-c", "yes | head -c 400000"), 20)
    steady = [made.session(name).start(Job(("sleep", "1.5"), 20)) for name in names[:4]]
    for name in names[4:]:
        for _ in range(4):
            made.session(name).start(chatty)
        made.session(name).close()

    assert [job.wait().end for job in steady] == ["exit"] * 4
    assert "nonexistent channel" not in jump.log.read_text()


def test_a_jump_host_that_refuses_us_is_asked_once(
    servers: Servers, pool: Pools, keys: Path
) -> None:
    """Every node behind it says that the jump host is the reason."""
    node, jump = servers("node"), servers("jump")
    jump.known_hosts.write_text("")
    config = through(node, jump)
    made = pool(*(node.endpoint(name, config=config) for name in ("gpu001", "gpu002")))
    errors = made.connect_all(["gpu001", "gpu002"])

    for name, error in errors.items():
        assert error.kind == "host_key_unknown"
        assert str(error).startswith(f"{name}: jump host jump0: ")
    assert len(errors) == 2
    assert jump.log.read_text().count("Connection from") == 1


def test_a_silent_jump_host_costs_one_time_out(servers: Servers, pool: Pools) -> None:
    """However many nodes are behind it."""
    node, jump = servers("node"), servers("jump")
    config = through(node, jump)
    names = [f"gpu{number:03d}" for number in range(1, 21)]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        included = node.folder / "included"
        port = silent.getsockname()[1]
        included.write_text(included.read_text().replace(f"Port {jump.port}", f"Port {port}"))
        made = pool(*(node.endpoint(n, config=config, connect_timeout_s=1) for n in names))
        started = time.monotonic()
        errors = made.connect_all(names)

    assert {error.kind for error in errors.values()} == {"silent"}
    assert len(errors) == len(names)
    assert time.monotonic() - started < 2


def test_a_jump_host_that_freezes_is_left(servers: Servers, pool: Pools) -> None:
    """A new log-in there reaches the next node; those that wait meanwhile wait once."""
    node, jump = servers("node"), servers("jump")
    names = ("gpu001", "gpu002", "gpu003")
    config = through(node, jump)
    made = pool(*(node.endpoint(n, config=config, connect_timeout_s=1) for n in names))
    made.session("gpu001")
    frozen = jump.connections()
    try:
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        with pytest.raises(TransportError, match="jump host jump0 has stopped answering") as error:
            made.session("gpu002")
        assert error.value.kind == "silent"
        assert made.session("gpu003").run(Job(("echo", "x"), 10)).stdout == "x\n"
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)


def failure(pool: Pool) -> TransportError:
    """Return why gpu001 cannot be reached."""
    with pytest.raises(TransportError) as error:
        pool.session("gpu001")
    assert "\n" not in str(error.value)
    return error.value


def test_a_silent_node_behind_a_jump_host(servers: Servers, pool: Pools) -> None:
    """The connect time-out counts behind a jump host, too."""
    node, jump = servers("node"), servers("jump")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        config = through(node, jump)
        started = time.monotonic()
        endpoint = node.endpoint(config=config, port=port, connect_timeout_s=1)
        error = failure(pool(endpoint))

    assert error.kind == "silent"
    assert "through jump0" in str(error)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("host", "options", "kind", "told"),
    [
        ("127.0.0.1", (), "refused", "Connection refused"),
        ("gpu001.invalid", (), "unresolved", "gpu001.invalid"),
        ("127.0.0.1", ("AllowTcpForwarding no",), "refused", "AllowTcpForwarding"),
    ],
)
def test_what_the_jump_host_says_is_passed_on(
    host: str, options: tuple[str, ...], kind: str, told: str, servers: Servers, pool: Pools
) -> None:
    """Its own words tell a dead node from a wrong name and from a forbidden way."""
    node, jump = servers("node"), servers("jump", *options)
    config = through(node, jump)
    config.write_text(f"Host gpu*\n  HostName {host}\nHost *\n{config.read_text()}")
    error = failure(pool(node.endpoint(config=config, port=free_port())))

    assert error.kind == kind
    assert "jump host jump0 cannot reach" in str(error)
    assert told in str(error)


def test_a_jump_host_that_dies_takes_its_nodes_along(servers: Servers, pool: Pools) -> None:
    """Their sessions are lost at once, not at their deadlines."""
    node, jump = servers("node"), servers("jump")
    session = pool(node.endpoint(config=through(node, jump))).session("gpu001")
    job = session.start(Job(("sleep", f"7601{OWN}"), 60))
    wait_until(lambda: running(f"sleep 7601{OWN}"))
    started = time.monotonic()
    for pid in jump.connections():
        os.kill(pid, 9)
    with pytest.raises(TransportError, match="the connection is lost"):
        job.wait()

    assert time.monotonic() - started < 3
    wait_until(lambda: not running(f"sleep 7601{OWN}"), 10)


def test_a_proxy_command_carries_the_connection(servers: Servers, pool: Pools) -> None:
    """Sites with a gateway of their own have nothing else; it ends with the run."""
    node = servers("node")
    relay = node.folder / "relay-7602.py"
    relay.write_text(
        "import os, socket, sys, threading\n"
        "far = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
        "def up():\n"
        "    while data := os.read(0, 65536): far.sendall(data)\n"
        "threading.Thread(target=up, daemon=True).start()\n"
        "while data := far.recv(65536): os.write(1, data)\n"
    )
    config = node.config(f"ProxyCommand {sys.executable} {relay} %h %p")
    made = pool(node.endpoint(config=config))

    assert made.session("gpu001").run(Job(("echo", "x"), 10)).stdout == "x\n"
    assert running("relay-7602")
    made.close()
    assert not running("relay-7602")


def test_a_proxy_command_that_fails_is_told(
    servers: Servers, pool: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends before any banner."""
    monkeypatch.setattr(pacing, "PAUSES_S", (0.01,))
    node = servers("node")
    error = failure(pool(node.endpoint(config=node.config("ProxyCommand false"))))

    assert error.kind == "banner"
