"""The lab of a wave as a cluster file: the user's profile on as many nodes as the faults need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pytest_fabric.config import Cluster
from pytest_fabric.declare import SOAK
from pytest_fabric.prove.plan import TOGETHER, Wave

#: Where the first rail and its GPU are, and how far apart rails are, as in a usual machine: eight
#: in each domain of PCI.
BUS, GPU_BUS, APART, IN_DOMAIN = 0x1A, 0x1B, 0x20, 8

#: What stands for a link layer of which the user's cluster has no port.
BUILTIN = {
    "Ethernet": {"extends": "builtin/cx7-400g-roce", "firmware": {"MT_0000000838": "28.39.1002"}},
    "InfiniBand": {"extends": "builtin/cx7-400g-ndr", "firmware": {"MT_0000000838": "28.39.1002"}},
}

#: Real seconds that a simulated second takes: half of the demonstration's, whose noise it keeps.
SCALE = 0.01

#: The same where pairs must run at the same moment: starting them takes real time, which must be
#: little of what perftest leaves out at both ends of a run.
SCALE_TOGETHER = 0.1

#: The same where pairs must meet each other, some of the time.
SCALE_ACROSS = 0.02

#: What a collective must reach of the line rate of all rails: in the lab, NCCL leaves 5 % of the
#: payload rate, and a port at half of its speed half.
BUS_SHARE = 0.8

#: Of the user's file: what says how a fabric is judged, and not which nodes it has.
KEPT = ("fabric", "confirm")


@dataclass(frozen=True)
class Model:
    """What the labs of all waves take from the user's cluster file."""

    layer: str
    profile: str
    profiles: Mapping[str, Any]
    rest: Mapping[str, Any]
    seed: int
    adapter: str | None
    line_bps: float | None = None


def model_of(cluster: Cluster) -> Model:
    """Return what waves take from a cluster: the profile of its first port stands for all."""
    first = cluster.ports()[0]
    profile = cluster.rail(first).profile
    text = yaml.safe_load(Path(cluster.source).read_text())
    return Model(
        layer=profile.link.layer,
        profile=profile.name,
        profiles=text.get("profiles") or {},
        rest={key: text[key] for key in KEPT if key in text},
        seed=cluster.lab.seed,
        adapter=cluster.lab.adapters.get(first.node),
        line_bps=cluster.line_rate_bps(first),
    )


def _scale(group: str) -> float:
    """Return the real seconds of a simulated one in a wave of a group."""
    if group in (*TOGETHER, SOAK):
        return SCALE_TOGETHER
    return SCALE_ACROSS if group == "across" else SCALE


def cluster_file(wave: Wave, model: Model) -> str:
    """Return the cluster file of a wave's lab."""
    profiles, profile = dict(model.profiles), model.profile
    adapter = model.adapter
    if wave.layer != model.layer:
        profile, adapter = "proof", None
        profiles[profile] = BUILTIN[wave.layer]
    elif wave.group == "collective" and model.line_bps is not None:
        slow = BUS_SHARE * model.line_bps * len(wave.rails) / 8e9
        limits = {"collective.busbw": f">= {slow:g} GB/s"}
        profile, profiles["proof"] = "proof", {"extends": model.profile, "limits": limits}
    names = [node for node, _ in wave.nodes]
    document: dict[str, Any] = {
        "name": f"prove {wave.name}",
        "transport": "lab",
        "lab": {
            "seed": model.seed,
            "time": _scale(wave.group),
        },
        **_rest(wave, model),
        "nodes": {
            node: {"profile": profile, "rails": _rails(wave, node, cell)}
            for node, cell in wave.nodes
        },
        "profiles": profiles,
        "pairs": {"strategy": "list", "list": [f"{one}..{other}" for one, other in wave.pairs]},
    }
    if not wave.bonds:
        document["cables"] = "cables.csv"
    if wave.layer == "Ethernet" and not wave.bonds:
        document["switches"] = {name: {"os": "sonic"} for name in _leaves(wave)}
    if wave.group == "collective":
        document["collectives"] = {"launcher": names[0], "gpus_per_node": len(wave.rails)}
    if adapter is not None:
        document["lab"]["adapters"] = dict.fromkeys(names, adapter)
    return yaml.safe_dump(document, sort_keys=False)


def _rest(wave: Wave, model: Model) -> Mapping[str, Any]:
    """Return what is the user's, with the routing that a wave needs; nobody else uses a lab."""
    needed = {"dedicated": True, **({} if wave.routing is None else {"routing": wave.routing})}
    return {**model.rest, "fabric": {**(model.rest.get("fabric") or {}), **needed}}


def _leaves(wave: Wave) -> list[str]:
    """Return the leaves of a wave, each once."""
    found = (wave.leaf(node, cell, rail) for node, cell in wave.nodes for rail in wave.rails)
    return list(dict.fromkeys(found))


def _rails(wave: Wave, node: str, cell: int) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for number, rail in enumerate(wave.rails):
        where = wave.leaf(node, cell, rail)
        netdevs = [f"ens{number + 1}f0np0", f"ens{number + 1}f1np1"]
        port = {"netdevs": netdevs} if wave.bonds else {"pci": _pci(BUS, number)}
        found[rail] = {**port, "leaf": where, "gpu": _pci(GPU_BUS, number)}
        if wave.layer == "Ethernet":
            found[rail]["network"] = f"10.{number + 1}.0.0/16"
    return found


def _pci(first: int, number: int) -> str:
    domain, place = divmod(number, IN_DOMAIN)
    return f"{domain:04x}:{first + place * APART:02x}:00.0"


def cable_plan(wave: Wave) -> str:
    """Return the plan of the wave's cables: port by port on the leaf of each."""
    rows = ["node,rail,switch,switch_port"]
    used: dict[str, int] = {}
    for node, cell in wave.nodes:
        for rail in wave.rails:
            switch = wave.leaf(node, cell, rail)
            used[switch] = used.get(switch, 0) + 1
            kind = "swp" if wave.layer == "Ethernet" else ""
            rows.append(f"{node},{rail},{switch},{kind}{used[switch]}")
    return "\n".join([*rows, ""])
