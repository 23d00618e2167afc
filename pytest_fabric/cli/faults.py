"""`pytest-fabric faults`: what the lab can have, why it happens, and which tests catch it."""

from __future__ import annotations

import ast
import fnmatch
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from pytest_fabric.config.wording import like
from pytest_fabric.errors import ConfigError
from pytest_fabric.prove.catalogue import HOOK, Fault, read
from pytest_fabric.report.clean import clean_line

#: Names start here in the list of one line each.
INDENT = "  "


def listed(pattern: str | None, suites: Path | None) -> tuple[list[Fault], dict[str, list[str]]]:
    """Return the faults that a pattern matches, and the tests that catch each. Raises ConfigError.

    A pattern is a part of a name, or has `*` and `?` as file names have.
    """
    files = list(_files(suites)) if suites is not None else []
    found = read([path for path in files if _has_hook(path)])
    wanted = [fault for fault in found if pattern is None or _matches(fault.name, pattern)]
    if not wanted:
        kind = like("a part of a fault's name", pattern or "", [fault.name for fault in found])
        raise ConfigError(f"faults: expected {kind}, got {pattern!r}: without it all are listed")
    catchers: dict[str, list[str]] = {fault.name: [] for fault in wanted}
    for path in files:
        for test, names in declared(path):
            for name in names:
                if name in catchers and test not in catchers[name]:
                    catchers[name].append(test)
    return wanted, catchers


def _matches(name: str, pattern: str) -> bool:
    return pattern in name or fnmatch.fnmatchcase(name, pattern)


def _files(suites: Path) -> Iterator[Path]:
    if not suites.is_dir():
        raise ConfigError(f"--suites {suites}: expected a folder with tests, found none")
    for path in sorted(suites.rglob("*.py")):
        if path.name == "conftest.py" or path.name.startswith("test_"):
            yield path


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text())
    except (SyntaxError, ValueError, OSError) as error:
        raise ConfigError(f"{path}: expected Python: {error}") from None


def _has_hook(path: Path) -> bool:
    body = _tree(path).body if path.name == "conftest.py" else []
    return any(isinstance(node, ast.FunctionDef) and node.name == HOOK for node in body)


def declared(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each test of a file with the faults that it, or its class, says it catches.

    The file is read and not run: names that are computed are not seen.
    """
    for node in _tree(path).body:
        if isinstance(node, ast.ClassDef):
            of_all = _caught(node)
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name.startswith("test_"):
                    yield inner.name, [*of_all, *_caught(inner)]
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name, _caught(node)


def _caught(node: ast.ClassDef | ast.FunctionDef) -> list[str]:
    calls = [one for one in node.decorator_list if isinstance(one, ast.Call)]
    named = [call for call in calls if ast.unparse(call.func).rpartition(".")[2] == "catches"]
    return [
        arg.value
        for call in named
        for arg in call.args
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
    ]


def as_json(faults: Sequence[Fault], catchers: Mapping[str, Sequence[str]]) -> str:
    """Return the list for programs."""
    return json.dumps(
        [{**asdict(f), "caught_by": list(catchers[f.name])} for f in faults], indent=2
    )


def as_lines(faults: Sequence[Fault], catchers: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the list for people: how to give the fault, what it does, why, and who sees it."""
    for fault in faults:
        places = " or ".join({"port": "NODE:RAIL", "node": "NODE"}.get(p, p) for p in fault.places)
        only = f", {fault.layers[0]} only" if len(fault.layers) == 1 else ""
        yield f"{fault.name}@{places}{only}"
        yield f"{INDENT}{clean_line(fault.text)}"
        yield f"{INDENT}cause: {clean_line(fault.cause)}"
        if catchers[fault.name]:
            yield f"{INDENT}caught by: {', '.join(catchers[fault.name])}"
