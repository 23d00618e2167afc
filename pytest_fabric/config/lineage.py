"""Where profiles come from: each with those that it extends, and the places where they stand."""

from __future__ import annotations

from pathlib import Path

from pytest_fabric.config.problems import Problems
from pytest_fabric.config.profile import BUILTIN, builtin_table
from pytest_fabric.config.yaml_lines import Table, parse, read_text, shown

#: The names of profiles with their places, from one to the last that it extends.
Lineage = tuple[tuple[str, str], ...]


def lineages(path: Path) -> dict[str, Lineage]:
    """Return the lineage of each profile of a cluster file that loads. Raises ConfigError."""
    problems = Problems(shown(path))
    tree = parse(read_text(path), problems)
    problems.refuse()
    tables = tree.get("profiles")
    own = tables if isinstance(tables, Table) else Table(tree.mark)
    return {name: lineage(name, own) for name in own}


def lineage(name: str, tables: Table) -> Lineage:
    """Return a profile and those that it extends, with their places."""
    found: list[tuple[str, str]] = []
    following: object = name
    while isinstance(following, str):
        if following.startswith(BUILTIN):
            table: object = builtin_table(following.removeprefix(BUILTIN))
            place = f"{following}.yaml:1"
        else:
            table = tables[following]
            place = str(tables.marks[following])
        found.append((following, place))
        following = table.get("extends") if isinstance(table, Table) else None
    return tuple(found)
