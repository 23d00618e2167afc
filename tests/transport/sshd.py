"""A real OpenSSH server on 127.0.0.1, as the current user, with its own keys and files."""

from __future__ import annotations

import getpass
import os
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from pytest_fabric.transport import Endpoint
from tests.transport.processes import command_of, descendants

SSHD = "/usr/sbin/sshd"


def free_port() -> int:
    """Return a TCP port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    """Make a key pair and return the path of its private half."""
    words = ["-t", kind, "-N", passphrase, "-C", "test", "-f", str(path)]
    bits = ["-b", "2048"] if kind == "rsa" else []  # more take seconds to find
    subprocess.run(["ssh-keygen", "-q", *bits, *words], check=True, stdin=subprocess.DEVNULL)
    return path


def public(path: Path) -> str:
    """Return `TYPE BASE64` of the public half of a key."""
    return " ".join(Path(f"{path}.pub").read_text().split()[:2])


@dataclass
class Sshd:
    """One server; `options` are lines of sshd_config that win over the usual ones."""

    folder: Path
    host_key: Path
    user_key: Path
    options: tuple[str, ...] = ()
    port: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = self.port or free_port()
        self.known_hosts = self.folder / "known_hosts"
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {public(self.host_key)}\n")
        self.log = self.folder / "sshd.log"
        authorized = self.folder / "authorized_keys"
        authorized.write_text(public(self.user_key) + "\n")
        (self.folder / "sshd_config").write_text("\n".join((
            *self.options,
            "ListenAddress 127.0.0.1",
            f"Port {self.port}",
            f"HostKey {self.host_key}",
            f"AuthorizedKeysFile {authorized}",
            "PidFile none",
            "UsePAM no",
            "StrictModes no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "UseDNS no",
            "PermitRootLogin prohibit-password",
            "PrintMotd no",
            "LogLevel VERBOSE",
            "SetEnv SHLVL=3",  # else bash reads the rc file of whoever runs the tests
            "",
        )))  # fmt: skip

    def start(self) -> None:
        """Start it and wait until it listens."""
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [SSHD, "-D", "-e", "-f", str(self.folder / "sshd_config")],
                stdin=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        until = time.monotonic() + 10
        while b"Server listening" not in self.log.read_bytes():
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise AssertionError(f"sshd does not come up: {self.log.read_text()}")
            time.sleep(0.02)

    def stop(self) -> None:
        """End the listener; connections live on until they are closed."""
        self._process.terminate()
        self._process.wait()

    def connections(self) -> list[int]:
        """Return the processes that serve a connection: sshd and what it has forked as itself."""
        return [pid for pid in descendants(self._process.pid) if command_of(pid).startswith("sshd")]

    def config(self, *lines: str) -> Path:
        """Write an ssh_config that leads here under any name, after the given lines."""
        path = self.folder / "ssh_config"
        path.write_text("\n".join((
            *lines,
            "Host *",
            "  HostName 127.0.0.1",
            f"  Port {self.port}",
            f"  User {getpass.getuser()}",
            f"  IdentityFile {self.user_key}",
            "  IdentityAgent none",
            f"  UserKnownHostsFile {self.known_hosts}",
            "  GlobalKnownHostsFile none",
            "",
        )))  # fmt: skip
        return path

    def endpoint(self, node: str = "gpu001", **changes: object) -> Endpoint:
        """Return an endpoint that ssh_config leads here."""
        fields = {"node": node, "host": node, **changes}
        fields.setdefault("config", None)
        fields["config"] = fields["config"] or self.config()
        return Endpoint(**fields)  # type: ignore[arg-type]
