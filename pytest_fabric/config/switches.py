"""The switches that are asked: which of those that the plan of the cables names, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pytest_fabric.config import hardware, kinds
from pytest_fabric.config.cables import Cable
from pytest_fabric.config.kinds import Kind
from pytest_fabric.config.nodesets import expand
from pytest_fabric.config.problems import Mark, Problems
from pytest_fabric.config.sections import Strict, Text
from pytest_fabric.config.wording import like, quoted
from pytest_fabric.config.yaml_lines import Table
from pytest_fabric.errors import ConfigError
from pytest_fabric.results import Port

#: Stands for the name of the switch in its address and in its folder.
NAME = "{switch}"


def _read_address(value: object) -> str:
    """Return where SSH goes, as of a node, with `{switch}` for the name."""
    text = value.replace(NAME, "{node}") if isinstance(value, str) else value
    try:
        return hardware.read_address(text).replace("{node}", NAME)
    except ConfigError as error:
        raise ConfigError(str(error).replace("{node}", NAME)) from None


class SwitchKeys(Strict):
    """One or many switches: the key is a node set of names that `cables` has."""

    os: Annotated[Literal["sonic"], kinds.choice("sonic")]
    """The network operating system."""
    address: (
        Annotated[str, Kind(_read_address, {"type": "string", "examples": ["{switch}.mgmt"]})]
        | None
    ) = None
    """Where SSH goes, usually the name: HOST:PORT and [IPV6]:PORT say a port too."""
    user: Text | None = None
    """Who logs in to switches, where it is not who logs in to nodes."""
    files: Annotated[Path, Kind(kinds.read_path, {"type": "string"})] | None = None
    """A folder with what the site has captured, instead of a log-in: `before/` and `after/`."""


class Switch(Strict):
    """A switch that is asked: over SSH, or in `files`; `port` is None where nothing says one."""

    name: str
    os: Literal["sonic"]
    address: str
    port: int | None = None
    user: str | None = None
    files: Path | None = None


def read_switches(
    written: Mapping[str, SwitchKeys],
    table: object,
    path: Path,
    taken: Mapping[str, object],
    cables: Mapping[Port, Cable],
    problems: Problems,
) -> dict[str, Switch]:
    """Return the switches by name; what is wrong with them is added to the problems.

    `table` is what was written, with its places; `taken` are the names of nodes.
    """
    tables = table if isinstance(table, Table) else Table(Mark(problems.file, 1, "switches"))
    named = {cable.switch.casefold(): cable.switch for cable in cables.values()}
    found: dict[str, Switch] = {}
    for key, keys in written.items():
        mark, entry = tables.marks[key], tables[key]
        _check_place(keys, entry.marks, problems)
        names = list(_names(key, mark, taken, named, problems))
        if len(names) > 1:
            _check_own(keys, entry.marks, len(names), problems)
        for name in names:
            if name in found:
                problems.add(mark, f"expected each switch once, got {quoted(name)} again")
            found.setdefault(name, _switch(name, keys, path))
    return found


def _names(
    key: str,
    mark: Mark,
    taken: Mapping[str, object],
    named: Mapping[str, str],
    problems: Problems,
) -> Iterator[str]:
    """Yield the names of a node set as the plan of the cables spells them."""
    try:
        names = expand(key)
    except ConfigError as error:
        problems.add(mark, str(error))
        return
    for name in names:
        if name in taken:
            problems.add(mark, f"expected a name that no node has, got {quoted(name)}")
        elif not named:
            wanted = "`cables:` that name the ports of switches"
            problems.add(mark, f"expected {wanted} beside {quoted(name)}, found none")
        elif name.casefold() not in named:
            wanted = like("a switch of the plan of cables", name, sorted(named.values()))
            problems.add(mark, f"expected {wanted}, got {quoted(name)}")
        else:
            yield named[name.casefold()]


def _check_place(keys: SwitchKeys, marks: Mapping[str, Mark], problems: Problems) -> None:
    """Refuse a switch that is both logged in to and read from files."""
    for key in ("address", "user") if keys.files is not None else ():
        if getattr(keys, key) is not None:
            why = "what is read from files is not logged in to"
            problems.add(marks[key], f"expected no {key} beside files, got one: {why}")


def _check_own(keys: SwitchKeys, marks: Mapping[str, Mark], count: int, problems: Problems) -> None:
    """Refuse one address, or one folder, for several switches."""
    for key, value in (("address", keys.address), ("files", keys.files)):
        if value is not None and NAME not in str(value):
            wanted = f"{NAME} in the {key} of {count} switches"
            problems.add(marks[key], f"expected {wanted}, got {quoted(str(value))}")


def _switch(name: str, keys: SwitchKeys, path: Path) -> Switch:
    host, port = hardware.split_address((keys.address or NAME).replace(NAME, name))
    files = None if keys.files is None else path.parent / str(keys.files).replace(NAME, name)
    return Switch(name=name, os=keys.os, address=host, port=port, user=keys.user, files=files)
