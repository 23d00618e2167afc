"""The cut of the package: who may import whom, and how long things may be."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pytest_fabric"

BASE = {"errors", "units", "metrics", "rows", "said", "results", "declare"}
PURE = {"config", "tools", "counters", "pairs"}

#: What each part may import of ours, beside itself. Parts of one layer do not know each other.
MAY_IMPORT = {
    "errors": set(),
    "metrics": set(),
    "rows": set(),
    "said": set(),
    "results": {"rows", "said"},
    "declare": set(),
    "units": {"errors"},
    **dict.fromkeys(PURE, BASE),
    "judge": BASE | PURE,
    "transport": BASE,
    "measure": BASE | PURE | {"transport"},
    "report": BASE | PURE | {"judge"},
    "draft": BASE | PURE | {"transport", "measure"},
    "lab": BASE | {"config"},
    "markers": BASE,
    "__init__": BASE | {"markers"},
}

#: Layer 4: pytest and the command may import everything but the lab, which is another process.
GLUE = {
    "activate",
    "active",
    "answers",
    "beside",
    "cli",
    "closing",
    "confirming",
    "description",
    "distribution",
    "endpoints",
    "fixtures",
    "fleet",
    "followup",
    "grown",
    "group_answers",
    "grouping",
    "history",
    "hookspecs",
    "html_hooks",
    "inventory",
    "items",
    "ledgers",
    "live",
    "noted",
    "options",
    "outcome",
    "parametrize",
    "planning",
    "plugin",
    "policy",
    "profiles",
    "prove",
    "rpc",
    "run",
    "selection",
    "soak_windows",
    "soaking",
    "sources",
    "spans",
    "subjects",
    "switch_ends",
    "together",
    "topic_answers",
    "wants",
    "worker",
    "workers",
}

MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    """Return the folder or module right below the package that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """Yield the parts of ours that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.ImportFrom):
            pytest.fail(f"{path}: relative import")
        for name in names:
            parts = name.split(".")
            if parts[0] == "pytest_fabric" and len(parts) > 1:
                yield parts[1]


@cache
def known_parts() -> frozenset[str]:
    return frozenset(part_of(path) for path in MODULES)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_the_layers_above_it(path: Path) -> None:
    """Data flows one way, so no part imports a part of its own layer or below."""
    part = part_of(path)
    allowed = MAY_IMPORT.get(part, known_parts() - {"lab"}) | {part}
    strangers = {name for name in imported(path) if name in known_parts()} - allowed

    assert not strangers


def test_every_part_has_its_place_in_the_table() -> None:
    """A new part must be given a layer before it can import anything."""
    assert known_parts() == set(MAY_IMPORT) | GLUE


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_and_functions_stay_short(path: Path) -> None:
    """A module has at most 300 lines, a function 60."""
    text = path.read_text()
    long = [
        f"{node.name}: {(node.end_lineno or 0) - node.lineno + 1}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > 60
        and path.name != "options.py"  # a flat table of options
    ]

    assert text.count("\n") <= 300
    assert not long


def test_importing_the_plugin_loads_nothing_heavy() -> None:
    """The plugin is imported in every pytest run of its environment."""
    import subprocess

    heavy = "paramiko,pydantic,yaml,quantiphy,ClusterShell,rich,typer,numpy,junit_xml,plotly"
    code = (
        "import sys, pytest, pytest_fabric.plugin; "
        f"print([name for name in '{heavy}'.split(',') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
