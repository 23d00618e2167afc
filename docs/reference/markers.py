"""The markers of tests, the layers, and the hooks."""

from __future__ import annotations

import inspect

from docs.reference.markdown import code, doc, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric import hookspecs, markers
from pytest_fabric.declare import LAYERS


def page() -> str:
    """Return the page."""
    marked = [line.partition(": ") for line in markers.LINES]
    hooks = inspect.getmembers(hookspecs, inspect.isfunction)
    return a_page(
        "Markers, layers and hooks",
        "`pytest --markers` prints the first two tables. `measure` and `catches` are imported from "
        "`pytest_fabric`.",
        table(("marker", "meaning"), [(code(name), text(words)) for name, _, words in marked]),
        "## Layers",
        "`-m LAYER` selects the tests of one layer. A module belongs to a layer by its name: "
        "`test_4_pair.py`, or `test_pair.py`, is of `pair`.",
        table(("layer", "what it is about"), [(code(n), text(t)) for n, t in LAYERS.items()]),
        "## Hooks",
        "For `conftest.py` and other plugins.",
        table(
            ("hook", "meaning"),
            [
                (code(f"{n}()"), doc(h).replace("\n\n", " "))
                for n, h in hooks
                if h.__module__ == hookspecs.__name__
            ],
        ),
    )
