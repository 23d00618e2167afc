"""`pytest-fabric parse`: what a tool printed, as JSON."""

from __future__ import annotations

from typing import Any

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import TOOLS

#: Exit statuses: a recognised result, an error that the tool reported, anything else.
RECOGNISED, TOOL_ERROR, NOT_RECOGNISED = 0, 1, 2


def parse_text(tool: str, text: str) -> tuple[dict[str, Any], int]:
    """Return the JSON document and the exit status for a text that a tool printed.

    The document has `tool`, `version` (null when the text does not show it), `results`, and `error`
    (null, or `kind` and `message`). Beside an error, results are what was whole before it. The
    output of perftest's `-V` alone is recognised and has no results. Raises ValueError for an
    unknown tool.
    """
    if tool not in TOOLS:
        raise ValueError(f"expected a tool of {', '.join(TOOLS)}, got {tool!r}")
    parser = TOOLS[tool]
    document: dict[str, Any] = {
        "tool": tool,
        "version": parser.version(text),
        "results": [],
        "error": None,
    }
    try:
        document["results"] = parser.records(text)
    except ToolError as error:
        document["error"] = {"kind": error.kind, "message": str(error)}
        document["results"] = list(error.before)
        return document, TOOL_ERROR
    except NotRecognisedError as error:
        document["error"] = {"kind": "not_recognised", "message": str(error)}
        return document, NOT_RECOGNISED
    return document, RECOGNISED
