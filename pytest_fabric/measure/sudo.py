"""The lines of sudoers that a node needs: one for each tool that its profiles let run as root."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fabric.config import Node, fold
from pytest_fabric.errors import FabricError, MeasurementError
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.transport import Collect, Job

DEADLINE_S = 10.0

#: A user and a path as sudoers takes them without quoting.
USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
PATH = re.compile(r"/[A-Za-z0-9_./+-]+")


@dataclass(frozen=True)
class Rule:
    """A line of sudoers, and whether the node lacks it."""

    line: str
    is_missing: bool


def rules(fabric: Fabric, node: Node) -> list[Rule]:
    """Return the lines that a node needs. Raises TransportError, MeasurementError."""
    profiles = (node.profile, *(rail.profile for rail in node.rails.values()))
    tools = sorted({tool for profile in profiles for tool in profile.sudo})
    if not tools:
        return []
    session = fabric.session(node.name)
    said = session.collect(Collect({"user": ("id", "-un"), "have": ("have", *tools)}, DEADLINE_S))
    user = said["user"].stdout.strip()
    paths = {line.rpartition("/")[2]: line for line in said["have"].stdout.split()}
    found = []
    for tool in tools:
        path = paths.get(tool)
        if path is None:
            raise MeasurementError(
                node.name, "tool_missing", f"expected {tool}, found none: install it first"
            )
        if not USER.fullmatch(user) or not PATH.fullmatch(path):
            raise MeasurementError(
                node.name, "name", f"expected a plain user and path, got {user!r} and {path!r}"
            )
        outcome = session.run(Job(("sudo", "-n", "-l", tool), deadline_s=DEADLINE_S))
        is_allowed = outcome.end == "exit" and outcome.status == 0
        found.append(Rule(f"{user} ALL=(root) NOPASSWD: {path}", not is_allowed))
    return found


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
