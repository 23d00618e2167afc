"""The keys of cluster.yaml, from its JSON schema."""

from __future__ import annotations

import json
from typing import Any

from docs.reference.markdown import code, codes, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric.config import cluster_schema

Schema = dict[str, Any]

#: Where each section stands.
PLACES = {
    "NodeEntry": "nodes.SET",
    "RailKeys": "rails.RAIL",
    "ProfileEntry": "profiles.NAME",
    "PairKeys": "pairs",
    "Waiver": "waivers[]",
    "SwitchKeys": "switches.SET",
}


def _reference(value: Schema) -> str | None:
    """Return the definition that a value, or what it holds, is one of."""
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    inner = [*value.get("anyOf", ()), *value.get("allOf", ())]
    inner += [v for k, v in value.items() if k in ("items", "additionalProperties")]
    found = (_reference(one) for one in inner if isinstance(one, dict))
    return next(filter(None, found), None)


def _values(value: Schema) -> str:
    """Return what may stand there, briefly."""
    one = next((v for v in value.get("anyOf", ()) if v.get("type") != "null"), value)
    name = _reference(value)
    if name is not None:
        return f"[{name}](#{name.lower()})"
    if "enum" in one:
        return codes(str(choice) for choice in one["enum"])
    if "examples" in one:
        return f"as {code(str(one['examples'][0]))}"
    kind = one.get("type", "")
    low, high = one.get("minimum"), one.get("maximum")
    if low is not None and high is not None:
        return f"{low} to {high}"
    if one.get("format"):
        return str(one["format"])
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _row(key: str, value: Schema, required: list[str]) -> tuple[str, str, str, str]:
    default = value.get("default")
    shown = "" if default in (None, {}, []) or isinstance(default, dict) else json.dumps(default)
    must = "required" if key in required else code(shown)
    return code(key), _values(value), must, text(value.get("description", ""))


def _section(name: str, schema: Schema) -> str:
    rows = [_row(k, v, schema.get("required", [])) for k, v in schema["properties"].items()]
    about = text(schema.get("description", "").partition("\n\n")[0])
    place = f" Stands at {code(PLACES[name])}." if name in PLACES else ""
    return "\n\n".join(
        (f"## {name}", f"{about}{place}", table(("key", "value", "default", "meaning"), rows))
    ).rstrip()


def page() -> str:
    """Return the page."""
    schema = cluster_schema()
    definitions = {n: one for n, one in schema["$defs"].items() if one.get("properties")}
    return a_page(
        "cluster.yaml",
        "Every key. `pytest-fabric schema > cluster.schema.json` writes the schema that this page "
        "is made from, and `# yaml-language-server: $schema=cluster.schema.json` in the first line "
        "lets editors complete and check the file. A key that is not here is an error.",
        _section("ClusterFile", schema),
        *(_section(name, one) for name, one in definitions.items()),
    )
