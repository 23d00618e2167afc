"""What a port's counters say, by its driver: names, order and freshness are the driver's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fabric.lab import growth
from pytest_fabric.lab.drivers import bnxt, efa, ice
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import Tally

Counters: TypeAlias = Callable[[Port, Tally], dict[str, int]]


@dataclass(frozen=True)
class Shape:
    """What a driver shows: `counters/`, `hw_counters/`, `ethtool -S`, and of that what is pause.

    `is_hardware_live` says that each read of `hw_counters/` asks the card, even where its network
    driver shows what was written some time ago.
    """

    pma: Counters
    hardware: Counters
    ethernet: Counters
    pauses: Counters
    is_hardware_live: bool = False


SHAPES = {
    "mlx5_core": Shape(growth.pma, growth.queue, growth.ethernet, growth.pauses),
    "bnxt_en": Shape(bnxt.pma, bnxt.hardware, bnxt.ethernet, bnxt.pauses),
    "efa": Shape(efa.none, efa.hardware, efa.none, efa.none, is_hardware_live=True),
    "ice": Shape(ice.pma, ice.hardware, ice.ethernet, ice.pauses, is_hardware_live=True),
}


def of(port: Port) -> Shape:
    """Return the shape of a port's driver."""
    return SHAPES[port.adapter.driver]
