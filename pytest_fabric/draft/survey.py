"""Ask nodes what they are, and draft the cluster file: twice, since its second half needs rails."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fabric.config import Cluster, fold, load_text
from pytest_fabric.draft import kinds, rails, text
from pytest_fabric.draft.hosts import Host
from pytest_fabric.draft.seen import SeenNode, look
from pytest_fabric.draft.text import Draft
from pytest_fabric.errors import FabricError
from pytest_fabric.measure.fabric import AT_ONCE, Fabric
from pytest_fabric.measure.record import slip
from pytest_fabric.measure.topics import TOPICS
from pytest_fabric.metrics import NOBODY
from pytest_fabric.results import Port
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
    whole = replace(first, leaves=_leaves(first, pool, path))
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


def _leaves(draft: Draft, pool: Pool, path: Path) -> dict[Port, str]:
    """Return the leaf of each port whose other end tells its name."""
    cluster = load_text(text.write(draft), path)
    fabric = Fabric(cluster, pool, lambda facts: None)
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
        f"{fold(described)}: {ports} ports, {leaves}; "
        + ", ".join(f"{kind.name} (builtin/{kind.base})" for kind in draft.kinds),
    ]
