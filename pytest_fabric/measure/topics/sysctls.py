"""Settings of the kernel that RDMA nodes need: buffers, and NUMA balancing."""

from __future__ import annotations

import re

from pytest_fabric.measure.topics.heard import Outcomes, problem, tree
from pytest_fabric.results import Fact
from pytest_fabric.transport.jobs import Word

SYS = "/proc/sys"

#: Metric -> file. Of three numbers (least, usual, most) the last one counts.
NUMBERS = {
    "host.rmem_max": f"{SYS}/net/core/rmem_max",
    "host.wmem_max": f"{SYS}/net/core/wmem_max",
    "host.tcp_rmem_max": f"{SYS}/net/ipv4/tcp_rmem",
    "host.tcp_wmem_max": f"{SYS}/net/ipv4/tcp_wmem",
    "host.netdev_max_backlog": f"{SYS}/net/core/netdev_max_backlog",
    "host.numa_balancing": f"{SYS}/kernel/numa_balancing",
}

NUMBER = re.compile(r"[0-9]{1,19}")


def command() -> tuple[Word, ...]:
    """Return the command line that reads the settings."""
    return ("grep", "-sH", ".", *NUMBERS.values())


def read(outcomes: Outcomes) -> dict[str, Fact]:
    """Return all settings that were asked for."""
    found = tree(outcomes, "sysctl")
    return {metric: _number(path, found.get(path)) for metric, path in NUMBERS.items()}


def _number(path: str, text: str | None) -> Fact:
    words = (text or "").split()
    if text is None:
        return problem(f"{path} cannot be read (a kernel without it?)", "see not_available")
    if len(words) not in (1, 3) or not all(NUMBER.fullmatch(word) for word in words):
        return problem(f"expected a number in {path}, got {text[:40]!r}")
    return Fact(int(words[-1]), detail=(f"{path}: {' '.join(words)}",))
