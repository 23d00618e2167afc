"""What a simulated command is given."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.filesystem import View
from pytest_fabric.lab.model import Node


@dataclass(frozen=True)
class Call:
    """One start of a command: where, with which words, and the files as they are now.

    `stdin` is what comes in through a pipe, `path` the folders in which programs are looked for,
    all of them where it is empty; `known` are the names that the lab answers to.
    """

    fabric: Fabric
    node: Node
    argv: tuple[str, ...]
    view: View
    as_root: bool = False
    stdin: str | None = None
    path: str = ""
    known: Collection[str] = ()

    @property
    def is_allowed(self) -> bool:
        """Return whether it may read what only root may."""
        return self.as_root or not self.node.needs_root
