"""The lines of sudoers that a node needs: one for each command that is run as root."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fabric.config import Node, Profile, fold, why_missing
from pytest_fabric.errors import FabricError, MeasurementError
from pytest_fabric.measure import window
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.topics import TOPICS
from pytest_fabric.transport import Collect, Job

DEADLINE_S = 10.0

#: A user and a path as sudoers takes them without quoting.
USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
PATH = re.compile(r"/[A-Za-z0-9_./+-]+")

#: What has a meaning in the arguments of a command (sudoers(5), "Other special characters", and
#: the wildcards).
SPECIAL = re.compile(r"([\\,:=*?\[\]])")


@dataclass(frozen=True)
class Rule:
    """A line of sudoers for a command, and whether the node lacks it."""

    command: str
    line: str
    is_missing: bool


def rules(fabric: Fabric, node: Node) -> list[Rule]:
    """Return the lines that a node needs: of each command the words with which it is called.

    A line without arguments would let any be given, and these tools can change a port for good.
    Raises TransportError, MeasurementError.
    """
    wanted = commands(fabric, node)
    if not wanted:
        return []
    session = fabric.session(node.name)
    asked = ("have", *sorted({tool for tool, *_ in wanted}))
    said = session.collect(Collect({"user": ("id", "-un"), "have": asked}, DEADLINE_S))
    user = said["user"].stdout.strip()
    paths = {line.rpartition("/")[2]: line for line in said["have"].stdout.split()}
    found = []
    for tool, *arguments in wanted:
        path = paths.get(tool)
        if path is None:
            raise MeasurementError(
                node.name, "tool_missing", f"expected {tool}, found none: install it first"
            )
        if not USER.fullmatch(user) or not PATH.fullmatch(path):
            raise MeasurementError(
                node.name, "name", f"expected a plain user and path, got {user!r} and {path!r}"
            )
        outcome = session.run(Job(("sudo", "-n", "-l", tool, *arguments), deadline_s=DEADLINE_S))
        is_allowed = outcome.end == "exit" and outcome.status == 0
        line = f"{user} ALL=(root) NOPASSWD: {path} {_quoted(arguments)}"
        found.append(Rule(" ".join((tool, *arguments)), line, not is_allowed))
    return found


def commands(fabric: Fabric, node: Node) -> list[tuple[str, ...]]:
    """Return every command that is run as root on a node, each once, in order.

    Raises TransportError, MeasurementError.
    """
    if not any(profile.sudo for profile in _profiles(node)):
        return []
    subject, cluster = fabric.subject(node.name), fabric.cluster
    topics = [
        topic
        for topic in TOPICS.values()
        if why_missing(topic.name, cluster) is None and topic.of(cluster, node.name)
    ]
    asked = [
        *(topic.job(subject).sections for topic in topics),
        *(window.sections(end.rdma, end.rail.profile.sudo) for end in subject.ends),
    ]
    found = (argv for sections in asked for argv in sections.values())
    return sorted({tuple(argv[2:]) for argv in found if tuple(argv[:2]) == ("sudo", "-n")})


def _profiles(node: Node) -> list[Profile]:
    return [node.profile, *(rail.profile for rail in node.rails.values())]


def _quoted(arguments: Sequence[str]) -> str:
    """Return arguments as sudoers has them; `""` allows none at all."""
    return " ".join(SPECIAL.sub(r"\\\1", one) for one in arguments) or '""'


def folded(
    found: Mapping[str, Sequence[Rule] | FabricError], missing_only: bool
) -> tuple[list[str], list[str]]:
    """Return each line once below a comment with its nodes, and the problems of other nodes."""
    nodes: dict[str, list[str]] = defaultdict(list)
    problems = []
    for name, answer in found.items():
        if isinstance(answer, FabricError):
            problems.append(str(answer))
            continue
        for rule in answer:
            if rule.is_missing or not missing_only:
                nodes[rule.line].append(name)
    groups: dict[str, list[str]] = defaultdict(list)
    for line, names in nodes.items():
        groups[fold(names)].append(line)
    lines = [text for names, group in groups.items() for text in (f"# {names}", *group)]
    return lines, problems
