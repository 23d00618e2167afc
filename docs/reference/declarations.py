"""What a suite may import: the measurements that a test can declare, and units."""

from __future__ import annotations

import inspect

import pytest_fabric
from docs.reference.markdown import doc
from docs.reference.markdown import page as a_page
from pytest_fabric import declare, markers, units


def _section(name: str) -> str:
    # From where it is defined: once `pytest_fabric.measure` is loaded, the package's attribute of
    # that name is the subpackage.
    home = next(one for one in (declare, markers, units) if hasattr(one, name))
    thing = getattr(home, name)
    signature = str(inspect.signature(thing, eval_str=False)).replace("'", "")
    return f"### {name}\n\n```text\n{name}{signature}\n```\n\n{doc(thing)}"


def page() -> str:
    """Return the page."""
    measured = [name for name in pytest_fabric.__all__ if hasattr(declare, name)]
    others = [name for name in pytest_fabric.__all__ if name not in measured]
    return a_page(
        "What suites import",
        "All of this comes from `pytest_fabric`.",
        "## Measurements",
        "For `@measure(...)`. Equal ones on the same target are made once, however many tests "
        "assert about them. What is left out comes from `traffic:` of the profile.",
        *(_section(name) for name in measured),
        "## Markers and units",
        "What stands above a test, and what values are compared with.",
        *(_section(name) for name in others),
    )
