"""Ask nodes what they are, and draft the cluster file: twice, since its second half needs rails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fabric.config import Cluster, builtin_profile, fold, load_text
from pytest_fabric.draft import classes, kinds, rails, seen_class, text
from pytest_fabric.draft.classes import Found as FoundKey
from pytest_fabric.draft.hosts import Host
from pytest_fabric.draft.seen import SeenNode, look
from pytest_fabric.draft.text import Draft
from pytest_fabric.errors import FabricError
from pytest_fabric.measure.fabric import AT_ONCE, Fabric
from pytest_fabric.measure.record import slip
from pytest_fabric.measure.topics import TOPICS
from pytest_fabric.metrics import NOBODY
from pytest_fabric.results import Fact, Port
from pytest_fabric.tools.printable import printable
from pytest_fabric.transport import Pool

#: So much of a node's reason stands in the file.
REASON = 200


class NobodyError(FabricError):
    """No node answered, so there is nothing to write."""


@dataclass(frozen=True)
class Found:
    """The text of a cluster file, and lines for whoever asked for it."""

    text: str
    said: tuple[str, ...]


def bare(name: str, head: Sequence[str], hosts: Sequence[Host], path: Path) -> Cluster:
    """Return a cluster of nodes of which nothing is known but how to log in. Raises ConfigError."""
    lines = [
        f"name: {name}",
        *head,
        "nodes:",
        *(f"  {host.name}: {{profile: builtin/soft-roce{_address(host)}}}" for host in hosts),
        "rails: {none: {device: none}}",
    ]
    return load_text("\n".join(lines) + "\n", path)


def _address(host: Host) -> str:
    return f', address: "{host.written()}"' if host.written() else ""


def ask(
    cluster: Cluster,
    pool: Pool,
    hosts: Sequence[Host],
    head: Sequence[str],
    day: str,
    path: Path,
) -> Found:
    """Return the cluster file of nodes. Raises NobodyError when none can be described."""
    fabric = Fabric(cluster, pool, lambda facts: None)
    answers = _looks(fabric, [host.name for host in hosts])
    nodes = [found for found in answers if isinstance(found, SeenNode)]
    silent = {
        host.name: str(found)
        for host, found in zip(hosts, answers, strict=True)
        if isinstance(found, FabricError)
    }
    found = rails.find(nodes)
    for name in [name for name, ports in found.ports.items() if not ports]:
        silent[name] = f"{name}: expected an RDMA port that is up and has an address, found none"
    found = replace(found, ports={name: own for name, own in found.ports.items() if own})
    if not found.ports:
        raise NobodyError(next(iter(silent.values()), "expected a node, found none"))
    sorts, kind_of, odd = kinds.sort(found, nodes)
    first = Draft(
        name=cluster.name,
        day=day,
        head=tuple(head),
        hosts=tuple(hosts),
        rails=found,
        networks=rails.networks(found),
        kinds=tuple(sorts),
        kind_of=kind_of,
        odd=(*odd, *_down(found)),
        excluded={name: _reason(name, line) for name, line in silent.items()},
    )
    drafted = Fabric(load_text(text.write(first), path), pool, lambda facts: None)
    whole = replace(first, leaves=_leaves(first, drafted), classes=_classes(first, drafted))
    written = text.write(whole)
    load_text(written, path)  # what is wrong with it must be told now, and not to the next command
    return Found(written, tuple(_said(whole, silent)))


def _looks(fabric: Fabric, names: Sequence[str]) -> list[SeenNode | FabricError]:
    """Return what each node shows, or why it does not; all are asked side by side."""

    def tried(name: str) -> SeenNode | FabricError:
        try:
            return look(fabric, name)
        except FabricError as error:
            return error
        except Exception as error:
            return slip(name, "init", error)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(tried, names))


def _reason(name: str, line: str) -> str:
    return f"did not answer init: {printable(line.removeprefix(f'{name}: '))}"[:REASON]


def _down(found: rails.Rails) -> list[str]:
    """Return a line for each port that is not up, while others of its place are."""
    return [
        f"{node}:{rail}: {port.obstacle}"
        for node, ports in found.ports.items()
        for rail, port in ports.items()
        if port.obstacle is not None
    ]


def _classes(draft: Draft, fabric: Fabric) -> dict[str, list[FoundKey]]:
    """Return what the ports of each kind show of their class, by the name of the kind."""
    fabric.read((seen_class.TOPIC, node) for node in draft.rails.ports)
    seen: dict[str, dict[Port, Mapping[str, Fact]]] = {kind.name: {} for kind in draft.kinds}
    for port, kind in draft.kind_of.items():
        if builtin_profile(kind.base).link.layer == "Ethernet":
            seen[kind.name][port] = _class(fabric, port)
    return {
        kind.name: classes.adopt(kind.base, builtin_profile(kind.base), seen[kind.name])
        for kind in draft.kinds
    }


def _class(fabric: Fabric, port: Port) -> Mapping[str, Fact]:
    try:
        facts = fabric.reading(seen_class.TOPIC, port.node).facts
    except FabricError as error:
        return seen_class.unread(str(error))
    return facts.get(str(port)) or seen_class.unread("the port was not found again")


def _leaves(draft: Draft, fabric: Fabric) -> dict[Port, str]:
    """Return the leaf of each port whose other end tells its name."""
    wiring = TOPICS["wiring"]
    fabric.read((wiring, node) for node in draft.rails.ports)
    leaves = {}
    for node in draft.rails.ports:
        try:
            facts = fabric.reading(wiring, node).facts
        except FabricError:
            continue  # an unknown leaf is left out
        for target, said in facts.items():
            switch = said["wiring.switch"].value
            if isinstance(switch, str) and switch not in ("", NOBODY) and "+" not in switch:
                leaves[Port.parse(target)] = switch
    return leaves


def _said(draft: Draft, silent: dict[str, str]) -> list[str]:
    ports = sum(len(found) for found in draft.rails.ports.values())
    described = [host.name for host in draft.hosts if host.name in draft.rails.ports]
    known = len(draft.leaves)
    leaves = f"{len(set(draft.leaves.values()))} leaves" if known else "no leaf told its name"
    return [
        *silent.values(),
        *(["those nodes stand under `excluded:`, with the reason"] if silent else []),
        *(f"left out: {line}" for line in draft.rails.left_out),
        *(f"odd: {line}" for line in draft.odd),
        *_kept(draft),
        f"{fold(described)}: {ports} ports, {leaves}; "
        + ", ".join(f"{kind.name} (builtin/{kind.base})" for kind in draft.kinds),
    ]


def _kept(draft: Draft) -> list[str]:
    """Return a line for each kind of which the nodes do not show the whole class."""
    kept = {
        name: [one.key for one in found if one.value is None]
        for name, found in draft.classes.items()
    }
    return [
        f"{name}: {', '.join(keys)} as builtin, not from the nodes: its comments say why"
        for name, keys in kept.items()
        if keys
    ]
