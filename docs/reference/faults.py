"""The faults of the lab: what each does, why it happens in a real fabric, and what catches it."""

from __future__ import annotations

from docs.reference.checks import SUITES
from docs.reference.markdown import code, codes, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric.cli.faults import listed

PLACES = {"port": "NODE:RAIL", "node": "NODE"}


def page() -> str:
    """Return the page."""
    faults, catchers = listed(None, SUITES)
    rows = []
    for fault in faults:
        only = f" ({fault.layers[0]} only)" if len(fault.layers) == 1 else ""
        places = " or ".join(PLACES.get(place, place) for place in fault.places)
        rows.append(
            (
                code(fault.name),
                f"{text(places)}{only}",
                f"{text(fault.text)}. *In a real fabric:* {text(fault.cause)}",
                codes(catchers[fault.name]),
            )
        )
    return a_page(
        "Faults of the lab",
        f"{len(faults)} faults. `pytest suites/ --fabric-fault NAME@TARGET` breaks the lab in one "
        "way, `--fabric-prove` in all of them. `pytest-fabric faults [PATTERN]` prints this list.",
        table(("fault", "target", "what it is", "caught by"), rows),
    )
