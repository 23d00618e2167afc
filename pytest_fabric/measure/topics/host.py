"""How a node's system is set up: what slows RDMA down although every link is sound."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.measure.topics import isolation, kernel_events, sysctls
from pytest_fabric.measure.topics.heard import (
    BY_HAND,
    Heard,
    Outcomes,
    heard,
    is_complete,
    problem,
    tree,
)
from pytest_fabric.measure.topics.topic import Facts, Subject, Topic
from pytest_fabric.results import Fact
from pytest_fabric.tools import proc_limits
from pytest_fabric.tools.printable import printable
from pytest_fabric.transport import Glob, Outcome
from pytest_fabric.transport.jobs import Word

CPUS = "/sys/devices/system/cpu"

RELEASE = "/etc/os-release"

#: What a CPU may clock at most, and what it can (Documentation/admin-guide/pm/cpufreq.rst), in kHz.
CLOCKS = ("scaling_max_freq", "cpuinfo_max_freq")
KHZ = re.compile(r"[0-9]{1,9}")


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the commands that read the system; those that print most come last."""
    governors = Glob(f"{CPUS}/cpu*/cpufreq/scaling_governor")
    return {
        "governor": ("grep", "-sH", ".", governors),
        "clocks": ("grep", "-sH", ".", *(Glob(f"{CPUS}/cpu*/cpufreq/{name}") for name in CLOCKS)),
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
        "host.governor": governor(outcomes),
        "host.capped_cpus": capped(outcomes),
        "host.memlock": memlock(outcomes),
        "host.kernel": _word(heard(outcomes, "kernel", "uname", _release)),
        "host.os": _word(heard(outcomes, "os", RELEASE, _distribution)),
        "host.iommu": isolation.iommu(subject, outcomes),
        "host.acs": isolation.acs(subject, outcomes),
        **sysctls.read(outcomes),
        **kernel_events.read(subject, outcomes),
    }
    return {subject.node: said}


def governor(outcomes: Outcomes) -> Fact:
    """Return the governor of all CPUs, or how many have each where they differ."""
    if not is_complete(outcomes["governor"]):
        return problem("reading scaling governors did not come to its end", BY_HAND)
    found = tree(outcomes, "governor").values()
    if not found:
        return Fact(None, "no CPU shows a scaling governor (virtual machine?): see not_available")
    counts = {word: list(found).count(word) for word in sorted(set(found))}
    detail = tuple(f"{count} CPUs: {word}" for word, count in counts.items())
    return Fact("+".join(counts), detail=detail)


def capped(outcomes: Outcomes) -> Fact:
    """Return how many CPUs may not clock as high as they can."""
    if not is_complete(outcomes["clocks"]):
        return problem("reading clocks of CPUs did not come to its end", BY_HAND)
    limits: dict[str, dict[str, str]] = {}
    for path, text in tree(outcomes, "clocks").items():
        cpu, _, name = path.rpartition("/")
        limits.setdefault(cpu, {})[name] = text
    if not limits:
        return Fact(None, "no CPU shows its clocks (virtual machine?): see not_available")
    wrong = next((cpu for cpu, said in limits.items() if not _is_pair(said)), None)
    if wrong is not None:
        return problem(f"expected two clocks in kHz in {wrong}, got {limits[wrong]}"[:200], BY_HAND)
    low = [cpu for cpu, said in limits.items() if int(said[CLOCKS[0]]) < int(said[CLOCKS[1]])]
    detail = [
        f"{cpu.split('/')[-2]}: at most {limits[cpu][CLOCKS[0]]} of {limits[cpu][CLOCKS[1]]} kHz"
        for cpu in low[:1]
    ]
    return Fact(len(low), detail=tuple(detail))


def _is_pair(said: Mapping[str, str]) -> bool:
    return set(said) == set(CLOCKS) and all(KHZ.fullmatch(text) for text in said.values())


def memlock(outcomes: Outcomes) -> Fact:
    """Return the memory in bytes that a process of our session may lock; infinite without limit."""
    found = heard(outcomes, "limits", proc_limits.PATH, proc_limits.parse)
    if found.value is None:
        return found.nothing
    number = found.value.locked_memory_soft_bytes
    return Fact(float("inf") if number is None else number, detail=(proc_limits.PATH,))


def _release(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._+~-]{1,80}", text.strip()):
        raise NotRecognisedError(f"expected the kernel's release, got {text[:40]!r}")
    return text.strip()


def _distribution(text: str) -> str:
    match = re.search(r'(?m)^PRETTY_NAME=(["\']?)(.{1,80})\1$', text)
    if match is None:
        raise NotRecognisedError("expected the name of the distribution (PRETTY_NAME), found none")
    return printable(match[2].strip())


def _word(found: Heard[str]) -> Fact:
    return found.nothing if found.value is None else Fact(found.value)


TOPIC = Topic("host", sections, read)
