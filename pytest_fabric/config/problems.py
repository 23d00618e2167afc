"""Problems of a cluster file: each has a place, all are collected, and they are told together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_fabric.errors import ConfigError


class Mark(NamedTuple):
    """Where a value stands: the file, the line (from 1) and the path of keys that leads to it."""

    file: str
    line: int
    path: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def key(self, name: str) -> Mark:
        """Return the place of a key that should be here and is not: the line of what holds it."""
        return self._replace(path=below(self.path, name))


def below(path: str, key: str) -> str:
    """Return the path of a key of the mapping at `path`; a list's place is written `[0]`."""
    return key if path == "" else f"{path}{key}" if key.startswith("[") else f"{path}.{key}"


@dataclass
class Problems:
    """The problems found so far in `file` and in the builtin profiles that it extends.

    `told` counts repetitions too: whether it grew says whether something is wrong.
    """

    file: str
    found: dict[tuple[Mark, str], None] = field(default_factory=dict)
    told: int = 0

    def add(self, mark: Mark, message: str) -> None:
        """Note a problem; the same one at the same place (shared by an alias) counts once."""
        self.found[mark, message] = None
        self.told += 1

    def error(self) -> ConfigError:
        """Return one error with every problem, the file's own first, by line."""
        ordered = sorted(self.found, key=lambda item: (item[0].file != self.file, *item[0][:2]))
        return ConfigError(*(_line(mark, message) for mark, message in ordered))

    def refuse(self) -> None:
        """Raise ConfigError if there are problems."""
        if self.found:
            raise self.error()


def _line(mark: Mark, message: str) -> str:
    path = mark.path if mark.path.isprintable() else ascii(mark.path)[1:-1]
    return f"{mark}: {path}: {message}" if path else f"{mark}: {message}"
