"""The fixtures of suites."""

from __future__ import annotations

import ast
import inspect

from docs.reference.markdown import code, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric import fixtures


def found() -> dict[str, str]:
    """Return the docstring of every fixture that a suite may ask for."""
    body = ast.parse(inspect.getsource(fixtures)).body
    return {
        node.name: ast.get_docstring(node) or ""
        for node in body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and any(ast.unparse(one) == "pytest.fixture" for one in node.decorator_list)
    }


def page() -> str:
    """Return the page."""
    rows = [(code(name), text(words.removeprefix("Return "))) for name, words in found().items()]
    return a_page(
        "Fixtures",
        "What a test may ask for. A test with `@measure(...)` runs once for each target of its "
        "measurement; one without runs for every pair, port or node, as its fixtures want.",
        table(("fixture", "is"), rows),
    )
