"""The JSON schema of a cluster file, for completion and checks in editors."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from types import ModuleType
from typing import Any

from pytest_fabric import metrics
from pytest_fabric.config import models, sections, switches, written
from pytest_fabric.config.limits import EXAMPLES
from pytest_fabric.config.written import SELECTORS, ClusterFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def cluster_schema() -> dict[str, Any]:
    """Return the JSON schema of a cluster file; keys carry the text that explains them."""
    schema = ClusterFile.model_json_schema()
    notes = _notes(sections) | _notes(models) | _notes(switches) | _notes(written)
    for name, definition in [*schema["$defs"].items(), ("ClusterFile", schema)]:
        for key, value in definition.get("properties", {}).items():
            text = _note(name, key, notes)
            if text:
                value["description"] = text
    definitions = schema["$defs"]
    del definitions["Link"]["required"]  # a profile may inherit its layer
    definitions["RailKeys"]["oneOf"] = [{"required": [kind]} for kind in SELECTORS]
    definitions["ProfileEntry"]["properties"]["limits"].update(_limits())
    schema["properties"]["nodes"]["minProperties"] = 1
    return {"$schema": DIALECT, **schema}


def _limits() -> dict[str, Any]:
    """Return the schema of limits: every metric by name, and those with a message size."""
    tools = "|".join((*metrics.LATENCY_TOOLS, *metrics.BANDWIDTH_TOOLS))
    statistics = "|".join((*metrics.LATENCY_STATISTICS, *metrics.BANDWIDTH_STATISTICS))
    return {
        "properties": {name: _limit(metrics.unit_of(name) or "") for name in metrics.names()},
        "patternProperties": {f"^({tools})\\.[1-9][0-9]*\\.({statistics})$": _limit("s")},
        "additionalProperties": False,
    }


def _limit(unit: str) -> dict[str, Any]:
    text = {"type": "string", "examples": [EXAMPLES[unit]]}
    return {"anyOf": [text, {"type": "array", "items": text, "minItems": 1}]}


def _note(model: str, key: str, notes: dict[str, dict[str, str]]) -> str:
    """Return the text below a model's field, or below that of the model it is derived from."""
    homes = (written, sections, switches)
    found = next(getattr(home, model) for home in homes if hasattr(home, model))
    texts = (notes.get(base.__name__, {}).get(key, "") for base in found.__mro__)
    return next(filter(None, texts), "")


def _notes(module: ModuleType) -> dict[str, dict[str, str]]:
    """Return the texts that stand below the fields of a module's classes."""
    body = ast.parse(inspect.getsource(module)).body
    return {node.name: dict(_fields(node)) for node in body if isinstance(node, ast.ClassDef)}


def _fields(node: ast.ClassDef) -> list[tuple[str, str]]:
    return [
        (field.target.id, text.value.value)
        for field, text in pairwise(node.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    ]
