"""Nodes and their rails: node sets expanded, each port with its profile."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pytest_fabric.config.check import validate
from pytest_fabric.config.hardware import split_address
from pytest_fabric.config.models import Node, Profile, Rail
from pytest_fabric.config.nodesets import expand, fold
from pytest_fabric.config.problems import Mark, Problems
from pytest_fabric.config.profile import Profiles
from pytest_fabric.config.wording import got, quoted
from pytest_fabric.config.written import NodeEntry, NodeKeys, RailKeys
from pytest_fabric.config.yaml_lines import Table
from pytest_fabric.errors import ConfigError

RailTable = dict[str, tuple[RailKeys, Mark]]


@dataclass
class Inventory:
    """The nodes that could be read, and the names of the rails of all, for what refers to them.

    The rails of a node are None when they could not be read.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    rails: dict[str, frozenset[str] | None] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)


def read_inventory(tree: Table, profiles: Profiles, problems: Problems) -> Inventory:
    """Return the nodes of a cluster file; what is wrong with them is added to the problems."""
    inventory = Inventory()
    common = _read_rails(tree, problems)
    table = tree.get("nodes")
    mark = tree.marks.get("nodes", tree.mark.key("nodes"))
    if not isinstance(table, Table) or not table:
        problems.add(mark, f"expected nodes by name or node set, got {got(table)}")
        return inventory
    for key, entry in table.items():
        names = _new_names(key, table.marks[key], inventory, problems)
        _read_entry(names, entry, table.marks[key], common, profiles, inventory, problems)
    return inventory


def _new_names(key: str, mark: Mark, inventory: Inventory, problems: Problems) -> tuple[str, ...]:
    """Return the names of a node set that no entry above has."""
    try:
        names = expand(key)
    except ConfigError as error:
        problems.add(mark, str(error))
        return ()
    again = [name for name in names if name in inventory.marks]
    if again:
        first = f"{inventory.marks[again[0]]} has it"
        problems.add(mark, f"expected each node once, got {fold(again)} again: {first}")
    new = tuple(name for name in names if name not in inventory.marks)
    inventory.marks.update(dict.fromkeys(new, mark))
    return new


def _read_entry(
    names: tuple[str, ...],
    entry: object,
    mark: Mark,
    common: RailTable | None,
    profiles: Profiles,
    inventory: Inventory,
    problems: Problems,
) -> None:
    if not isinstance(entry, Table):
        problems.add(mark, f"expected a mapping with at least a profile, got {got(entry)}")
        inventory.rails.update(dict.fromkeys(names))
        return
    own = entry.get("rails") is not None
    rails = _read_rails(entry, problems) if own else common
    if rails is not None and not rails:
        where = entry.marks["rails"] if own else mark.key("rails")
        problems.add(where, "expected rails here or at the top level, found none")
    known = None if rails is None else frozenset(rails)
    inventory.rails.update(dict.fromkeys(names, known))
    keys = validate(NodeKeys, entry.without("rails"), mark, problems, keys=NodeEntry)
    if keys is None:
        return
    if "{node}" not in keys.address and len(names) > 1:
        wanted = f"{{node}} in the address of {len(names)} nodes"
        problems.add(entry.marks["address"], f"expected {wanted}, got {quoted(keys.address)}")
    profile = profiles.get(keys.profile, entry.marks["profile"])
    if profile is not None and rails is not None:
        built = _build_rails(rails, profile, profiles)
        for name in names:
            inventory.nodes[name] = _node(name, keys, profile, built)


def _node(name: str, keys: NodeKeys, profile: Profile, rails: dict[str, Rail]) -> Node:
    host, port = split_address(keys.address.replace("{node}", name))
    return Node(name=name, address=host, port=port, oob=keys.oob, profile=profile, rails=rails)


def _read_rails(holder: Table, problems: Problems) -> RailTable | None:
    """Return the rails of the key `rails`, none when it is absent, None when they are wrong."""
    table = holder.get("rails")
    if table is None:
        return {}
    if not isinstance(table, Table):
        problems.add(holder.marks["rails"], f"expected a mapping of rails, got {got(table)}")
        return None
    before = problems.told
    rails: RailTable = {}
    for name, value in table.items():
        mark = table.marks[name]
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
            wanted = "the name of a rail of letters, digits, - and _"
            problems.add(mark, f"expected {wanted}, got {quoted(name)}")
        keys = validate(RailKeys, value, mark, problems)
        if keys is not None:
            rails[name] = keys, value.marks.get("profile", mark)
            _check_selector(name, rails, mark, problems)
    return rails if problems.told == before else None


def _check_selector(name: str, rails: RailTable, mark: Mark, problems: Problems) -> None:
    try:
        selector = rails[name][0].selector
    except ConfigError as error:
        problems.add(mark, str(error))
        return
    for other, (keys, _) in rails.items():
        if other != name and getattr(keys, selector.kind) == getattr(rails[name][0], selector.kind):
            problems.add(mark, f"expected a port of its own, got {selector}, which is {other}")


def _build_rails(rails: RailTable, profile: Profile, profiles: Profiles) -> dict[str, Rail]:
    built = {}
    six: dict[str, Profile] = {}
    for name, (keys, mark) in rails.items():
        own = profile if keys.profile is None else profiles.get(keys.profile, mark)
        if own is not None and keys.network is not None and keys.network.version == 6:
            own = six.setdefault(own.name, own.model_copy(update={"ipv6": True}))
        if own is not None:
            built[name] = Rail(
                name=name,
                selector=keys.selector,
                netdevs=keys.netdevs or (),
                network=keys.network,
                leaf=keys.leaf,
                gpu=keys.gpu,
                profile=own,
            )
    return built
