"""The machine around the network cards, the same for every node: sockets, cores, interrupts."""

from __future__ import annotations

#: Two sockets of 32 cores with two threads each, numbered as Linux numbers them on x86 servers:
#: first thread of every core, then second thread of every core.
SOCKETS = 2
CORES = 32
CPUS = SOCKETS * CORES * 2

#: Completion interrupts per network card, on the first cores of its socket (as irqbalance leaves
#: them on a quiet machine); the cores behind them are free for tools.
IRQS = 8

#: Where a log-in looks for programs; `lab.path` in cluster.yaml chooses another one per node.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

KERNEL = "6.8.0-71-generic"

#: iperf3 of Debian 13; `lab.iperf3` in cluster.yaml chooses another one per node.
IPERF3 = "3.18"

#: Version of the cards' driver, from NVIDIA's own package.
DRIVER = "24.10-1.1.4"
OS_RELEASE = (
    'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\n'
    'VERSION="24.04.3 LTS (Noble Numbat)"\nVERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian'
)

#: Whose job is on a node where a fault puts one.
JOB_USER, JOB_PID, JOB_COMM = "alice", 4711, "python"

#: Whose server of perftest is left on a node where a fault leaves one.
LEFT_USER, LEFT_PID, LEFT_COMM = "bob", 3999, "ib_write_bw"

#: The highest clock of a CPU in kHz, and where a fault caps it.
KHZ, CAPPED_KHZ = 3_800_000, 1_200_000


def local_cpus(numa: int) -> str:
    """Return the CPUs of a socket as the kernel lists them: `0-31,64-95`; all for none."""
    if numa < 0:
        return f"0-{CPUS - 1}"
    first, second = numa * CORES, (SOCKETS + numa) * CORES
    return f"{first}-{first + CORES - 1},{second}-{second + CORES - 1}"


def siblings(cpu: int) -> str:
    """Return the threads of a CPU's core: `3,67`."""
    core = cpu % (SOCKETS * CORES)
    return f"{core},{core + SOCKETS * CORES}"


def irqs(place: int, numa: int, how: str = "spread") -> dict[int, int]:
    """Return interrupt number -> CPU of the network card at a place (0, 1, ...) of its node.

    `how` is `spread` over cores of its socket, on `one core` of it, or `remote`: on the other one.
    """
    first = 64 + place * (IRQS + 1)
    socket = max(numa, 0) if how != "remote" else (max(numa, 0) + 1) % SOCKETS
    cores = 1 if how == "one core" else IRQS
    return {first + vector: socket * CORES + vector % cores for vector in range(IRQS + 1)}
