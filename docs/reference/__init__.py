"""The pages of the reference, each made from the code that it describes, so never out of date."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from docs.reference import (
    checks,
    cluster,
    command,
    counters,
    declarations,
    exit_status,
    faults,
    fixtures,
    limits,
    markers,
    metrics,
    options,
    profiles,
    run_directory,
    tools,
)

#: By name of the page, `reference/NAME.md`: what returns its Markdown.
PAGES: Mapping[str, Callable[[], str]] = {
    "options": options.page,
    "command": command.page,
    "cluster": cluster.page,
    "limits": limits.page,
    "metrics": metrics.page,
    "profiles": profiles.page,
    "checks": checks.page,
    "declarations": declarations.page,
    "fixtures": fixtures.page,
    "markers": markers.page,
    "counters": counters.page,
    "faults": faults.page,
    "tools": tools.page,
    "run-directory": run_directory.page,
    "exit-status": exit_status.page,
}
