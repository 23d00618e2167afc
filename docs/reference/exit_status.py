"""The exit statuses of pytest and of the companion command."""

from __future__ import annotations

import re

import pytest

from docs.reference.command import commands
from docs.reference.markdown import code, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric.active import EXIT_INCOMPLETE

MEANINGS = {
    pytest.ExitCode.OK: "every check passed, was waived, or was skipped with a reason",
    pytest.ExitCode.TESTS_FAILED: "something was measured and is outside its limit",
    pytest.ExitCode.INTERRUPTED: "the run was interrupted; the run directory holds what it has",
    pytest.ExitCode.INTERNAL_ERROR: "an error in pytest or in a plugin",
    pytest.ExitCode.USAGE_ERROR: "an option or `cluster.yaml` is wrong; nothing was contacted",
    pytest.ExitCode.NO_TESTS_COLLECTED: "no test was selected",
}

#: Statuses that newer versions of pytest have.
OTHER = "as pytest documents it"

INCOMPLETE = (
    "nothing failed, but something could not be measured: errors, nothing but skips, or less "
    "coverage than `min_coverage`"
)


def page() -> str:
    """Return the page."""
    rows = [(str(int(one)), text(MEANINGS.get(one, OTHER))) for one in pytest.ExitCode]
    told = []
    for name, command in commands():
        words = " ".join(f"{command.help or ''} {command.epilog or ''}".split())
        said = re.search(r"Exit status:? (?:of all: )?(.*?)\.(?: |$)", words)
        told.append(
            (code(f"pytest-fabric {name}"), text(said.group(1) if said else "0 done, 4 wrong call"))
        )
    return a_page(
        "Exit statuses",
        "## pytest",
        table(("status", "meaning"), [*rows, (str(EXIT_INCOMPLETE), text(INCOMPLETE))]),
        "A proof (`--fabric-prove`) ends with 0 when no fault is uncaught, no test unproven and no "
        "alarm false, else with 1.",
        "## pytest-fabric",
        table(("command", "status"), told),
    )
