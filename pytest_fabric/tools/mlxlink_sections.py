"""The sections of `mlxlink`: text or JSON to keys and words, whatever the section."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import strict_json
from pytest_fabric.tools.printable import printable

#: Emitted on a terminal, around values and before headings of errors.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

DEVICE = re.compile(r"=+ (\S+)(?: [^=]*)? =+")
TITLE = re.compile(r"[A-Z][A-Za-z0-9 ()/,._+-]{1,80}")
UNDERLINE = re.compile(r"-{4,}")
ROW = re.compile(r"([A-Za-z][^:]{0,60}?)\s*:(?: (.*))?")

#: Warnings of the tool, when both streams were caught together.
ASIDE = re.compile(r"-[WI]- .*")

#: Where a title stands without its line: somebody cut it away.
TITLES = frozenset(
    {
        "Operational Info",
        "Supported Info",
        "Troubleshooting Info",
        "Tool Information",
        "Module Info",
        "Physical Counters and BER Info",
    }
)

#: Keys that sections of other things use too: only these sections are read.
READ = TITLES - {"Supported Info"}

#: A string, so that what it holds is left alone, or what opens and closes a part of JSON.
BRACE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)

#: A line of JSON begins so, as a message of a tool or a shell does not.
JSON_LINE = re.compile(r'\s*["{}\[\],](?!.*-[EW]- ).*')

#: A section stands in `output`, in `result`, in the document: so many parts are open behind it.
SECTION_DEPTH = 3
OUTPUT = re.compile(r'\s*\{.*?"result"\s*:\s*\{\s*"output"\s*:\s*\{', re.DOTALL)

#: Key -> its words: one, or one per lane.
Words = Mapping[str, list[str]]


def without_colours(text: str) -> str:
    """Return a text as it is without a terminal."""
    return COLOUR.sub("", text)


def from_text(text: str) -> list[tuple[str | None, Words]]:
    """Return the words of each device; without a heading there is one, of no name.

    Raises ToolError for a section of errors, NotRecognisedError when a line is none of the tool's,
    or the last one is cut off.
    """
    lines = [line.strip() for line in text.split("\n")]
    if lines.pop() or not any(lines):
        raise NotRecognisedError("expected whole lines of mlxlink, got a cut-off text")
    found: list[tuple[str | None, dict[str, list[str]]]] = []
    is_read = True
    for place, line in enumerate(lines):
        device, row = DEVICE.fullmatch(line), ROW.fullmatch(line)
        if device is not None:
            found.append((printable(device[1]), {}))
            is_read = True
        elif row is not None:
            if not found:
                found.append((None, {}))
            if is_read:
                _add(found[-1][1], row[1], [row[2] or ""])
        elif _is_title(line, lines[place + 1 : place + 2]):
            is_read = line in READ
            if line == "Errors":
                raise ToolError("failed", _message(lines[place + 2 :]))
        elif line and not UNDERLINE.fullmatch(line) and not ASIDE.fullmatch(line):
            raise NotRecognisedError(f"expected a line of mlxlink, got {line[:80]!r}")
    if not found:
        raise NotRecognisedError("expected the sections of mlxlink, got none")
    return [(device, words) for device, words in found]


def _is_title(line: str, following: list[str]) -> bool:
    is_underlined = any(UNDERLINE.fullmatch(below) for below in following)
    return line in TITLES or (is_underlined and TITLE.fullmatch(line) is not None)


def _message(lines: list[str]) -> str:
    """Return the first line that is not blank."""
    return printable(next((line for line in lines if line), "mlxlink failed"))[:200]


def _add(words: dict[str, list[str]], key: str, values: list[str]) -> None:
    if words.setdefault(key, values) != values:
        raise NotRecognisedError(f"expected one {key[:60]!r} of mlxlink, got two")


def mended(text: str) -> str | None:
    """Return JSON that is cut off, closed behind its last whole section; None for any other text.

    A section whose brace is closed has all its values. Nothing but JSON may stand behind it.
    """
    depth, last = 0, None
    for match in BRACE.finditer(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(match[0], 0)
        if match[0] == "}" and depth == SECTION_DEPTH:
            last = match.end()
    if depth <= 0 or last is None or not OUTPUT.match(text):
        return None
    rest = [line for line in text[last:].split("\n") if line.strip()]
    is_whole = all(JSON_LINE.fullmatch(line) for line in rest)
    return text[:last] + "}" * SECTION_DEPTH if is_whole else None


def from_json(document: strict_json.Row) -> Words:
    """Return the words of the sections that are read, in the document of `--json`."""
    output = strict_json.object_of(strict_json.object_of(document, "result"), "output")
    words: dict[str, list[str]] = {}
    for title in output:
        if title not in READ:
            continue
        section = strict_json.object_of(output, title)
        for key, value in section.items():
            is_listed = isinstance(value, dict)
            listed = strict_json.words_of(value, "values") if isinstance(value, dict) else None
            text = None if is_listed else strict_json.text_of(section, key)
            _add(words, key.strip(), listed if listed is not None else [text or ""])
    return words
