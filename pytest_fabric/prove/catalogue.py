"""The faults that the lab knows, as its own process tells them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from pytest_fabric.errors import ConfigError

HOOK = "pytest_fabric_faults"

#: The catalogue is printed within a second; a machine under load may need some more.
LISTED_S = 30.0


@dataclass(frozen=True)
class Fault:
    """A fault of the lab; `spread` is place, node, next, leaf or fabric, as the lab has it.

    With `of_bonds` it is one of ports with several network devices.
    """

    name: str
    places: tuple[str, ...]
    text: str
    cause: str
    layers: tuple[str, ...]
    spread: str
    of_bonds: bool = False


class Hooks(Protocol):
    """What of pytest's plugin manager is needed."""

    @property
    def hook(self) -> Any:  # noqa: ANN401 - pluggy's relay has one attribute per hook
        """Return the relay of hooks."""


def read(files: Sequence[Path] = ()) -> tuple[Fault, ...]:
    """Return the catalogue, and the faults of files with our hook. Raises ConfigError."""
    command = [sys.executable, "-m", "pytest_fabric.lab.faults", *map(str, files)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LISTED_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(f"faults: expected a list of them within {LISTED_S:g} s") from None
    if done.returncode:
        told = done.stderr.strip().splitlines() or ["faults: expected a list of them, got none"]
        raise ConfigError(told[-1])
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return tuple(
        Fault(**{**one, "places": tuple(one["places"]), "layers": tuple(one["layers"])})
        for one in found
    )


def sources(manager: Hooks) -> tuple[Path, ...]:
    """Return the files that have our hook. Raises ConfigError for one that is in no file."""
    found: dict[Path, None] = {}
    for implementation in getattr(manager.hook, HOOK).get_hookimpls():
        plugin = implementation.plugin
        path = plugin.__file__ if isinstance(plugin, ModuleType) else None
        if path is None:
            raise ConfigError(
                f"{HOOK}: expected it in a module, such as conftest.py, found it in "
                f"{type(plugin).__name__}: the lab loads its file in a process of its own"
            )
        found[Path(path)] = None
    return tuple(found)
