"""The machines that a cluster file is drafted for: from node sets, or from an Ansible inventory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from pytest_fabric.config import expand
from pytest_fabric.errors import ConfigError

#: The group of an Ansible inventory that holds every machine.
ALL = "all"


@dataclass(frozen=True)
class Host:
    """A machine: its name, and what else is needed to log in; empty and None say nothing."""

    name: str
    address: str = ""
    port: int | None = None
    user: str = ""

    def written(self) -> str:
        """Return its address as a cluster file has it; the name itself is no address."""
        host = self.address or self.name
        shown = f"[{host}]" if ":" in host and self.port else host
        return f"{shown}:{self.port}" if self.port else host if host != self.name else ""


def from_sets(texts: Iterable[str]) -> list[Host]:
    """Return the machines of node sets, each once. Raises ConfigError."""
    return [Host(name) for name in dict.fromkeys(name for text in texts for name in expand(text))]


def from_ansible(text: str, source: str, group: str) -> list[Host]:
    """Return the machines of a group of an Ansible inventory, in INI or YAML form.

    Raises ConfigError for a text that is neither, and for an unknown or empty group.
    """
    groups = _Groups(source)
    if re.search(r"^\s*[\w.-]+:\s*(?:#.*)?$", text, re.M) and not re.search(r"^\[", text, re.M):
        groups.read_yaml(text)
    else:
        groups.read_ini(text)
    if group != ALL and group not in groups.members:
        known = ", ".join(sorted(groups.members)) or "none"
        raise ConfigError(f"{source}: expected a group of {known}, got {group!r}: see --group")
    found = [groups.host(name) for name in groups.names(group)]
    if not found:
        raise ConfigError(f"{source}: expected machines in group {group}, found none")
    return found


class _Groups:
    """Groups as they are read: members, groups in groups, and variables of each machine."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.members: dict[str, dict[str, None]] = {}
        self.children: dict[str, dict[str, None]] = {}
        self.group_values: dict[str, dict[str, str]] = {}
        self.values: dict[str, dict[str, str]] = {}

    def names(self, group: str, above: tuple[str, ...] = ()) -> list[str]:
        """Return the machines of a group and of the groups in it, each once."""
        if group == ALL:
            return list(self.values)
        found = dict(self.members.get(group, {}))
        for child in self.children.get(group, {}):
            if child not in above:
                found.update(dict.fromkeys(self.names(child, (*above, group))))
        return list(found)

    def host(self, name: str) -> Host:
        """Return a machine with what its variables, or those of its groups, say."""
        known: dict[str, str] = {}
        for group in (ALL, *self.group_values):
            if group == ALL or name in self.names(group):
                known.update(self.group_values.get(group, {}))
        known.update(self.values[name])
        port = known.get("ansible_port") or known.get("ansible_ssh_port") or ""
        if port and not (re.fullmatch(r"[1-9][0-9]{0,4}", port) and int(port) < 65536):
            raise ConfigError(
                f"{self.source}: {name}: expected ansible_port from 1 to 65535, got {port[:20]!r}"
            )
        return Host(
            name,
            known.get("ansible_host") or known.get("ansible_ssh_host") or "",
            int(port) if port else None,
            known.get("ansible_user") or known.get("ansible_ssh_user") or "",
        )

    def read_ini(self, text: str) -> None:
        """Take the lines of an INI inventory. Raises ConfigError."""
        group, kind = "ungrouped", ""
        for number, line in enumerate(text.splitlines(), 1):
            line = re.sub(r"(^|\s)[#;].*$", "", line).strip()
            title = re.fullmatch(r"\[([\w.-]+)(?::(children|vars|hosts))?\]", line)
            if title:
                group, kind = title[1], title[2] or ""
                self.members.setdefault(group, {})
            elif line:
                self._ini_line(group, kind, line, f"{self.source}:{number}")

    def _ini_line(self, group: str, kind: str, line: str, place: str) -> None:
        if kind == "vars":
            key, _, value = line.partition("=")
            self.group_values.setdefault(group, {})[key.strip()] = _plain(value)
        elif kind == "children":
            self.children.setdefault(group, {})[line] = None
        else:
            pattern, *words = line.split()
            values = {key: _plain(value) for key, _, value in (w.partition("=") for w in words)}
            self._add(group, pattern, values, place)

    def read_yaml(self, text: str) -> None:
        """Take the groups of a YAML inventory. Raises ConfigError."""
        try:
            tree = yaml.safe_load(text)
            for name, body in _table(tree, self.source).items():
                self._yaml_group(str(name), body)
        except yaml.YAMLError as error:
            why = " ".join(str(error).split())[:120]
            raise ConfigError(f"{self.source}: expected a YAML inventory: {why}") from None
        except RecursionError:
            raise ConfigError(
                f"{self.source}: expected a YAML inventory, got one that is nested without end"
            ) from None

    def _yaml_group(self, name: str, body: object) -> None:
        part = _table(body, f"{self.source}: {name}")
        self.members.setdefault(name, {})
        self.group_values.setdefault(name, {}).update(_values(part.get("vars"), self.source))
        for host, values in _table(part.get("hosts"), f"{self.source}: {name}.hosts").items():
            self._add(name, str(host), _values(values, self.source), f"{self.source}: {name}.hosts")
        for child, inner in _table(part.get("children"), f"{self.source}: {name}").items():
            self.children.setdefault(name, {})[str(child)] = None
            self._yaml_group(str(child), inner)

    def _add(self, group: str, pattern: str, values: Mapping[str, str], place: str) -> None:
        members = self.members.setdefault(group, {})
        for name in _expanded(pattern, place):
            members[name] = None
            self.values.setdefault(name, {}).update(values)


def _expanded(pattern: str, place: str) -> Iterator[str]:
    """Yield the names of a pattern such as `gpu[001:064]`. Raises ConfigError."""
    nodes = re.sub(r"\[(\d+):(\d+)(?::(\d+))?\]", _range, pattern)
    try:
        yield from expand(nodes)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from None


def _range(found: re.Match[str]) -> str:
    low, high, step = found.groups()
    return f"[{low}-{high}/{step}]" if step else f"[{low}-{high}]"


def _plain(value: str) -> str:
    return value.strip().strip("\"'")


def _table(value: object, place: str) -> Mapping[Any, Any]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return value
    raise ConfigError(f"{place}: expected a mapping, as an Ansible inventory has it")


def _values(value: object, source: str) -> dict[str, str]:
    return {str(key): str(said) for key, said in _table(value, source).items()}
