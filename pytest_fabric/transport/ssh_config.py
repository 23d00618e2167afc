"""ssh_config, evaluated line by line for one host as OpenSSH does it: the first value wins."""

from __future__ import annotations

import fnmatch
import getpass
import glob
import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: Where OpenSSH looks when no file is named (ssh_config(5), FILES).
USER_FILE = "~/.ssh/config"
SYSTEM_FILE = "/etc/ssh/ssh_config"

#: Include may nest this deep in OpenSSH (READCONF_MAX_DEPTH of readconf.h).
_MAX_DEPTH = 16

#: Keywords that add up instead of the first value winning.
_LISTS = {"identityfile", "certificatefile"}

_RIVALS = {"proxyjump": "proxycommand", "proxycommand": "proxyjump"}

_LINE = re.compile(r"\s*([A-Za-z]\w*)(?:\s*=\s*|\s+)(.*?)\s*")


@dataclass
class Options:
    """What the files say for one host: values by keyword in lower case."""

    alias: str
    user: str | None = None
    values: dict[str, list[str]] = field(default_factory=dict)
    final: bool | None = None
    """Whether this is the last pass; None while nothing has asked for a pass of its own."""

    def first(self, keyword: str) -> str | None:
        """Return the value of a keyword, None when no file gives one."""
        found = self.values.get(keyword)
        return found[0] if found else None

    def put(self, keyword: str, value: str) -> None:
        """Take a value, unless an earlier one has won (ProxyJump and ProxyCommand are rivals)."""
        if keyword in _LISTS:
            known = self.values.setdefault(keyword, [])
            known.extend([value] if value not in known else [])
        elif keyword not in self.values and _RIVALS.get(keyword) not in self.values:
            self.values[keyword] = [value]


def options(alias: str, config: Path | None, user: str | None = None) -> Options:
    """Return what ssh_config says for a host; `config` alone, or the user's and system's files.

    `user` is one that was asked for besides, which `Match user` sees. Files that are not there
    say nothing, unless one was named: OSError.
    """
    sources = _sources(config)
    found = Options(alias, user)
    for lines, base in sources:
        _evaluate(lines, found, base, True, 0)
    if found.final is not None:
        found.final = True
        for lines, base in sources:
            _evaluate(lines, found, base, True, 0)
    return found


def _sources(config: Path | None) -> list[tuple[list[str], str]]:
    """Return the lines of each file, and where its relative Include lines start."""
    if config is not None:
        return [(_lines(config.expanduser()), "~/.ssh")]
    defaults = ((Path(USER_FILE).expanduser(), "~/.ssh"), (Path(SYSTEM_FILE), "/etc/ssh"))
    return [(_lines(file), base) for file, base in defaults if file.is_file()]


def _lines(file: Path) -> list[str]:
    return file.read_text(errors="replace").splitlines()


def _evaluate(lines: Iterable[str], into: Options, base: str, outer: bool, depth: int) -> None:
    """Take the values of the blocks that match; a file that a silent block includes is silent."""
    active = outer
    for keyword, value in _settings(lines):
        if keyword == "host":
            active = outer and host_matches(into.alias, _split(value))
        elif keyword == "match":
            active = outer and _match(_split(value), into)
        elif keyword == "include":
            if active and depth < _MAX_DEPTH:
                for file in _included(_split(value), base):
                    _evaluate(_lines(file), into, base, active, depth + 1)
        elif active:
            into.put(keyword, value)


def _settings(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is not None:
            value = found[2]
            plain = re.fullmatch(r'"([^"]*)"', value)
            yield found[1].lower(), plain[1] if plain else value


def _split(value: str) -> list[str]:
    """Return the words of a value; one with an open quote is taken as it is."""
    try:
        return shlex.split(value, comments=True)
    except ValueError:
        return value.split()


def _included(patterns: Iterable[str], base: str) -> Iterator[Path]:
    """Yield the files of an Include line; relative ones are in ~/.ssh or /etc/ssh."""
    for pattern in patterns:
        absolute = os.path.join(os.path.expanduser(base), os.path.expanduser(_environment(pattern)))
        yield from (Path(name) for name in sorted(glob.glob(absolute)) if os.path.isfile(name))


def host_matches(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name matches a pattern of a list, and no negated one (`!`) of it."""
    found = False
    for pattern in patterns:
        if fnmatch.fnmatchcase(name.lower(), _literal_brackets(pattern.lstrip("!").lower())):
            if pattern.startswith("!"):
                return False
            found = True
    return found


def _literal_brackets(pattern: str) -> str:
    """Return a pattern in which only `*` and `?` are special, as in OpenSSH."""
    return pattern.replace("[", "[[]")


def _match(words: list[str], so_far: Options) -> bool:
    """Return whether every criterion of a Match line holds; one that is unknown does not."""
    remaining = iter(words)
    for criterion in remaining:
        negated, name = criterion.startswith("!"), criterion.lstrip("!").lower()
        if name == "final" and so_far.final is None:
            so_far.final = False
        if name in ("all", "final", "canonical"):
            holds = name == "all" or (name == "final" and bool(so_far.final))
        else:
            holds = _holds(name, next(remaining, ""), so_far)
        if holds == negated:
            return False
    return bool(words)


def _holds(name: str, value: str, so_far: Options) -> bool:
    if name == "exec":
        command = expanded(value, tokens(so_far))
        return subprocess.run(["sh", "-c", command], capture_output=True).returncode == 0
    subjects = {
        "host": expanded(so_far.first("hostname") or "%h", {"h": so_far.alias}),
        "originalhost": so_far.alias,
        "user": so_far.user or so_far.first("user") or getpass.getuser(),
        "localuser": getpass.getuser(),
    }
    return name in subjects and host_matches(subjects[name], value.split(","))


def tokens(found: Options) -> Mapping[str, str]:
    """Return what the percent tokens of ssh_config stand for."""
    user = found.user or found.first("user") or getpass.getuser()
    return {
        "d": os.path.expanduser("~"),
        "h": expanded(found.first("hostname") or "%h", {"h": found.alias}),
        "n": found.alias,
        "p": found.first("port") or "22",
        "r": user,
        "u": getpass.getuser(),
        "l": os.uname().nodename,
        "L": os.uname().nodename.partition(".")[0],
    }


def expanded(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its percent tokens replaced; unknown ones stay."""
    known = {"%": "%", **values}
    return re.sub(r"%(.)", lambda found: known.get(found[1], found[0]), text)


def _environment(text: str) -> str:
    """Return a text with `${NAME}` replaced, as OpenSSH does it in paths."""
    return re.sub(r"\$\{(\w+)\}", lambda found: os.environ.get(found[1], ""), text)


def path(text: str, values: Mapping[str, str]) -> Path:
    """Return a path of ssh_config with `~`, `${NAME}` and percent tokens replaced."""
    return Path(os.path.expanduser(expanded(_environment(text), values)))
