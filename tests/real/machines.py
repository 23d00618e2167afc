"""Boot two virtual machines that share a Soft-RoCE link, and run commands on them over SSH.

Both are thrown away at the end: their disks are snapshots. `fab1` has perftest 6.06, `fab2` 6.24.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from . import image as images
from . import qemu

SUITES = {"fab1": "bookworm", "fab2": "trixie"}
DEVICE = "rxe0"
NETDEV = "eth1"
BOOT_TIMEOUT = 300.0


class GuestError(Exception):
    """A command on a machine, or the machine itself, did not do what it was asked."""


@dataclass(frozen=True)
class Machine:
    """A running virtual machine, and how to log in to it."""

    name: str
    ssh_port: int
    key_path: Path
    host_key: str
    user: str
    #: Strict checking needs a file: it names both the SSH port and the rescue port.
    known_hosts: Path
    #: On the fabric link.
    address: str
    #: A second sshd that survives what tests do to the first.
    rescue_port: int
    #: Of QEMU; SIGSTOP freezes the machine.
    pid: int


@contextmanager
def two_machines(workdir: Path) -> Iterator[tuple[Machine, Machine]]:
    """Boot fab1 and fab2; end them with the block. QEMU and the consoles write into `workdir`."""
    images.check_programs()
    keys = images.keys(*SUITES)
    with ThreadPoolExecutor() as pool:
        built = list(
            pool.map(lambda name: images.image(SUITES[name], keys.hosts[name], keys.client), SUITES)
        )
    ports = qemu.free_ports(4)
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    machines = []
    with ExitStack() as stack:
        for index, name in enumerate(SUITES):
            own_ports = ports[2 * index : 2 * index + 2]
            process = stack.enter_context(
                qemu.boot(workdir, name, index + 1, built[index], ends[index], own_ports)
            )
            machine = Machine(
                name=name,
                ssh_port=own_ports[0],
                key_path=keys.client,
                host_key=keys.host_key(name),
                user="root",
                known_hosts=workdir / "known_hosts",
                address=f"192.168.77.{index + 1}",
                rescue_port=own_ports[1],
                pid=process.pid,
            )
            machines.append((machine, process))
        _write_known_hosts([machine for machine, _ in machines])
        deadline = time.monotonic() + BOOT_TIMEOUT
        for machine, process in machines:
            _wait_until_ready(machine, process, workdir / f"{machine.name}.log", deadline)
        yield machines[0][0], machines[1][0]


def ssh(
    machine: Machine, command: str, check: bool = True, timeout: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Run a command in the login shell of `machine.user`.

    `check` raises GuestError unless it exits 0.
    """
    done = subprocess.run(
        _ssh_command(machine, command),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if check and done.returncode != 0:
        raise GuestError(
            f"{machine.name}: {command!r} exited {done.returncode}: {done.stderr.strip()}"
        )
    return done


class Background:
    """A command that runs on a machine beside the test."""

    def __init__(self, machine: Machine, command: str, output: IO[bytes]) -> None:
        self.machine = machine
        self.command = command
        self._output = output
        self._all_output: str | None = None
        # The shell prints its pid, then becomes the command.
        self._client = subprocess.Popen(
            _ssh_command(machine, f"exec sh -c {shlex.quote(f'echo $$; exec {command}')}"),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        self.pid = 0

    def output(self) -> str:
        """Return what the command has printed so far, stdout and stderr."""
        return self._read().partition("\n")[2]

    def wait_for(self, condition: Callable[[str], bool], timeout: float = 60.0) -> None:
        """Wait until the output satisfies `condition`."""
        deadline = time.monotonic() + timeout
        while not condition(self._read()):
            if self._client.poll() is not None or time.monotonic() > deadline:
                printed = self._read().strip()
                raise GuestError(f"{self.machine.name}: {self.command!r} printed only: {printed}")
            time.sleep(0.05)

    def wait_for_pid(self) -> None:
        """Wait until the command has started; it can be stopped from then on."""
        self.wait_for(lambda output: "\n" in output)
        self.pid = int(self._read().splitlines()[0])

    def wait(self, timeout: float = 120.0) -> int:
        """Wait for the end of the command and return its exit status."""
        return self._client.wait(timeout)

    def stop(self, signal_name: str = "TERM") -> None:
        """End the command by its pid, through the rescue sshd: the other may be stopped."""
        if self._client.poll() is not None:
            return
        try:
            if self.pid:
                ssh(rescue(self.machine), f"kill -{signal_name} {self.pid}", check=False)
                self._client.wait(20)
        finally:
            self._client.kill()
            self._client.wait()

    def close(self) -> None:
        """Keep the output beyond the life of its file."""
        self._all_output = self._read()

    def _read(self) -> str:
        if self._all_output is not None:
            return self._all_output
        return os.pread(self._output.fileno(), 1 << 24, 0).decode(errors="replace")


@contextmanager
def background(machine: Machine, command: str) -> Iterator[Background]:
    """Run a command beside the block, and end it with the block."""
    # Its output goes to a file: nobody would empty a pipe while the block runs.
    with tempfile.TemporaryFile() as output:
        started = Background(machine, command, output)
        try:
            started.wait_for_pid()
            yield started
        finally:
            started.stop()
            started.close()


def wait_for_listener(machine: Machine, port: int, seconds: int = 30) -> None:
    """Wait until something listens on a TCP port.

    It does not connect: a perftest server would take that for its client.
    """
    listening = f"until ss -Hltn 'sport = :{port}' | grep -q .; do sleep 0.05; done"
    ssh(machine, f"timeout {seconds} sh -c {shlex.quote(listening)}")


def rescue(machine: Machine) -> Machine:
    """Return the machine as root through its second sshd, which process 1 keeps alive."""
    return replace(machine, ssh_port=machine.rescue_port, user="root")


def has_ended(machine: Machine) -> bool:
    """Return whether a machine runs no longer; a kernel that panics ends its QEMU."""
    return os.waitid(os.P_PID, machine.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def restore(machine: Machine) -> None:
    """Undo what a test did: frozen, processes, firewall, tc, MTU, link, address, device, sshd."""
    os.kill(machine.pid, signal.SIGCONT)
    ssh(rescue(machine), "/lab-restore")


@contextmanager
def restored(*machines: Machine) -> Iterator[None]:
    """Restore the machines when the block ends."""
    try:
        yield
    finally:
        for machine in machines:
            restore(machine)


@contextmanager
def frozen(machine: Machine) -> Iterator[None]:
    """Stop a machine for the block: TCP still connects to its forwarded port, nothing answers."""
    os.kill(machine.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, machine.pid, os.WSTOPPED)
    try:
        yield
    finally:
        os.kill(machine.pid, signal.SIGCONT)


def _ssh_command(machine: Machine, command: str) -> list[str]:
    options = {
        "BatchMode": "yes",
        "IdentitiesOnly": "yes",
        "StrictHostKeyChecking": "yes",
        "UserKnownHostsFile": str(machine.known_hosts),
        "GlobalKnownHostsFile": "/dev/null",
        "ConnectTimeout": "30",
        "LogLevel": "ERROR",
    }
    flags = [argument for name, value in options.items() for argument in ("-o", f"{name}={value}")]
    login = ["-i", str(machine.key_path), "-p", str(machine.ssh_port), f"{machine.user}@127.0.0.1"]
    return ["ssh", "-F", "none", *flags, *login, "--", command]


def _write_known_hosts(machines: list[Machine]) -> None:
    lines = [
        f"[127.0.0.1]:{port} {machine.host_key}\n"
        for machine in machines
        for port in (machine.ssh_port, machine.rescue_port)
    ]
    machines[0].known_hosts.write_text("".join(lines))


def _wait_until_ready(
    machine: Machine, process: subprocess.Popen[bytes], log: Path, deadline: float
) -> None:
    ready = f"lab: {machine.name} is ready".encode()
    while ready not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            tail = log.read_text(errors="replace").strip().splitlines()[-3:]
            raise images.Unavailable(f"{machine.name} did not boot, see {log}: {' / '.join(tail)}")
        time.sleep(0.1)
