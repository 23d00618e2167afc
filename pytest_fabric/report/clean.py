"""Text from nodes is hostile: take out what a terminal obeys and what XML and UTF-8 cannot hold."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

#: Escape sequences by ECMA-48: control sequences, control strings, then any other escape.
#: A string that is never terminated loses its introducer only, so that no text is swallowed.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)

#: Control characters but newline and tab, marks that reorder text (U+202A to 202E, U+2066 to
#: 2069), lone surrogates, and the two characters of the basic plane that XML 1.0 forbids.
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def clean(text: str) -> str:
    """Return `text` without escape sequences, control characters, and code points XML forbids."""
    return FORBIDDEN.sub("", _ESCAPES.sub("", text))


def clean_line(text: str) -> str:
    """Return `text` cleaned and on one line, every run of blanks as one."""
    return " ".join(clean(text).split())


def clean_record(value: object) -> object:
    """Return records, mappings and sequences as plain JSON values with every string cleaned.

    Infinities and NaN, which JSON lacks, become the words `inf`, `-inf` and `nan`.
    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: clean_record(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {clean(str(key)): clean_record(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_record(item) for item in value]
    return value
