"""Run QEMU: one process per machine, on loopback only, nothing left of it afterwards."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .image import Image


@contextmanager
def boot(
    workdir: Path,
    name: str,
    number: int,
    image: Image,
    link: socket.socket,
    ports: list[int],
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a machine whose console and messages go to `NAME.log`; end it with the block.

    `link` is its end of the fabric link, `ports` lead to its two sshd.
    """
    command = _command(name, number, image, link.fileno(), ports)
    with open(workdir / f"{name}.log", "wb") as log, link:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=(link.fileno(),),
        )
    try:
        yield process
    finally:
        # Nothing to save, and a frozen machine would not hear SIGTERM.
        process.kill()
        process.wait()


def _command(name: str, number: int, image: Image, link: int, ports: list[int]) -> list[str]:
    forward = f"hostfwd=tcp:127.0.0.1:{ports[0]}-:22,hostfwd=tcp:127.0.0.1:{ports[1]}-:2222"
    # The host's MTU leaves room for an RDMA MTU of 4096.
    card = f"virtio-net-pci,netdev=fabric,host_mtu=4200,romfile=,mac=52:54:00:00:77:0{number}"
    kernel = f"console=ttyS0 quiet panic=-1 rdinit=/lab-rdinit net.ifnames=0 lab.node={number}"
    faster = "mitigations=off nokaslr cryptomgr.notests"
    return [
        # The kernel ends QEMU when this process dies, even of SIGKILL.
        *("setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", "-name", name),
        *("-M", "q35", "-accel", accelerator(), "-m", "768", "-smp", "1"),
        *("-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-kernel", str(image.kernel), "-initrd", str(image.initrd)),
        *("-append", f"{kernel} {faster}"),
        *("-drive", f"file={image.root},if=virtio,format=raw,snapshot=on"),
        *("-netdev", f"user,id=mgmt,restrict=on,{forward}"),
        *("-device", "virtio-net-pci,netdev=mgmt,romfile="),
        *("-netdev", f"dgram,id=fabric,local.type=fd,local.str={link}"),
        *("-device", card),
    ]


def accelerator() -> str:
    """Return KVM where the CPU can nest it: /dev/kvm alone does not say that a guest boots."""
    flags = Path("/proc/cpuinfo").read_text().split()
    if os.access("/dev/kvm", os.R_OK | os.W_OK) and ("vmx" in flags or "svm" in flags):
        return "kvm"
    return "tcg,thread=multi,tb-size=256"


def free_ports(count: int) -> list[int]:
    """Return TCP ports of 127.0.0.1 that nothing uses."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
