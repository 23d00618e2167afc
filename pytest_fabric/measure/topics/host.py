"""How a node's system is set up: what slows RDMA down although every link is sound."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_fabric.measure.topics import isolation, kernel_events, sysctls
from pytest_fabric.measure.topics.said import parsed, problem
from pytest_fabric.measure.topics.topic import Facts, Subject, Topic
from pytest_fabric.results import Fact
from pytest_fabric.tools import proc_limits, sysfs
from pytest_fabric.tools.printable import printable
from pytest_fabric.transport import Glob, Outcome
from pytest_fabric.transport.jobs import Word

CPUS = "/sys/devices/system/cpu"

RELEASE = "/etc/os-release"


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the commands that read the system; those that print most come last."""
    governors = Glob(f"{CPUS}/cpu*/cpufreq/scaling_governor")
    return {
        "governor": ("grep", "-sH", ".", governors),
        "limits": proc_limits.command(),
        "kernel": ("uname", "-r"),
        "os": ("cat", RELEASE),
        "sysctl": sysctls.command(),
        **isolation.sections(subject),
        **kernel_events.sections(subject),
    }


def read(subject: Subject, outcomes: Mapping[str, Outcome]) -> Facts:
    """Return what the system says."""
    said = {
        "host.governor": governor(outcomes["governor"].stdout),
        "host.memlock": memlock(outcomes["limits"]),
        "host.kernel": kernel(outcomes["kernel"]),
        "host.os": system(outcomes["os"]),
        "host.iommu": isolation.iommu(outcomes),
        "host.acs": isolation.acs(subject, outcomes),
        **sysctls.read(outcomes["sysctl"].stdout),
        **kernel_events.read(subject, outcomes),
    }
    return {subject.node: said}


def governor(text: str) -> Fact:
    """Return the governor of all CPUs, or how many have each where they differ."""
    found = sysfs.parse(text).values()
    if not found:
        return Fact(None, "no CPU shows a scaling governor (virtual machine?): see not_available")
    counts = {word: list(found).count(word) for word in sorted(set(found))}
    detail = tuple(f"{count} CPUs: {word}" for word, count in counts.items())
    return Fact("+".join(counts), detail=detail)


def memlock(outcome: Outcome) -> Fact:
    """Return the memory in bytes that a process of our session may lock; infinite without limit."""
    found = parsed(outcome, proc_limits.parse, {})
    if isinstance(found, Fact):
        return found
    number = found.locked_memory_soft_bytes
    return Fact(float("inf") if number is None else number, detail=(proc_limits.PATH,))


def kernel(outcome: Outcome) -> Fact:
    """Return the release of the running kernel."""
    word = outcome.stdout.strip()
    if outcome.end != "exit" or not re.fullmatch(r"[A-Za-z0-9._+~-]{1,80}", word):
        return problem(f"expected the kernel's release from uname -r, got {word[:40]!r}")
    return Fact(word)


def system(outcome: Outcome) -> Fact:
    """Return the distribution and its release."""
    match = re.search(r'(?m)^PRETTY_NAME=(["\']?)(.{1,80})\1$', outcome.stdout)
    if outcome.end != "exit" or match is None:
        return problem(f"{RELEASE} does not name the distribution (PRETTY_NAME)")
    return Fact(printable(match[2].strip()))


TOPIC = Topic("host", sections, read)
