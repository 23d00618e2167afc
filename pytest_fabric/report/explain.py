"""What holds for a node, a port, a pair or a metric, and where each of it was said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_fabric import metrics
from pytest_fabric.config import (
    Cluster,
    Limit,
    Node,
    Profile,
    Relative,
    builtin_profile,
    expand,
    fold,
)
from pytest_fabric.config.wording import like
from pytest_fabric.errors import ConfigError
from pytest_fabric.results import Pair, Port
from pytest_fabric.units import render

#: The names of profiles with their places, from one to the last that it extends.
Lineages = Mapping[str, Sequence[tuple[str, str]]]


@dataclass(frozen=True)
class Known:
    """A cluster, and the lineage of each of its profiles."""

    cluster: Cluster
    lineages: Lineages


def lines(known: Known, target: str) -> list[str]:
    """Return what holds for a target. Raises ConfigError for one that is not in the cluster."""
    cluster = known.cluster
    if ".." in target:
        pair = Pair.parse(target)
        return list(_pair(known, _port(cluster, pair.client), _port(cluster, pair.server)))
    if target in cluster.nodes:
        return list(_node(known, cluster.nodes[target]))
    if ":" in target:
        port = _port(cluster, Port.parse(target))
        return [*_place(known, port), *_profile(known, cluster.rail(port).profile)]
    if metrics.unit_of(target) is not None or _is_limited(cluster, target):
        return list(_metric(known, target))
    choices = [*cluster.nodes, *map(str, cluster.ports()), *metrics.names()]
    wanted = like("a node, port, pair or metric", target, choices)
    raise ConfigError(f"explain: expected {wanted}, got {target!r}")


def _port(cluster: Cluster, port: Port) -> Port:
    if port.node not in cluster.nodes:
        wanted = like("a node", port.node, list(cluster.nodes))
        raise ConfigError(f"explain: expected {wanted}, got {port.node!r}")
    rails = cluster.nodes[port.node].rails
    if port.rail not in rails:
        wanted = like(f"a rail of {port.node}", port.rail, list(rails))
        raise ConfigError(f"explain: expected {wanted}, got {port.rail!r}")
    return port


def _is_limited(cluster: Cluster, metric: str) -> bool:
    return any(metric in profile.limits for profile in _profiles(cluster))


def _profiles(cluster: Cluster) -> list[Profile]:
    """Return the profiles that ports and nodes have, each once."""
    found: dict[str, Profile] = {}
    for node in cluster.nodes.values():
        for profile in (node.profile, *(rail.profile for rail in node.rails.values())):
            found.setdefault(profile.name, profile)
    return list(found.values())


def _node(known: Known, node: Node) -> Iterator[str]:
    where = f"{node.address}:{node.port}" if node.port else node.address
    yield f"{node.name}: {known.cluster.transport} to {where}"
    yield from _rows(
        "", [("rail", f"{name}  {_rail(known, Port(node.name, name))}") for name in node.rails]
    )
    yield from _exceptions(known.cluster, (node.name,))
    used = {rail.profile.name: rail.profile for rail in node.rails.values()}
    for profile in {node.profile.name: node.profile, **used}.values():
        yield from _profile(known, profile)


def _rail(known: Known, port: Port) -> str:
    rail = known.cluster.rail(port)
    cable = known.cluster.cable(port)
    words = [
        str(rail.selector),
        *([f"network {rail.network}"] if rail.network else []),
        *([f"leaf {rail.leaf}"] if rail.leaf else []),
        *([f"GPU {rail.gpu}"] if rail.gpu else []),
        *([f"cable to {cable.place} ({cable.source})"] if cable else []),
        f"profile {rail.profile.name}",
    ]
    return ", ".join(words)


def _place(known: Known, port: Port) -> Iterator[str]:
    yield f"{port}: {_rail(known, port)}"
    yield from _exceptions(known.cluster, (str(port),))


def _pair(known: Known, client: Port, server: Port) -> Iterator[str]:
    yield f"{client}..{server}"
    for name, port in (("client", client), ("server", server)):
        yield f"  {name}  {port}: {_rail(known, port)}"
    yield from _exceptions(known.cluster, (str(client), str(server), f"{client}..{server}"))
    profiles = {known.cluster.rail(port).profile.name: port for port in (client, server)}
    if len(profiles) > 1:
        yield "  both profiles must hold"
    for port in profiles.values():
        yield from _profile(known, known.cluster.rail(port).profile)


def _exceptions(cluster: Cluster, targets: Sequence[str]) -> Iterator[str]:
    """Yield what is left out or accepted: excluded nodes, and waivers by their targets."""
    nodes = dict.fromkeys(part.partition(":")[0] for part in targets if ".." not in part)
    for node in nodes:
        if node in cluster.excluded:
            yield f"  excluded  {node}: {cluster.excluded[node]}"
    for waiver in cluster.waivers:
        if any(_covers(waiver.target, target) for target in targets):
            until = f"until {waiver.until.isoformat()}"
            why = f"{waiver.reason} ({waiver.owner})"
            yield f"  waiver    {waiver.check} of {waiver.target} {until}: {why}"


def _covers(waived: str, target: str) -> bool:
    """Return whether a waiver's target is a target, or a part of it."""
    if ".." in waived or ".." in target:
        return waived == target
    nodes, _, rail = waived.partition(":")
    node, _, own = target.partition(":")
    return node in expand(nodes) and (not rail or not own or rail == own)


def _profile(known: Known, profile: Profile) -> Iterator[str]:
    chain = known.lineages.get(profile.name, ())
    yield ""
    yield f"profile {_chain(chain) or profile.name}"
    rows: dict[bool, list[tuple[str, str]]] = {True: [], False: []}
    for name, limit in profile.limits.items():
        rows[_is_declared(name, profile)].append((name, _limit(limit, profile, chain)))
    yield from _rows("declared", rows[True])
    yield from _rows("limits", rows[False])
    yield from _rows("not available", list(profile.not_available.items()))
    traffic = profile.traffic
    said = f"{traffic.iterations} messages; {traffic.duration} of {traffic.size}, {traffic.qps} QPs"
    yield from _rows("traffic", [("latency; bandwidth", said)])


def _is_declared(metric: str, profile: Profile) -> bool:
    """Return whether a limit is what the profile declares of its hardware."""
    section, _, key = metric.partition(".")
    if section == "firmware":
        return key in profile.firmware
    return hasattr(getattr(profile, section, None), key)


def _chain(chain: Sequence[tuple[str, str]]) -> str:
    return " extends ".join(f"{name} ({place})" for name, place in chain)


def _limit(limit: Limit, profile: Profile, chain: Sequence[tuple[str, str]]) -> str:
    rates = [
        f"{clause.op} {render(rate * clause.fraction, 'b/s')}"
        for clause in limit.clauses
        if isinstance(clause, Relative) and (rate := _rate(profile, clause.of)) is not None
    ]
    shown = f" ({' and '.join(rates)})" if rates else ""
    return f"{limit.text}{shown}  {limit.source}{_over(limit, chain)}"


def _rate(profile: Profile, of: str) -> float | None:
    return profile.payload_rate_bps if of == "payload rate" else profile.line_rate_bps


def _over(limit: Limit, chain: Sequence[tuple[str, str]]) -> str:
    """Return what the builtin profile says instead, where the limit is said anew."""
    builtin = next((name for name, _ in chain if name.startswith("builtin/")), None)
    if builtin is None:
        return ""
    lower = builtin_profile(builtin.removeprefix("builtin/")).limits.get(limit.metric)
    if lower is None or lower.source == limit.source:
        return ""
    return f", instead of {lower.text}  {lower.source}"


def _rows(title: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    if not rows:
        return
    if title:
        yield f"  {title}"
    width = max(len(name) for name, _ in rows)
    indent = "    " if title else "  "
    yield from (f"{indent}{name:<{width}}  {text}" for name, text in rows)


def _metric(known: Known, metric: str) -> Iterator[str]:
    unit = metrics.unit_of(metric)
    yield f"{metric}" + (f", in {unit}" if unit not in (None, "", "word") else "")
    for profile, ports in _ports_by_profile(known.cluster):
        chain = known.lineages.get(profile.name, ())
        yield f"  {fold(ports)}: profile {_chain(chain) or profile.name}"
        limit = profile.limits.get(metric)
        why = profile.why_not_available(metric)
        if why is not None:
            yield f"    not available: {why}"
        elif limit is not None:
            yield f"    {_limit(limit, profile, chain)}"
        else:
            yield "    no limit: a test that asks for it is an error"


def _ports_by_profile(cluster: Cluster) -> Iterable[tuple[Profile, list[str]]]:
    found: dict[str, list[str]] = defaultdict(list)
    profiles: dict[str, Profile] = {}
    for port in cluster.ports():
        profile = cluster.rail(port).profile
        profiles[profile.name] = profile
        found[profile.name].append(port.node)
    return [(profiles[name], list(dict.fromkeys(nodes))) for name, nodes in found.items()]
