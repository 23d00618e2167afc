"""`grep` over the virtual files: options c E F H h i s v w x, a pattern, files or a pipe."""

from __future__ import annotations

import getopt
import re
from collections.abc import Callable
from typing import TypeAlias

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result

#: In a basic pattern these are ordinary without a backslash and special with one.
_SWAPPED = re.compile(r"(\\?)([+?|(){}])")


#: Those that the lab knows.
_OPTIONS = "cEFHhisvwx"


Match: TypeAlias = Callable[[str], re.Match[str] | None]


def run(call: Call) -> Result:
    """Print matching lines; status 0 found, 1 not found, 2 when a file could not be read."""
    try:
        pairs, words = _options(call.argv[1:])
    except getopt.GetoptError as error:
        return Result(2, stderr=f"grep: {error}\n")
    if len(words) < 2 and (not words or call.stdin is None):
        return Result(2, stderr="Usage: grep [OPTION]... PATTERNS [FILE]...\n")
    options = {option for option, _ in pairs}
    try:
        pattern, files = _pattern(words[0], options), words[1:]
    except re.error:
        return Result(2, stderr=f"grep: the lab cannot read the pattern {words[0]!r}\n")
    if not files:
        return _piped(call.stdin or "", pattern, options)
    named = "-H" in options or (len(files) > 1 and "-h" not in options)
    is_inverted, is_counted = "-v" in options, "-c" in options
    out, err, found = [], [], False
    for path in files:
        try:
            text = call.view.read(path)
        except OSError as error:
            err.append(f"grep: {path}: {error.strerror}\n")
            continue
        head, hits = f"{path}:" if named else "", 0
        for line in text.split("\n"):
            if (pattern(line) is None) == is_inverted:
                hits += 1
                if not is_counted:
                    out.append(f"{head}{line}\n")
        if is_counted:
            out.append(f"{head}{hits}\n")
        found = found or hits > 0
    told = "" if "-s" in options else "".join(err)
    return Result(2 if err else 0 if found else 1, "".join(out), told)


def _piped(text: str, pattern: Match, options: set[str]) -> Result:
    """Return the lines of a text that match."""
    hits = [line for line in text.splitlines() if (pattern(line) is None) == ("-v" in options)]
    shown = [str(len(hits))] if "-c" in options else hits
    return Result(0 if hits else 1, "".join(f"{line}\n" for line in shown))


def _options(words: tuple[str, ...]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return options and other words; none of the options takes a value."""
    if "--" in words:
        return getopt.gnu_getopt(words, _OPTIONS)
    options = [word for word in words if word.startswith("-") and word != "-"]
    pairs, _ = getopt.getopt(options, _OPTIONS)
    return pairs, [word for word in words if word not in options]


def _pattern(text: str, options: set[str]) -> Match:
    if "-F" in options:
        text = re.escape(text)
    elif "-E" not in options:
        text = _SWAPPED.sub(lambda found: found[2] if found[1] else f"\\{found[2]}", text)
    if "-w" in options:
        text = rf"\b(?:{text})\b"
    compiled = re.compile(text, re.IGNORECASE if "-i" in options else 0)
    return compiled.fullmatch if "-x" in options else compiled.search
