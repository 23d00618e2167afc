"""From a cluster file to a cluster: text, tree, models, references; all problems at once."""

from __future__ import annotations

from pathlib import Path

from pytest_fabric.config.cables import Cable, Known, read_cables
from pytest_fabric.config.check import failed_keys, validate
from pytest_fabric.config.inventory import Inventory, read_inventory
from pytest_fabric.config.models import Cluster, Profile
from pytest_fabric.config.problems import Problems
from pytest_fabric.config.profile import Profiles
from pytest_fabric.config.references import References
from pytest_fabric.config.sections import Ssh
from pytest_fabric.config.switches import read_switches
from pytest_fabric.config.wording import got, quoted
from pytest_fabric.config.written import ClusterFile, Head
from pytest_fabric.config.yaml_lines import MAX_BYTES, Table, parse, read_text, shown
from pytest_fabric.results import Port

#: Read entry by entry, so that one wrong entry does not hide what is wrong with the others.
LARGE_KEYS = ("nodes", "rails", "profiles")


def load(path: Path) -> Cluster:
    """Return the cluster that a file describes.

    Raises ConfigError with one line `file:line: key.path: expected ..., got ...` per problem.
    """
    return load_text(read_text(path), path)


def load_text(text: str, path: Path) -> Cluster:
    """Return the cluster that a text describes, as if it stood in the file `path`."""
    problems = Problems(shown(path))
    tree = parse(text, problems)
    head = _read_head(tree, problems)
    profiles = Profiles(_profile_tables(tree, problems), problems)
    inventory = read_inventory(tree, profiles, problems)
    profiles.check_unused()
    if head.transport == "ssh":
        _check_addresses(inventory, problems)
    references = References(tree, inventory, problems)
    pairs = references.pairs(head.pairs)
    excluded = references.excluded(head.excluded)
    references.waivers()
    references.collectives()
    references.workload(head.workload)
    lab = references.lab(head.lab)
    cables = _read_plan(head.cables, path, tree, inventory, problems)
    switches = read_switches(
        head.switches, tree.get("switches"), path, inventory.marks, cables, problems
    )
    problems.refuse()
    return Cluster(
        name=head.name,
        source=path,
        transport=head.transport,
        ssh=_with_config(head.ssh, path),
        fabric=head.fabric,
        tools=head.tools,
        lab=lab,
        nodes=inventory.nodes,
        profiles=_used(profiles),
        pairs=pairs,
        confirm=head.confirm,
        excluded=excluded,
        min_coverage=head.min_coverage,
        waivers=head.waivers,
        cables=cables,
        collectives=head.collectives,
        workload=head.workload,
        switches=switches,
    )


def _read_head(tree: Table, problems: Problems) -> Head:
    """Return all keys but the large ones; a wrong one counts as absent for the checks to come."""
    small = tree.without(*LARGE_KEYS)
    head = validate(Head, small, tree.mark, problems, keys=ClusterFile)
    if head is None:
        return Head.model_validate(small.without(*failed_keys(Head, small)))
    return head


def _profile_tables(tree: Table, problems: Problems) -> Table:
    tables = tree.get("profiles")
    if isinstance(tables, Table):
        return tables
    if "profiles" in tree:
        problems.add(tree.marks["profiles"], f"expected a mapping of profiles, got {got(tables)}")
    return Table(tree.mark)


def _check_addresses(inventory: Inventory, problems: Problems) -> None:
    """Refuse one machine under two names: it would be measured against itself."""
    seen: dict[tuple[str, int | None], str] = {}
    for name, node in inventory.nodes.items():
        first = seen.setdefault((node.address, node.port), name)
        if first != name and inventory.marks[first] != inventory.marks[name]:
            found = f"{node.address}, which {first} has too"
            problems.add(inventory.marks[name], f"expected an address of its own, got {found}")


def _read_plan(
    name: str | None, path: Path, tree: Table, inventory: Inventory, problems: Problems
) -> dict[Port, Cable]:
    """Return the cables of the file that the key `cables` names, beside the cluster file."""
    if name is None:
        return {}
    file = path.parent / name
    try:
        with file.open("rb") as opened:
            text = opened.read(MAX_BYTES + 1).decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no UTF-8 text"
        wanted = f"expected a readable file, got {quoted(name)}: {reason}"
        problems.add(tree.marks["cables"], wanted)
        return {}
    if len(text) > MAX_BYTES:
        problems.add(tree.marks["cables"], f"expected at most 16 MiB, got more in {quoted(name)}")
        return {}
    rails = {
        Port(node.name, rail.name): rail
        for node in inventory.nodes.values()
        for rail in node.rails.values()
    }
    known = Known(
        rails={name: inventory.rails.get(name) for name in inventory.marks},
        leaves={port: rail.leaf for port, rail in rails.items() if rail.leaf is not None},
        bonds=frozenset(port for port, rail in rails.items() if rail.netdevs),
    )
    return read_cables(text, shown(file), known, problems)


def _with_config(ssh: Ssh, path: Path) -> Ssh:
    if ssh.config is None:
        return ssh
    return ssh.model_copy(update={"config": path.parent / ssh.config})


def _used(profiles: Profiles) -> dict[str, Profile]:
    return {name: found for name, found in profiles.resolved.items() if found is not None}
