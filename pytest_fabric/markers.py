"""The markers: what a test asserts about, and which faults it must find."""

from __future__ import annotations

import importlib

import pytest

from pytest_fabric.declare import LAYERS, Declaration, layer_of

# Suites import `measure` from our package. Python puts a folder of that name in its place when it
# loads the folder, which has to be over by then: a later import of what is in it changes nothing.
importlib.import_module("pytest_fabric.measure")

#: Lines for `pytest --markers`.
LINES = (
    "catches(fault, ...): the faults of the lab's catalogue that this test must find, as in "
    '@catches("pcie_width"); see `--fabric-fault`',
    "measure(declaration): measure this on every pair, port or node of the inventory, and hand the "
    "result to the test, as in @measure(ib_write_lat(size=4))",
)


def layer_lines() -> tuple[str, ...]:
    """Return a line for `pytest --markers` for each layer of the suites."""
    return tuple(f"{name}: layer of the fabric suites: {text}" for name, text in LAYERS.items())


def mark_layer(item: pytest.Item) -> None:
    """Let `-m LAYER` select an item of a suite's module: `-m link` those of `test_1_link.py`."""
    layer = layer_of(item.nodeid.partition("::")[0])
    if layer in LAYERS:
        item.add_marker(layer)


def measure(declaration: Declaration) -> pytest.MarkDecorator:
    """Return the marker that declares a measurement. Raises TypeError for anything else."""
    if not isinstance(declaration, Declaration):
        raise TypeError(
            f"measure({declaration!r}): expected a measurement such as ib_write_lat(size=4)"
        )
    return pytest.mark.measure(declaration)


def catches(*faults: str) -> pytest.MarkDecorator:
    """Return the marker that says which faults a test must find. Raises TypeError for none."""
    if not faults or not all(isinstance(fault, str) and fault for fault in faults):
        raise TypeError(f"catches{faults!r}: expected names of faults such as 'pcie_width'")
    return pytest.mark.catches(*faults)


def is_ours(item: pytest.Item) -> bool:
    """Return whether an item carries our marker: other projects may have one of the same name."""
    mark = item.get_closest_marker("measure")
    return mark is not None and any(isinstance(arg, Declaration) for arg in mark.args)


def declared(definition: pytest.Item) -> Declaration | None:
    """Return what a test function declares; its own marker wins over its class's.

    Raises UsageError when one function carries two, which could not be told apart in a report.
    """
    own = [mark for mark in definition.own_markers if mark.name == "measure"]
    if len(own) > 1:
        raise pytest.UsageError(
            f"{definition.nodeid}: expected one measure marker on a function, found {len(own)}: "
            "write one test for each"
        )
    mark = definition.get_closest_marker("measure")
    if mark is None:
        return None
    if len(mark.args) != 1 or not isinstance(mark.args[0], Declaration):
        raise pytest.UsageError(
            f"{definition.nodeid}: expected @measure(ib_write_lat(size=4)) or the like"
        )
    return mark.args[0]
