"""A leaf of five nodes as a run leaves it, to be broken by the tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_fabric.report.about import About, Cabled
from pytest_fabric.report.context import Device
from pytest_fabric.report.pattern import Known
from pytest_fabric.report.sections.record import Kept, RunRecord
from pytest_fabric.report.summary import Run
from pytest_fabric.results import (
    Exposure,
    Fact,
    Growth,
    Measured,
    NodeFacts,
    PciHop,
    RdmaPort,
    Reading,
    Verdict,
)

from .examples import ABOUT, LATENCY, planned, verdict

NODES = tuple(f"gpu00{number}" for number in range(1, 6))
PORTS = tuple(f"{node}:rail0" for node in NODES)
PAIRS = tuple(f"{one}..{other}" for one, other in zip(PORTS, (*PORTS[1:], PORTS[0]), strict=True))

#: Metrics with a limit, as the inventory declares them.
LIMITS = ("link.speed", "link.raw_ber", "ib_write_lat.p99", "ib_write_bw.average", "host.governor")

WORST = Exposure(85_878.0, 4e11)

OF_NODES = "host.governor"


def judged(
    target: str, metric: str, outcome: str = "passed", value: float | str = 1.0, **more: object
) -> Verdict:
    """Return a verdict on a metric; its check is called after it."""
    layer = "pair" if ".." in target else metric.partition(".")[0]
    layer = {"module": "link", "pcie": "link", "host": "host", "ping": "reach"}.get(layer, layer)
    made = verdict(target, outcome, f"test_{metric.replace('.', '_')}", value=value, limit="<= 5")
    unit = "s" if "lat." in metric else "b/s" if "bw." in metric else ""
    has_value = outcome in ("passed", "failed", "waived")
    said: dict[str, Any] = {
        "layer": layer,
        "metric": metric if has_value else None,
        "value": value if has_value else None,
        "unit": unit if has_value else None,
        "limit": "<= 5" if has_value else None,
        "message": f"{target}: {metric} is {outcome}",
    }
    return replace(made, **{**said, **more})


def healthy() -> dict[tuple[str, str], Verdict]:
    """Return the verdicts of a sound leaf by metric and target."""
    ports = ("link.speed", "link.raw_ber", "wiring.misplaced")
    pairs = ("ib_write_lat.4.p99", "ib_write_bw.1048576.average")
    found = [judged(port, metric) for port in PORTS for metric in ports]
    found += [judged(pair, metric) for pair in PAIRS for metric in pairs]
    found += [judged(node, OF_NODES, value="performance") for node in NODES]
    return {(v.metric or "", v.target): v for v in found}


def with_these(*changed: Verdict) -> list[Verdict]:
    """Return the verdicts of a sound leaf with others in their place, or beside them."""
    found = healthy()
    for number, one in enumerate(changed):
        names = [key for key, v in found.items() if v.nodeid == one.nodeid]
        found[names[0] if names else (f"new {number}", one.target)] = one
    return list(found.values())


def port_of(pci: str = "0000:1a:00.0") -> RdmaPort:
    """Return what a node says of its port."""
    return RdmaPort(
        device="mlx5_0",
        number=1,
        pci=pci,
        driver="mlx5_core",
        guid="0c42",
        firmware="28.39",
        psid="MT_0838",
        netdevs=("enp26s0np0",),
        link_layer="Ethernet",
        state="ACTIVE",
        physical_state="LinkUp",
        speed_bps=4e11,
        width=4,
        active_mtu=4096,
        gids=(),
        numa_node=0,
        local_cpus="0-7",
        irq_cpus=(),
        traffic_class=None,
        pcie=(PciHop(pci, 3.2e10, 16, 3.2e10, 16),),
    )


def link(serial: str = "MT23", light: float = 1.0, **facts: Fact) -> Mapping[str, Fact]:
    """Return what a link says of itself."""
    return {
        "link.raw_ber": Fact(3e-9, detail=("counted", "by lane: 1, 2"), exposure=WORST),
        "link.flaps": Fact(2, detail=("up for 24.0 h",)),
        "module.vendor": Fact("NVIDIA"),
        "module.part": Fact("MMA4"),
        "module.serial": Fact(serial),
        "module.rx_power_min": Fact(light, detail=("received, by lane: 1, 1 dBm",)),
        **{name.replace("__", "."): fact for name, fact in facts.items()},
    }


def host(*lines: str) -> Mapping[str, Fact]:
    """Return what a node says of its kernel's log."""
    return {"host.log_link_down": Fact(len(lines), detail=lines)}


def about(**changes: object) -> About:
    """Return what the run is."""
    made = replace(
        ABOUT,
        ended="2026-01-01T00:10:00+00:00",
        exit_status=0,
        interrupted=False,
        ports={port: f"{port[:6]} pci 0000:1a:00.0" for port in PORTS},
        leaves=dict.fromkeys(PORTS, "leaf-0"),
        declared=PORTS,
        cables={port: Cabled("leaf-0", f"swp{n}") for n, port in enumerate(PORTS, 1)},
        profiles=dict.fromkeys(PORTS, "ours"),
        limits={"ours": LIMITS},
        switches={"leaf-0": "sonic"},
        suites={"suites/test_4_pair.py": "a" * 64},
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def record(
    verdicts: Sequence[Verdict],
    readings: Iterable[Reading] = (),
    growth: Sequence[Growth] = (),
    of: About | None = None,
    path: Path | None = None,
    problem: str | None = None,
) -> RunRecord:
    """Return the record of a run on the leaf."""
    said = of or about()
    nodes = {node: _node(node) for node in NODES}
    window = replace(LATENCY, growth=tuple(growth)) if growth else LATENCY
    usual = [Reading(node, "link", {f"{node}:rail0": link()}) for node in NODES]
    kept = Kept(
        measured=[Measured(window)],
        facts=nodes,
        readings={(r.topic, r.node): r for r in (*usual, *readings)},
        problem=problem,
    )
    run = Run(
        [planned(v) for v in verdicts],
        verdicts,
        said.declared,
        said.excluded,
        known=Known(tuple(growth), said.leaves),
    )
    devices = dict.fromkeys(PORTS, Device("mlx5_0", 1))
    waivers = said.waivers
    return RunRecord(
        run, leaves=said.leaves, waivers=waivers, kept=kept, about=said, devices=devices, path=path
    )


def _node(name: str) -> NodeFacts:
    return NodeFacts(name, "6.8", "6.24", {}, None, (0,), {}, {}, (port_of(),))
