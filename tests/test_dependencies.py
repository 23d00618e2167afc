"""What the package imports is what it declares: else it fails where only it was installed."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]

#: Modules whose distribution has another name.
DISTRIBUTIONS = {
    "yaml": "PyYAML",
    "_pytest": "pytest",
    "xdist": "pytest-xdist",
    "pytest_html": "pytest-html",
    "junit_xml": "junit-xml",
    "cryptography": "paramiko",  # which has its keys from there
    "execnet": "pytest-xdist",  # whose workers it runs
    "pydantic_core": "pydantic",
}


def imported(path: Path) -> Iterator[str]:
    """Yield the top of every module that a file imports from outside."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.module.partition(".")[0]


def declared() -> set[str]:
    text = (REPOSITORY / "pyproject.toml").read_text()
    block = text.partition("\ndependencies = [")[2].partition("\n]")[0]
    return {name.lower() for name in re.findall(r'^\s*"([\w-]+)', block, re.M)}


def test_every_import_is_a_declared_dependency() -> None:
    names = {
        name for path in (REPOSITORY / "pytest_fabric").rglob("*.py") for name in imported(path)
    }
    outside = names - sys.stdlib_module_names - {"pytest_fabric", "__future__"}

    assert len(outside) > 5
    assert {n for n in outside if DISTRIBUTIONS.get(n, n).lower() not in declared()} == set()
