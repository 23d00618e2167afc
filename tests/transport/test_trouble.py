"""Nodes that cannot be reached: one line each, with what was found and what to do."""

from __future__ import annotations

import os
import re
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import Mock

import paramiko
import pytest

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import Endpoint, Job, Pool, pacing
from pytest_fabric.transport import keys as keys_module
from pytest_fabric.transport.connection import ARITHMETIC
from tests.transport.conftest import Servers, need
from tests.transport.sshd import free_port, make_key, public

Pools = Callable[..., Pool]
Listener = Callable[[Callable[[socket.socket], None]], int]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for a server that will not come back."""
    monkeypatch.setattr(pacing, "PAUSES_S", (0.01, 0.01))


@pytest.fixture
def listener() -> Iterator[Listener]:
    """Listen on a port and do something with each connection; returns the port."""
    with ExitStack() as stack:

        def listen(serve: Callable[[socket.socket], None]) -> int:
            server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

            def accept() -> None:
                while True:
                    try:
                        serve(stack.enter_context(server.accept()[0]))
                    except OSError:
                        return

            threading.Thread(target=accept, daemon=True).start()
            stack.callback(server.shutdown, socket.SHUT_RDWR)
            port: int = server.getsockname()[1]
            return port

        yield listen


def reset(connection: socket.socket) -> None:
    """Close a connection with a TCP reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def at(port: int, tmp_path: Path, **fields: object) -> Endpoint:
    """Return an endpoint at a port of this machine that no configuration touches."""
    config = tmp_path / "empty"
    config.touch()
    known = {"node": "gpu001", "host": "127.0.0.1", "port": port, "config": config, **fields}
    return Endpoint(**{"connect_timeout_s": 0.5, **known})  # type: ignore[arg-type]


def failure(pool: Pool, node: str = "gpu001") -> TransportError:
    """Return why a node cannot be reached: one line that begins with its name."""
    with pytest.raises(TransportError) as error:
        pool.session(node)
    assert str(error.value).startswith(f"{node}: ")
    assert "\n" not in str(error.value)
    return error.value


def test_a_name_without_an_address(pool: Pools, tmp_path: Path) -> None:
    """The address is shown, for it may be a template's."""
    error = failure(pool(at(22, tmp_path, host="gpu001.invalid")))

    assert error.kind == "unresolved"
    assert "gpu001.invalid does not resolve" in str(error)


def test_a_port_that_nobody_listens_on(pool: Pools, tmp_path: Path) -> None:
    """The node is up, sshd is not."""
    error = failure(pool(at(free_port(), tmp_path)))

    assert error.kind == "refused"
    assert "refuses connections" in str(error)


def test_a_node_that_does_not_answer(pool: Pools, tmp_path: Path) -> None:
    """A full backlog drops what comes, as a firewall does."""
    with socket.socket() as server, ExitStack() as stack:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        error = failure(pool(at(server.getsockname()[1], tmp_path)))

    assert error.kind == "timeout"
    assert "no answer within 0.5 s" in str(error) or "timed out" in str(error)


def test_a_node_that_accepts_and_says_nothing(
    pool: Pools, tmp_path: Path, listener: Listener
) -> None:
    """A TCP probe does not prove that a node lives; the verdict comes within the time-out."""
    started = time.monotonic()
    tried: list[socket.socket] = []
    error = failure(pool(at(listener(tried.append), tmp_path)))

    assert error.kind == "silent"
    assert time.monotonic() - started < 1
    assert len(tried) == 1
    assert Endpoint("gpu001").connect_timeout_s is None  # 5 s by default, see test_hops.py


def test_a_node_that_hangs_behind_its_banner(
    pool: Pools, tmp_path: Path, listener: Listener
) -> None:
    """sshd's first process lives, its disk does not: keys are waited for, and not for long."""

    def late(connection: socket.socket) -> None:
        time.sleep(0.7)
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

    started = time.monotonic()
    error = failure(pool(at(listener(late), tmp_path, connect_timeout_s=1)))

    assert time.monotonic() - started < 0.7 + ARITHMETIC + 2
    assert error.kind == "silent"
    assert "key exchange" in str(error)


@pytest.mark.parametrize(
    ("serve", "found"),
    [
        (reset, "Connection reset by peer"),
        (lambda connection: connection.close(), "closed"),
        (
            lambda connection: (
                connection.sendall(b"Exceeded MaxStartups\r\n"),
                connection.close(),
            ),
            "Exceeded MaxStartups",
        ),
        (
            lambda connection: (
                connection.sendall(b"HTTP/1.1 400 Bad\r\n\r\n"),
                connection.close(),
            ),
            "HTTP/1.1 400 Bad",
        ),
    ],
)
def test_a_connection_that_ends_before_the_banner(
    serve: Callable[[socket.socket], None],
    found: str,
    pool: Pools,
    tmp_path: Path,
    listener: Listener,
) -> None:
    """sshd drops log-ins, or is stopped behind a port forward: tried again, then explained."""
    count = []

    def counted(connection: socket.socket) -> None:
        count.append(1)
        serve(connection)

    error = failure(pool(at(listener(counted), tmp_path)))

    assert error.kind == "banner"
    assert found in str(error)
    assert "MaxStartups 10:30:100" in str(error)
    assert len(count) == len(pacing.PAUSES_S) + 1


def test_a_banner_behind_other_lines_is_found(servers: Servers, pool: Pools) -> None:
    """RFC 4253 lets a server talk before its banner."""
    server = servers("sshd", "VersionAddendum hello")

    assert pool(server.endpoint()).session("gpu001").run(Job(("true",), 5)).status == 0


def test_a_host_key_that_is_not_known(servers: Servers, pool: Pools) -> None:
    """Never taken silently."""
    server = servers()
    server.known_hosts.write_text("")
    error = failure(pool(server.endpoint()))

    assert error.kind == "host_key_unknown"
    assert f"ssh-keyscan -p {server.port} 127.0.0.1 >> {server.known_hosts}" in str(error)


def test_a_host_key_that_has_changed(servers: Servers, pool: Pools, keys: Path) -> None:
    """The remedy removes exactly the old key; then it is unknown, and the scan adds the new one."""
    server = servers()
    server.known_hosts.write_text(f"[127.0.0.1]:{server.port} {public(keys / 'other')}\n")
    error = failure(pool(server.endpoint()))
    remedy = f"ssh-keygen -R '[127.0.0.1]:{server.port}' -f {server.known_hosts}"

    assert error.kind == "host_key_changed"
    assert remedy in str(error)
    subprocess.run(["sh", "-c", remedy], check=True, capture_output=True)
    unknown = failure(pool(server.endpoint()))
    assert unknown.kind == "host_key_unknown"
    subprocess.run(["sh", "-c", str(unknown).rpartition("then: ")[2]], check=True)
    assert pool(server.endpoint()).session("gpu001").run(Job(("true",), 5)).status == 0


def test_the_known_key_is_asked_for_among_several(
    servers: Servers, pool: Pools, tmp_path: Path
) -> None:
    """A server with three keys shows the one that known_hosts has, whatever is preferred."""
    make_key(tmp_path / "rsa", "rsa")
    make_key(tmp_path / "ecdsa", "ecdsa")
    server = servers("sshd", f"HostKey {tmp_path}/rsa", f"HostKey {tmp_path}/ecdsa")
    for kind in ("rsa", "ecdsa"):
        server.known_hosts.write_text(f"[127.0.0.1]:{server.port} {public(tmp_path / kind)}\n")

        assert pool(server.endpoint()).session("gpu001").run(Job(("true",), 5)).status == 0


def test_a_pinned_host_key_and_a_key_in_memory(servers: Servers, pool: Pools, keys: Path) -> None:
    """The lab's way in: no file, no agent, no configuration."""
    server = servers()
    endpoint = server.endpoint(
        host="127.0.0.1",
        port=server.port,
        config=Path("/nonsense"),
        key=(keys / "user").read_text(),
        host_key=public(keys / "host"),
    )
    wrong = Endpoint(**{**vars(endpoint), "node": "gpu002", "host_key": public(keys / "other")})
    made = pool(endpoint, wrong)

    assert made.session("gpu001").run(Job(("true",), 5)).status == 0
    assert failure(made, "gpu002").kind == "host_key_changed"


def config(server_config: Path, *lines: str) -> Path:
    """Return an ssh_config with lines that win, and no key of the server's own."""
    text = re.sub(r" *(IdentityFile|IdentityAgent) .*\n", "", server_config.read_text())
    path = server_config.with_name("other_config")
    path.write_text("\n".join((*lines, text)))
    return path


def test_a_key_that_the_node_does_not_take(servers: Servers, pool: Pools, tmp_path: Path) -> None:
    """It says as whom, with which keys, and what the server would take."""
    server = servers()
    make_key(tmp_path / "stranger")
    lines = (f"IdentityFile {tmp_path}/stranger", "IdentityAgent none", "User ops")
    error = failure(pool(server.endpoint(config=config(server.config(), *lines))))

    assert error.kind == "auth"
    for part in ("log-in as ops", f"{tmp_path}/stranger", "authorized_keys"):
        assert part in str(error)


@pytest.mark.parametrize("format", ["openssh", "PEM"])
def test_a_key_that_is_encrypted_needs_an_agent(
    format: str, servers: Servers, pool: Pools, tmp_path: Path
) -> None:
    """Nobody is asked for a passphrase in the middle of a run."""
    server = servers()
    locked = make_key(tmp_path / "locked", "ecdsa", "secret")
    if format == "PEM":
        subprocess.run(
            ["ssh-keygen", "-q", "-p", "-m", "PEM", "-P", "secret", "-N", "secret", "-f", locked],
            check=True,
            capture_output=True,
        )
    lines = (f"IdentityFile {locked}", "IdentityAgent none")
    error = failure(pool(server.endpoint(config=config(server.config(), *lines))))

    assert error.kind == "auth"
    assert f"{locked} is encrypted: ssh-add {locked}" in str(error)


def test_a_key_that_is_no_key_is_told(servers: Servers, pool: Pools, tmp_path: Path) -> None:
    """A wrong path in IdentityFile is not taken for an encrypted key."""
    server = servers()
    (tmp_path / "text").write_text("hello\n")
    lines = (f"IdentityFile {tmp_path}/text", "IdentityAgent none")
    error = failure(pool(server.endpoint(config=config(server.config(), *lines))))

    assert f"{tmp_path}/text cannot be read" in str(error)


@pytest.mark.parametrize(
    ("agent", "told"), [("none", "no agent"), ("/nonsense/agent", "agent /nonsense/agent does not")]
)
def test_an_agent_that_is_not_there_is_told(
    agent: str, told: str, servers: Servers, pool: Pools, tmp_path: Path
) -> None:
    """A forgotten `ssh-add` is the usual reason."""
    server = servers()
    lines = (f"IdentityAgent {agent}", f"IdentityFile {tmp_path}/absent")
    error = failure(pool(server.endpoint(config=config(server.config(), *lines))))

    assert error.kind == "auth"
    assert told in str(error)
    assert f"{tmp_path}/absent does not exist" in str(error)


@pytest.fixture
def agent(keys: Path, tmp_path: Path) -> Iterator[str]:
    """An agent that holds the user's key, and another one before it."""
    need("ssh-agent", "ssh-add")
    path = str(tmp_path / "agent.sock")
    with subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL) as process:
        try:
            make_key(tmp_path / "another")
            environment = {**os.environ, "SSH_AUTH_SOCK": path}
            until = time.monotonic() + 5
            while not Path(path).exists() and time.monotonic() < until:
                time.sleep(0.02)
            for key in (tmp_path / "another", keys / "user"):
                subprocess.run(["ssh-add", "-q", str(key)], env=environment, check=True)
            yield path
        finally:
            process.terminate()


def test_an_agent_logs_in(agent: str, servers: Servers, pool: Pools) -> None:
    """Its keys are tried in turn; no file is needed."""
    server = servers()
    made = pool(server.endpoint(config=config(server.config(), f"IdentityAgent {agent}")))

    assert made.session("gpu001").run(Job(("true",), 5)).status == 0


def test_a_named_identity_is_found_in_the_agent(
    agent: str, servers: Servers, pool: Pools, tmp_path: Path, keys: Path
) -> None:
    """IdentitiesOnly with a public half alone: the other keys of a full agent are not offered."""
    server = servers("sshd", "MaxAuthTries 1")
    (tmp_path / "mine.pub").write_bytes((keys / "user.pub").read_bytes())
    lines = (f"IdentityAgent {agent}", "IdentitiesOnly yes", f"IdentityFile {tmp_path}/mine")
    made = pool(server.endpoint(config=config(server.config(), *lines)))

    assert made.session("gpu001").run(Job(("true",), 5)).status == 0


def test_a_server_that_ends_the_log_in_after_too_many_keys(
    agent: str, servers: Servers, pool: Pools
) -> None:
    """The way out is named."""
    server = servers("sshd", "MaxAuthTries 1")
    error = failure(pool(server.endpoint(config=config(server.config(), f"IdentityAgent {agent}"))))

    assert error.kind == "auth"
    assert "IdentitiesOnly" in str(error)


def test_a_log_in_that_takes_too_long_is_late_and_not_refused(
    servers: Servers, pool: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys_module, "AUTH_S", 0.0)
    monkeypatch.setattr(
        paramiko.Transport, "auth_publickey", Mock(side_effect=paramiko.SSHException("late"))
    )
    error = failure(pool(servers("sshd").endpoint()))

    assert error.kind == "timeout"
    assert "directory service" in str(error)


def test_a_server_that_wants_more_than_a_key(servers: Servers, pool: Pools) -> None:
    """A second factor cannot be given in a run."""
    server = servers(
        "sshd", "PasswordAuthentication yes", "AuthenticationMethods publickey,password"
    )
    error = failure(pool(server.endpoint()))

    assert error.kind == "auth"
    assert "the server also wants password" in str(error)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo This account is not available.; exit 1", "This account is not available."),
        ("echo sh: command not found >&2; exit 127", "sh: command not found"),
        ("exit 0", "exit status 0"),
    ],
)
def test_an_account_without_a_shell(command: str, told: str, servers: Servers, pool: Pools) -> None:
    """What the log-in said instead is shown."""
    error = failure(pool(servers("sshd", f"ForceCommand {command}").endpoint()))

    assert error.kind == "no_shell"
    assert told in str(error)


def test_nothing_is_written_to_the_terminal(
    servers: Servers, pool: Pools, capfd: pytest.CaptureFixture[str], tmp_path: Path,
    listener: Listener,
) -> None:  # fmt: skip
    """paramiko's tracebacks and log records stay away from the user."""
    server = servers()
    made = pool(
        server.endpoint("a"),
        at(listener(reset), tmp_path, node="b"),
        at(free_port(), tmp_path, node="c"),
        at(listener(lambda connection: connection.sendall(b"SSH-2.0-x\r\nnonsense\r\n")),
           tmp_path, node="d"),
    )  # fmt: skip
    errors = made.connect_all("abcd")
    server.stop()
    made.close()

    assert {node: error.kind for node, error in errors.items()} == {
        "b": "banner",
        "c": "refused",
        "d": "banner",
    }
    assert capfd.readouterr() == ("", "")
