"""The checks of the shipped suites: what each measures, holds against, and is proven by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs.reference.markdown import code, codes, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric.declare import layer_of

SUITES = Path(__file__).parents[2] / "suites"


def _calls(node: ast.FunctionDef, name: str) -> Iterator[ast.Call]:
    for one in node.decorator_list:
        if isinstance(one, ast.Call) and ast.unparse(one.func).rpartition(".")[2] == name:
            yield one


def _row(node: ast.FunctionDef) -> tuple[str, str, str, str]:
    declared = [ast.unparse(arg) for call in _calls(node, "measure") for arg in call.args]
    caught = [ast.literal_eval(arg) for call in _calls(node, "catches") for arg in call.args]
    limits = dict.fromkeys(re.findall(r"limits\['([\w.]+)'\]", ast.unparse(node)))
    asked = [arg.arg for arg in node.args.args]
    return code(node.name), codes(declared or asked), codes(limits), codes(caught)


def _section(path: Path) -> str:
    module = ast.parse(path.read_text())
    tests = [
        node
        for node in module.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    head = ("test", "measures", "limit", "catches")
    return "\n\n".join(
        (
            f"## {path.name}",
            f"Layer {code(layer_of(path.name))}. {text(ast.get_docstring(module) or '')}",
            table(head, map(_row, tests)).rstrip(),
        )
    )


def page() -> str:
    """Return the page."""
    files = sorted(SUITES.glob("test_*.py"))
    return a_page(
        "The checks of the suites",
        "A test runs once for each target that its measurement is made on. A test without a limit "
        "says itself what is right. *Catches* are the [faults of the lab](faults.md) that it "
        "must find: `--fabric-prove` sees that it does.",
        *map(_section, files),
    )
