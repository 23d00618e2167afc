"""Faults of the switch end of a cable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET, Port

LAYERS = (ETHERNET,)


def _edge(**changed: object) -> Callable[[Port], Port]:
    return lambda port: replace(port, edge=replace(port.edge, **changed))  # type: ignore[arg-type]  # checked when it is injected


FAULTS: tuple[Fault, ...] = (
    Fault(
        "switch_pfc_off",
        ("port",),
        "the switch has PFC off on every priority of its end of the cable",
        "a port that was added, or split, after QoS had been set up",
        on_port=_edge(lossless=()),
        layers=LAYERS,
    ),
    Fault(
        "switch_ecn_off",
        ("port",),
        "the lossless queues of the switch port have no thresholds, so that nothing is marked",
        "a WRED profile that was bound to other ports only",
        on_port=_edge(marks=()),
        layers=LAYERS,
    ),
    Fault(
        "switch_fec",
        ("port",),
        "the switch end has no FEC, the host's end has it",
        "a port template for copper, or auto-negotiation on one side only",
        on_port=_edge(fec="none"),
        layers=LAYERS,
    ),
    Fault(
        "switch_errors",
        ("port",),
        "the switch takes in damaged frames, and blocks that FEC cannot correct",
        "a dirty connector in the direction to the switch, which the host does not see",
        on_port=_edge(errors_per_s=3.0),
        layers=LAYERS,
    ),
    Fault(
        "switch_drops",
        ("port",),
        "the lossless queues of the switch port drop frames of others, now and then",
        "headroom that is too small, or another class that shares the queue",
        on_port=_edge(drops_per_s=2.0),
        layers=LAYERS,
    ),
)
