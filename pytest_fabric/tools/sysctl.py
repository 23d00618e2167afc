"""`sysctl -a` and `sysctl KEY...`: settings of the kernel.

One line is one record: a setting of several lines repeats its key. Keys that cannot be read are
told on stderr, between the others or alone.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import complaints
from pytest_fabric.tools.printable import printable

KEY = r"[A-Za-z0-9_][A-Za-z0-9_./:@+-]*"
SETTING = re.compile(rf"({KEY}) = ?(.*)")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})")

#: procps and busybox, in the words of several releases: reason and how the key is named.
FAILED = (
    (
        "no_such_key",
        re.compile(
            rf"sysctl: cannot stat /proc/sys/({KEY}): No such file or directory|"
            rf"(?:sysctl: )?error: ['\"]({KEY})['\"] is an unknown key"
        ),
    ),
    (
        "permission",
        re.compile(
            rf"(?:sysctl|error): permission denied on key ['\"]({KEY})['\"]|"
            rf"sysctl: cannot (?:open|stat) /proc/sys/({KEY}): Permission denied"
        ),
    ),
    (
        "unreadable",
        re.compile(
            rf"(?:sysctl|error): (?:error )?reading key ['\"]({KEY})['\"](?:: .*)?|"
            rf"sysctl: (?:cannot (?:open|stat)|error reading) /proc/sys/({KEY}): \S.*"
        ),
    ),
)


@dataclass(frozen=True)
class Setting:
    """A setting: whole numbers are numbers, several of them a list, other values text.

    `value` is None for an empty one, and where `error` says why it cannot be read.
    """

    key: str
    value: int | list[int] | str | None
    error: str | None = None


def command(*keys: str) -> tuple[str, ...]:
    """Return the command line that shows the keys, or all; raises ValueError for no key."""
    for key in keys:
        if not re.fullmatch(KEY, key):
            raise ValueError(f"key: expected a name such as net.core.rmem_max, got {key!r}")
    return ("sysctl", *(keys or ("-a",)))


def parse(text: str) -> list[Setting]:
    """Return the settings in the order in which they are shown.

    Raises ToolError when none of them can be read, NotRecognisedError for any other text.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    found = [_setting(line) for line in lines]
    known = [setting for setting in found if setting]
    if all(setting.error for setting in known) and known and len(known) == len(lines):
        raise ToolError(known[0].error or "", printable(lines[0])[:200])
    if None in found:
        others = [line for line, setting in zip(lines, found, strict=True) if setting is None]
        complaints.check("\n".join(others))
        raise NotRecognisedError(f"expected 'key = value', got {others[0][:80]!r}")
    if not found or not text.endswith("\n"):
        raise NotRecognisedError("expected whole lines of sysctl, got an empty or cut-off text")
    return known


def _setting(line: str) -> Setting | None:
    match = SETTING.fullmatch(line)
    if match:
        return Setting(match[1], _value(match[2]))
    for kind, pattern in FAILED:
        match = pattern.fullmatch(line.strip())
        if match:
            key = next(key for key in match.groups() if key)
            return Setting(_dotted(key) if "/proc/sys/" in line else key, None, kind)
    return None


def _value(text: str) -> int | list[int] | str | None:
    words = text.split()
    if words and all(NUMBER.fullmatch(word) for word in words):
        return int(words[0]) if len(words) == 1 else [int(word) for word in words]
    return printable(" ".join(words)) or None


def _dotted(path: str) -> str:
    """Return the key of a path below /proc/sys: dots inside names become slashes."""
    return path.translate(str.maketrans("./", "/."))


def records(text: str) -> list[dict[str, object]]:
    """Return the settings as plain records."""
    return [asdict(setting) for setting in parse(text)]
