"""What surrounds perftest's table: terminal noise, the lines above it, and warnings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_fabric.errors import NotRecognisedError

ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
MAIL_QUOTE = re.compile(r"^(?:[ \t]*>)+ ?")

#: A row reaches a pipe before its line end does, so that a message on stderr may follow it at once
#: (`print_full_bw_report` in perftest_parameters.c flushes between the two).
GLUED = re.compile(r"(?<=[0-9 ])(?=Conflicting CPU frequency)")

#: Words of lines that do not change the result.
WARNINGS = (
    "WARNING",
    "Conflicting CPU frequency",
    "Requested mtu is higher",
    "Changing to active mtu",
    "Requested SQ size might be too big",
    "Disabling it",
    "libibverbs: Warning",
    "Max msg size in UD",
    "Failed to open",
    "failed to open",
)

#: Longer lines are no output of perftest; hostile ones must not cost time.
LONGEST_LINE = 4096

#: Rules, rows of numbers, and the addresses that both ends exchange: half of every capture.
NUMBERS = re.compile(
    r"[-*]+|[ \t0-9.]+"
    r"|(?: (?:local|remote) address:)?(?: (?:LID|QPN|PSN|RKey|VAddr|GID:) [0-9a-fx:]+)+"
)

TITLE = re.compile(r"\s*([A-Z][\w+ ]* Test)\s*", re.ASCII)
WAITING = re.compile(r"Waiting for client (?:to connect|rdma_cm QP to connect)")
VERSION = re.compile(r"\s*Version:\s*([0-9]+\.[0-9]+)\s*", re.ASCII)
#: Each fact: a word of its line, and the line.
FACTS = {
    name: (word, re.compile(rf"\s*{key}\s*:\s*{value}\s*"))
    for name, word, key, value in (
        ("mtu", "Mtu", "Mtu", r"([0-9]+)\[B\]"),
        ("gid_index", " index", "G(?:ID|id) index", "([0-9]+)"),
        ("qps", "Number of qps", "Number of qps", r"([0-9]+)\b.*"),
        ("link_type", "Link type", "Link type", r"(\S+)"),
        ("device", "Dual-port", r"Dual-port\s*:.*\bDevice", r"(\S+)"),
    )
}

#: `-C` makes perftest print cycles under a header that still says [usec]; options without a value
#: may be joined.
LATENCY_TOOL = re.compile(r"(?:\S*/)?ib_(?:write|read|send|atomic)_lat")
CYCLES_OPTION = re.compile(r"-[aFHUNe]*C[aFHUNe]*|--report-cycles")


@dataclass(frozen=True)
class Preamble:
    """What the lines above a table say; None when they are absent or contradict each other."""

    test: str | None
    is_server: bool
    qps: int | None
    mtu: int | None
    gid_index: int | None
    link_type: str | None
    device: str | None
    warnings: tuple[str, ...]


@lru_cache(maxsize=64)  # a text is asked for an error first, and for its rows afterwards
def clean(text: str) -> tuple[str, ...]:
    """Return the lines of a capture: no blank ones, no colours, mail quotes or glued warnings."""
    plain = text.lstrip("\ufeff")
    if "\x1b" in plain:
        plain = ESCAPE.sub("", plain)
    if "Conflicting" in plain:
        plain = GLUED.sub("\n", plain)
    lines = plain.replace("\r", "\n").split("\n")
    if len(max(lines, key=len)) > LONGEST_LINE:
        lines = [line[:LONGEST_LINE] for line in lines]
    if ">" in plain:
        lines = [MAIL_QUOTE.sub("", line) for line in lines]
    return tuple(filter(str.strip, lines))


@lru_cache(maxsize=64)
def words(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines that can tell of an error: those with more than numbers and addresses."""
    return tuple(line for line in lines if not NUMBERS.fullmatch(line))


@lru_cache(maxsize=64)
def titles(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the different titles of the tests that the lines come from."""
    found = [match[1] for line in lines if " Test" in line and (match := TITLE.fullmatch(line))]
    return tuple(dict.fromkeys(title for title in found if kind(title)))


def kind(title: str) -> str | None:
    """Return what a title says is measured: `latency`, `bandwidth`, or None for no test."""
    if " Latency " in title:
        return "latency"
    return "bandwidth" if " BW " in title else None


def version(lines: Iterable[str]) -> str | None:
    """Return what `-V` printed, or None: the table itself never tells the version."""
    return _only(match.group(1) for line in lines if (match := VERSION.fullmatch(line)))


def warnings(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines that do not change the result but belong beside it."""
    return tuple(line.strip() for line in words(lines) if is_warning(line))


def is_warning(line: str) -> bool:
    """Return whether a line does not change the result."""
    return any(word in line for word in WARNINGS)


def preamble(lines: tuple[str, ...]) -> Preamble:
    """Return what the lines above the table say; every one of them comes and goes by version."""
    facts = {name: _only(_told(lines, *fact)) for name, fact in FACTS.items()}
    return Preamble(
        test=_only(titles(lines)),
        is_server=WAITING.search("\n".join(lines)) is not None,
        qps=_integer(facts["qps"]),
        mtu=_integer(facts["mtu"]),
        gid_index=_integer(facts["gid_index"]),
        link_type=facts["link_type"],
        device=facts["device"],
        warnings=warnings(lines),
    )


def _integer(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _told(lines: Iterable[str], word: str, pattern: re.Pattern[str]) -> Iterator[str]:
    """Return what the lines of a fact tell; a plain search for its word spares most lines."""
    for line in lines:
        if word in line and (match := pattern.fullmatch(line)) is not None:
            yield match[1]


def counts_cycles(lines: Iterable[str]) -> bool:
    """Return whether the capture shows that its times are CPU cycles."""
    told = [line for line in lines if "cycles" in line or "_lat" in line]
    return any(line.strip() == "#, cycles" or _asks_for_cycles(line) for line in told)


def _asks_for_cycles(line: str) -> bool:
    if "_lat" not in line:
        return False
    words = line.split()
    is_command = any(LATENCY_TOOL.fullmatch(word) for word in words)
    return is_command and any(CYCLES_OPTION.fullmatch(word) for word in words)


def _only(values: Iterable[str]) -> str | None:
    different = set(values)
    return different.pop() if len(different) == 1 else None


#: Words of trouble that no kind of the table explains, from perftest, a shell, libc or ssh.
TROUBLES = (
    "killed",
    "terminated",
    "aborted",
    "bus error",
    "invalid pointer",
    "addresssanitizer",
    "failed to",
    "unable to",
    "couldn't",
    "cannot allocate",
    "broken pipe",
    "sending signal",
    "_mr failed",
)
TROUBLE = re.compile(
    "|".join(rf"\b{told}\b" if told[0].isalpha() else rf"{told}\b" for told in TROUBLES),
    re.ASCII,
)


def refuse_trouble(lines: Sequence[str]) -> None:
    """Raise NotRecognisedError for a line that tells of trouble which the table does not know.

    A row beside it may be all that was measured before the end.
    """
    said = "\n".join(lines).lower()
    if not any(word in said for word in TROUBLES):
        return
    for line in lines:
        if TROUBLE.search(line.lower()) and not is_warning(line):
            raise NotRecognisedError(f"expected results only, got {line.strip()[:100]!r} too")
