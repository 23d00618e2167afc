"""The options of pytest that the plugin adds, and which of them exclude one another."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, cast

import pytest

from docs.reference.markdown import code, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric import options


@dataclass
class Recorder:
    """Takes what the plugin tells pytest's parser."""

    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)

    def getgroup(self, *words: str) -> Recorder:
        """Return the group, which is this."""
        return self

    def addoption(self, name: str, **attributes: object) -> None:
        """Take an option."""
        self.options[name] = attributes

    def addini(self, name: str, help: str) -> None:
        """Take an ini setting."""
        self.settings[name] = help


@dataclass(frozen=True)
class Given:
    """A configuration in which these options are given."""

    names: tuple[str, ...]

    def getoption(self, name: str, default: object = None) -> object:
        """Return something that is true for a given option."""
        if name == "dist":
            return "load" if "-n" in self.names else "no"
        return ["given"] if name in self.names else default


def recorded() -> Recorder:
    """Return every option and setting of the plugin."""
    recorder = Recorder()
    options.add(cast(pytest.Parser, recorder))
    return recorder


def conflicts(names: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of options that the plugin refuses, each with what it says."""
    found = {}
    for pair in combinations((*names, "-n"), 2):
        line = options.conflict(cast(pytest.Config, Given(pair)))
        if line is not None:
            found[pair] = line.rpartition("found both: ")[2]
    return [(" and ".join(map(code, pair)), text(reason)) for pair, reason in found.items()]


def _written(name: str, attributes: dict[str, Any]) -> str:
    if attributes.get("action") == "store_true":
        return name
    value = attributes.get("metavar") or "|".join(attributes.get("choices", ()))
    return f"{name} {value}{'...' if 'nargs' in attributes else ''}"


def page() -> str:
    """Return the page."""
    known = recorded()
    rows = [(code(_written(*one)), text(one[1]["help"])) for one in known.options.items()]
    return a_page(
        "Options",
        "Options of `pytest`, beside its own. `pytest --help` prints them under *RDMA fabric "
        "acceptance*. `-k`, `-m`, `-x`, `--junitxml`, `--html` and the rest work as always.",
        table(("option", "meaning"), rows),
        "## Settings in pytest's ini file",
        table(("setting", "meaning"), [(code(k), text(v)) for k, v in known.settings.items()]),
        "## Options that exclude one another",
        "Both together end with exit status 4, and nothing is contacted.",
        table(("options", "why"), conflicts(list(known.options))),
    )
