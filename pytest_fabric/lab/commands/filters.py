"""`head`, `tail`, `wc`, `sort`, `uniq`: what people put behind a pipe, or before files."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result

#: Lines that `head` and `tail` show without being told.
SHOWN = 10


def head(call: Call) -> Result:
    """Print the first lines."""
    return _ends(call, lambda lines, count: lines[:count])


def tail(call: Call) -> Result:
    """Print the last lines."""
    return _ends(call, lambda lines, count: lines[-count:] if count else [])


def _ends(call: Call, cut: Callable[[list[str], int], list[str]]) -> Result:
    words = re.sub(r"(?:^| )-(?:n ?)?([0-9]{1,6})(?= |$)", r" \1 ", " ".join(call.argv[1:])).split()
    counts = [int(word) for word in words if word.isdigit()]
    files = [word for word in words if not word.isdigit()]
    if any(word.startswith("-") for word in files):
        name = call.argv[0]
        return Result(1, stderr=f"{name}: the lab answers only: {name} [-n COUNT] [FILE]...\n")
    return _on(call, files, lambda lines: cut(lines, counts[-1] if counts else SHOWN))


def wc(call: Call) -> Result:
    """Count lines, words or characters, or all three."""
    options = {letter for word in call.argv[1:] if word[:1] == "-" for letter in word[1:]}
    if options - set("lwc"):
        return Result(1, stderr="wc: the lab answers only: wc [-l] [-w] [-c] [FILE]...\n")

    def count(lines: list[str]) -> list[str]:
        words = sum(len(line.split()) for line in lines)
        numbers = {"l": len(lines), "w": words, "c": sum(len(line) + 1 for line in lines)}
        return [" ".join(str(numbers[key]) for key in "lwc" if not options or key in options)]

    return _on(call, [word for word in call.argv[1:] if word[:1] != "-"], count)


def sort(call: Call) -> Result:
    """Print lines in order: `-n` by the number in front, `-r` backwards, `-u` each once."""
    options = {letter for word in call.argv[1:] if word[:1] == "-" for letter in word[1:]}
    if options - set("nru"):
        return Result(2, stderr="sort: the lab answers only: sort [-n] [-r] [-u] [FILE]...\n")

    def ordered(lines: list[str]) -> list[str]:
        found = [*dict.fromkeys(lines)] if "u" in options else lines
        return sorted(found, key=_number if "n" in options else str, reverse="r" in options)

    return _on(call, [word for word in call.argv[1:] if word[:1] != "-"], ordered)


def _number(line: str) -> str | float:
    match = re.match(r"\s*-?[0-9]+(?:\.[0-9]+)?", line)
    return float(match[0]) if match else 0.0


def uniq(call: Call) -> Result:
    """Print each of several equal lines in a row once, with `-c` how many there are."""
    options, files = [
        [w for w in call.argv[1:] if (w[:1] == "-") == is_option] for is_option in (1, 0)
    ]
    if options not in ([], ["-c"]):
        return Result(1, stderr="uniq: the lab answers only: uniq [-c] [FILE]\n")

    def once(lines: list[str]) -> list[str]:
        runs: list[tuple[str, int]] = []
        for line in lines:
            is_same = bool(runs) and runs[-1][0] == line
            runs[-1:] = [(line, runs[-1][1] + 1)] if is_same else [*runs[-1:], (line, 1)]
        return [f"{count:7} {line}" if options else line for line, count in runs]

    return _on(call, files, once)


def _on(call: Call, files: list[str], change: Callable[[list[str]], list[str]]) -> Result:
    """Return what a change makes of the lines of files, or of what comes in."""
    err, text = [], call.stdin or ""
    for number, path in enumerate(files):
        text = text if number else ""
        try:
            text += f"{call.view.read(path)}\n"
        except OSError as error:
            err.append(f"{call.argv[0]}: cannot open '{path}': {error.strerror}\n")
    lines = change(text.splitlines())
    return Result(1 if err else 0, "".join(f"{line}\n" for line in lines), "".join(err))
