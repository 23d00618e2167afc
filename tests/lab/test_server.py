"""The lab behind real SSH: who may log in, the runner over a channel, ordinary commands."""

from __future__ import annotations

import base64
import io
import shlex
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import paramiko
import pytest

from pytest_fabric.lab.server import Server, new_key

from .clusters import ROCE, fabric, nodes
from .controller import CAP, LEASE, TOKEN

RUNNER = shlex.join(["sh", "-c", "noise", "pytest-fabric-runner", TOKEN, "", "run=1 user=ann"])


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = Server(fabric(ROCE, "ssh_down@gpu003", "ssh_silent@gpu004"))
    thread = threading.Thread(target=running.serve)
    thread.start()
    yield running
    running.stop()
    thread.join(5)
    assert not thread.is_alive()


def connect(
    server: Server, node: str, key: str | None = None, user: str = "lab"
) -> paramiko.SSHClient:
    """Log in with strict checking of the host key, as a user's client does."""
    client = paramiko.SSHClient()
    kind, public = server.host_key.split()
    port = server.ports[node]
    host_key = paramiko.Ed25519Key(data=base64.b64decode(public))
    client.get_host_keys().add(f"[127.0.0.1]:{port}", kind, host_key)
    client.connect(
        "127.0.0.1",
        port,
        username=user,
        pkey=paramiko.Ed25519Key(file_obj=io.StringIO(key or server.client_key)),
        allow_agent=False,
        look_for_keys=False,
        timeout=10,
    )
    return client


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[paramiko.SSHClient]:
    with closing(connect(server, "gpu001")) as connected:
        yield connected


def shell(client: paramiko.SSHClient, line: str) -> tuple[int, str, str]:
    _, out, err = client.exec_command(line, timeout=10)
    return out.channel.recv_exit_status(), out.read().decode(), err.read().decode()


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("hostname", (0, "gpu001\n", "")),
        ("echo 'a  b'; uname -r; echo c", (0, "a  b\n6.8.0-71-generic\nc\n", "")),
        ("sleep 0.01; hostname", (0, "gpu001\n", "")),
        ("echo a; nosuch", (127, "a\n", "sh: 1: nosuch: not found\n")),
        ("cat /none", (1, "", "cat: /none: No such file or directory\n")),
        ("echo a > b", (2, "", "bash: line 1: the lab's shell cannot do '> b'\n")),
        ("", (0, "", "")),
    ],
)
def test_ordinary_commands(
    client: paramiko.SSHClient, line: str, answer: tuple[int, str, str]
) -> None:
    assert shell(client, line) == answer


def test_a_command_that_ends_at_once_is_never_lost(client: paramiko.SSHClient) -> None:
    """The end of a channel must not overtake the answer to its request."""
    for _ in range(20):
        assert shell(client, "hostname") == (0, "gpu001\n", "")


def test_commands_run_beside_one_another(client: paramiko.SSHClient) -> None:
    slow = client.exec_command("sleep 60000")

    assert shell(client, "hostname")[1] == "gpu001\n"
    slow[1].channel.close()


def test_only_the_labs_key_and_user_are_let_in(server: Server) -> None:
    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "gpu001", key=new_key()[1])
    with pytest.raises(paramiko.AuthenticationException):
        connect(server, "gpu001", user="root")


class Channel:
    """A node runner over SSH."""

    def __init__(self, client: paramiko.SSHClient) -> None:
        transport = client.get_transport()
        assert transport is not None
        self.channel = transport.open_session()
        self.channel.settimeout(10)
        self.channel.exec_command(f"exec {RUNNER}")
        self.stream = self.channel.makefile("rb")
        assert self.words()[:2] == [TOKEN, "hello"]

    def words(self) -> list[str]:
        line: bytes = self.stream.readline()
        return line.decode().split()

    def send(self, line: str) -> None:
        self.channel.sendall(f"{line}\n".encode())

    def end(self) -> tuple[list[str], bytes]:
        while (words := self.words())[1] != "end":
            pass
        return words, self.stream.read(int(words[5]) + int(words[6]))


def test_a_measurement_over_ssh(server: Server, client: paramiko.SSHClient) -> None:
    with closing(connect(server, "gpu002")) as other:
        there, here = Channel(other), Channel(client)
        tool = "taskset -c 3 ib_write_lat -d mlx5_0 -n 20000"
        there.send(f"run 1 20 {CAP} {LEASE} 18515 {tool} -p 18515")
        assert there.words()[1] == "ready"
        here.send(f"run 1 20 {CAP} {LEASE} - {tool} 10.1.0.2")

        words, output = here.end()

        assert words[1:5] == ["end", "1", "exit", "0"]
        assert b"99% percentile[usec]" in output
        assert there.end()[0][4] == "0"


def test_many_jobs_at_once_come_back_whole(client: paramiko.SSHClient) -> None:
    runner = Channel(client)
    for number in range(300):
        runner.send(f"run {number} 20 {CAP} - - echo {number}")

    ends = [runner.end() for _ in range(300)]

    assert {int(words[2]): output for words, output in ends} == {
        number: f"{number}\n".encode() for number in range(300)
    }


def test_a_controller_that_vanishes_leaves_nothing(server: Server) -> None:
    lost = connect(server, "gpu002")
    runner = Channel(lost)
    runner.send(f"run 1 20 {CAP} {LEASE} 20000 ib_write_lat -d mlx5_0 -p 20000")
    assert runner.words()[1] == "ready"
    transport = lost.get_transport()
    assert transport is not None
    transport.sock.close()

    with closing(connect(server, "gpu002")) as again:
        until = time.monotonic() + 10
        while time.monotonic() < until:
            retry = Channel(again)
            retry.send(f"run 1 20 {CAP} {LEASE} - hostname")
            words, output = retry.end()
            if words[3] == "exit":
                break
        assert output == b"gpu002\n"


def test_a_node_without_sshd_refuses(server: Server) -> None:
    with pytest.raises(ConnectionRefusedError), socket.socket() as connection:
        connection.connect(("127.0.0.1", server.ports["gpu003"]))


def test_a_frozen_node_accepts_and_says_nothing(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.ports["gpu004"])) as connection:
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(1)


def test_every_node_has_a_port_of_its_own(server: Server) -> None:
    assert len(set(server.ports.values())) == 4


def test_ssh_that_goes_down_under_a_connection_comes_back_on_its_port() -> None:
    running = Server(changing := fabric(ROCE))
    thread = threading.Thread(target=running.serve)
    thread.start()
    place = ("127.0.0.1", running.ports["gpu001"])
    try:
        with socket.create_connection(place) as kept:
            assert kept.recv(4) == b"SSH-"
            changing.change(list(nodes(ROCE, "ssh_down@gpu001").values()))
            running.refresh()
            assert eventually(lambda: refused(place))
            changing.change(list(nodes(ROCE).values()))
            running.refresh()
            assert eventually(lambda: not refused(place))
    finally:
        running.stop()
        thread.join(5)
    assert not thread.is_alive()


def refused(place: tuple[str, int]) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(place) != 0


def eventually(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + 10
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
