"""Results of parsers as plain records, fit for JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def plain(result: Any) -> dict[str, object]:  # noqa: ANN401 - any frozen dataclass
    """Return the fields of a dataclass, its tuples as lists."""
    values = ((field.name, getattr(result, field.name)) for field in fields(result))
    return {name: list(x) if isinstance(x, tuple) else x for name, x in values}
