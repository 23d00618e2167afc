"""The files of a run directory, and what stands in each."""

from __future__ import annotations

import re
from typing import Any

from docs.reference.markdown import code, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric.report import rundir, schema

Schema = dict[str, Any]


def _files() -> list[tuple[str, str]]:
    """Return the files that the module which writes them lists."""
    found = re.findall(r"^(\S+\.\w+) +(\S.*)$", rundir.__doc__ or "", re.M)
    return [(code(name), text(words)) for name, words in found]


def _kind(value: Schema) -> str:
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(map(_kind, value["anyOf"])))
    if "enum" in value:
        return " or ".join(map(str, value["enum"]))
    if value.get("type") == "array":
        return f"list of {_kind(value['items'])}"
    return str(value.get("format") or value.get("type", ""))


def _section(name: str) -> str:
    files, _ = schema.FILES[name]
    found = schema.schema(name)
    record = found["items"] if found.get("type") == "array" else found
    required = record.get("required", [])
    rows = [
        (code(key), text(_kind(value)), "" if key in required else "may be absent")
        for key, value in record["properties"].items()
    ]
    return "\n\n".join(
        (
            f"## {files.replace('*', 'NODE')}",
            f"{text(record.get('description', ''))}",
            f"`pytest-fabric schema {name}` prints its JSON schema.",
            table(("key", "type", ""), rows).rstrip(),
        )
    )


def page() -> str:
    """Return the page."""
    return a_page(
        "The run directory",
        "Each run makes `fabric-runs/YYYYmmdd-HHMMSS/`; `fabric-runs/latest` points to the newest "
        "(`--fabric-out` for another place). Files are written as things happen: a run that is "
        "killed loses what was in flight.",
        table(("file", "holds"), _files()),
        "At the end `report.html` and `junit.xml` are added, unless `--fabric-no-reports` is "
        "given. Fields end with their unit: `_s`, `_bps`, `_bytes`.",
        *(_section(name) for name in schema.FILES),
    )
