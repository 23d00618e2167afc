"""JSON schemas of the files of a run directory, made from the records that are written there."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from pytest_fabric.report.about import About
from pytest_fabric.report.context import Context
from pytest_fabric.report.planned import Planned
from pytest_fabric.report.records import MEASUREMENT_KEYS
from pytest_fabric.report.retested import Retested
from pytest_fabric.report.tickets.record import Tickets
from pytest_fabric.report.typed import WORDS
from pytest_fabric.results import (
    Bandwidth,
    Growth,
    Latency,
    Measurement,
    NodeFacts,
    Reading,
    Verdict,
)

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

TEXT: Schema = {"type": "string"}


def of(hint: object) -> Schema:
    """Return the schema of what a type of a field becomes in JSON."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (types.UnionType, Union):
        return {"anyOf": [of(one) for one in inner]}
    if origin is tuple:
        return {"type": "array", "items": of(inner[0])}
    if origin is Mapping:
        schema: Schema = {"type": "object", "additionalProperties": of(inner[1])}
        return schema if inner[0] is str else {**schema, "propertyNames": {"pattern": "^-?[0-9]+$"}}
    if hint is float:  # JSON has no infinity and no NaN
        return {"anyOf": [{"type": "number"}, {"enum": list(WORDS)}]}
    plain = {str: "string", bool: "boolean", int: "integer", type(None): "null"}
    if hint in plain:
        return {"type": plain[hint]}
    assert isinstance(hint, type)
    assert is_dataclass(hint)
    return _record(hint)


def _record(kind: type) -> Schema:
    """Return the schema of a record; fields with a default are absent in older directories."""
    hints = get_type_hints(kind)
    return {
        "type": "object",
        "description": (kind.__doc__ or "").strip().split("\n\n")[0].replace("\n", " "),
        "properties": {field.name: of(hints[field.name]) for field in fields(kind)},
        "required": [
            field.name
            for field in fields(kind)
            if field.default is MISSING and field.default_factory is MISSING
        ],
        "additionalProperties": False,
    }


def _measurement() -> Schema:
    """Return the schema of a line of measurements.jsonl, which is more compact than its record."""
    schema = _record(Measurement)
    known: Schema = schema["properties"]
    known["values"] = {"anyOf": [of(Latency), of(Bandwidth), {"type": "null"}]}
    known["values"]["description"] = "what the tool measured, null for an error or a ping"
    known["counters"] = {**of(tuple[Growth, ...]), "description": "counters that grew"}
    still = {
        "port": TEXT,
        "meaning": TEXT,
        "direction": of(str | None),
        "names": of(Mapping[str, int | None]),
    }
    known["still"] = {
        "type": "array",
        "description": "counters that did not grow: names, each with its priority",
        "items": _object(still),
    }
    known["raw"] = {**known["raw"], "description": "the file in raw/ that holds each stream"}
    schema["properties"] = {key: known[key] for key in MEASUREMENT_KEYS}
    required = {*schema["required"], "values", "counters", "still"}
    schema["required"] = [key for key in MEASUREMENT_KEYS if key in required]
    return schema


def _object(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _audit() -> Schema:
    moment = {"type": "string", "format": "date-time", "description": "UTC"}
    return _object({"time": moment, "node": TEXT, "command": TEXT})


#: By name: the file or files of a run directory, and the schema of one, or of one line of .jsonl.
FILES: Mapping[str, tuple[str, Callable[[], Schema]]] = {
    "run": ("run.json", lambda: of(About)),
    "plan": ("plan.json", lambda: {"type": "array", "items": of(Planned)}),
    "facts": ("facts/*.json", lambda: of(NodeFacts)),
    "readings": ("readings/*.json", lambda: of(Reading)),
    "measurements": ("measurements.jsonl", _measurement),
    "verdicts": ("verdicts.jsonl", lambda: of(Verdict)),
    "audit": ("audit.jsonl", _audit),
    "context": ("context.json", lambda: of(Context)),
    "tickets": ("tickets.json", lambda: of(Tickets)),
    "retest": ("retest.json", lambda: of(Retested)),
}


def schema(name: str) -> Schema:
    """Return the schema of a file of a run directory by its name. Raises KeyError."""
    files, make = FILES[name]
    kind = "each line" if files.endswith(".jsonl") else "the file"
    return {"$schema": DIALECT, "title": f"{files} of a run directory: {kind}", **make()}
