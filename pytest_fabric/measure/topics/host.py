"""How a node's system is set up: what slows RDMA down although every link is sound."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fabric.measure.topics.topic import Facts, Subject, Topic
from pytest_fabric.results import Fact
from pytest_fabric.tools import sysfs
from pytest_fabric.transport import Glob, Outcome
from pytest_fabric.transport.jobs import Word

CPUS = "/sys/devices/system/cpu"


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the commands that read the system."""
    governors = Glob(f"{CPUS}/cpu*/cpufreq/scaling_governor")
    return {"governor": ("grep", "-sH", ".", governors)}


def read(subject: Subject, outcomes: Mapping[str, Outcome]) -> Facts:
    """Return what the system says."""
    return {subject.node: {"host.governor": governor(outcomes["governor"].stdout)}}


def governor(text: str) -> Fact:
    """Return the governor of all CPUs, or how many have each where they differ."""
    found = sysfs.parse(text).values()
    if not found:
        return Fact(None, "no CPU shows a scaling governor (virtual machine?): see not_available")
    counts = {word: list(found).count(word) for word in sorted(set(found))}
    detail = tuple(f"{count} CPUs: {word}" for word, count in counts.items())
    return Fact("+".join(counts), detail=detail)


TOPIC = Topic("host", sections, read)
