"""The lab of a wave as a cluster file: the user's profile on as many nodes as the faults need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pytest_fabric.config import Cluster
from pytest_fabric.prove.plan import Wave, leaf

#: Where the rails of a node are, as in a usual machine.
SLOTS = ("0000:1a:00.0", "0000:3a:00.0")
GPUS = ("0000:1b:00.0", "0000:3b:00.0")

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
    )


def cluster_file(wave: Wave, model: Model) -> str:
    """Return the cluster file of a wave's lab."""
    profiles, profile = dict(model.profiles), model.profile
    adapter = model.adapter
    if wave.layer != model.layer:
        profile, adapter = "proof", None
        profiles[profile] = BUILTIN[wave.layer]
    names = [node for node, _ in wave.nodes]
    document: dict[str, Any] = {
        "name": f"prove {wave.name}",
        "transport": "lab",
        "lab": {"seed": model.seed, "time": SCALE_TOGETHER if wave.group == "together" else SCALE},
        **model.rest,
        "nodes": {
            node: {"profile": profile, "rails": _rails(wave, node, cell)}
            for node, cell in wave.nodes
        },
        "cables": "cables.csv",
        "profiles": profiles,
        "pairs": {"strategy": "list", "list": [f"{one}..{other}" for one, other in wave.pairs]},
    }
    if adapter is not None:
        document["lab"]["adapters"] = dict.fromkeys(names, adapter)
    return yaml.safe_dump(document, sort_keys=False)


def _leaf(wave: Wave, node: str, cell: int, rail: str) -> str:
    """Return the leaf of a port: its own where all ports of a leaf but one would only send."""
    return f"leaf-{node}-{rail}" if wave.group == "together" else leaf(cell, rail)


def _rails(wave: Wave, node: str, cell: int) -> dict[str, dict[str, str]]:
    found = {}
    for number, rail in enumerate(wave.rails):
        where = _leaf(wave, node, cell, rail)
        found[rail] = {"pci": SLOTS[number], "leaf": where, "gpu": GPUS[number]}
        if wave.layer == "Ethernet":
            found[rail]["network"] = f"10.{number + 1}.0.0/16"
    return found


def cable_plan(wave: Wave) -> str:
    """Return the plan of the wave's cables: port by port on the leaf of each."""
    rows = ["node,rail,switch,switch_port"]
    used: dict[str, int] = {}
    for node, cell in wave.nodes:
        for rail in wave.rails:
            switch = _leaf(wave, node, cell, rail)
            used[switch] = used.get(switch, 0) + 1
            kind = "swp" if wave.layer == "Ethernet" else ""
            rows.append(f"{node},{rail},{switch},{kind}{used[switch]}")
    return "\n".join([*rows, ""])
