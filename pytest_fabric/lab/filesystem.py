"""A virtual file system as one command sees it: paths, symbolic links, `..` and globs."""

from __future__ import annotations

import errno
import fnmatch
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Symlink:
    """A symbolic link to an absolute path."""

    target: str


@dataclass(frozen=True)
class Unreadable:
    """A file that exists and whose reading fails with an `errno` number."""

    number: int


@dataclass(frozen=True)
class Live:
    """A file whose text is made when it is read."""

    text: Callable[[], str]


#: A file's text without its last newline, a live or failing file, a link, or a directory; a
#: directory that is a function is made anew for each command, so that a command sees one moment.
Entry: TypeAlias = (
    str | Live | Symlink | Unreadable | Mapping[str, "Entry"] | Callable[[], Mapping[str, "Entry"]]
)
Directory: TypeAlias = Mapping[str, Entry]

_MAGIC = re.compile(r"[*?[]")

#: What comes before the first component with magic in it.
_PLAIN_HEAD = re.compile(r"(?:/[^/*?[]*(?=/|$))*")


#: Path -> the entries from the root to it, both included.
Trails: TypeAlias = dict[str, list[Entry]]


class View:
    """The tree at one moment; make a new one for each command.

    `fixed` holds the paths that lead through no directory that is made anew: all views of one tree
    share it.
    """

    def __init__(self, root: Directory, fixed: Trails | None = None) -> None:
        self._root = root
        self._made: dict[int, tuple[Entry, Directory]] = {}
        self._fixed: Trails = {} if fixed is None else fixed
        self._trails: Trails = {}
        self._listed: dict[str, Directory] = {}

    def read(self, path: str) -> str:
        """Return a file's text without its last newline. Raises OSError."""
        above, _, name = path.rpartition("/")
        listed = self._listed.get(above)  # a command reads many plain files of one directory
        entry = (self._names(above) if listed is None else listed).get(name)
        if isinstance(entry, str):
            return entry
        entry = self._walk(path)[-1]
        if isinstance(entry, str):
            return entry
        if isinstance(entry, Live):
            return entry.text()
        if isinstance(entry, Unreadable):
            raise _error(entry.number, path)
        raise _error(errno.EISDIR, path)

    def target(self, path: str) -> str:
        """Return where a symbolic link leads, or the path itself when it is none."""
        above, _, name = path.rpartition("/")
        try:
            entry = self._directory(self._walk(above)[-1], above).get(name)
        except OSError:
            return path
        return entry.target if isinstance(entry, Symlink) else path

    def exists(self, path: str) -> bool:
        """Return whether there is a file or directory at a path."""
        try:
            self._walk(path)
        except OSError:
            return False
        return True

    def is_directory(self, path: str) -> bool:
        """Return whether a path leads to a directory, links followed."""
        try:
            self._directory(self._walk(path.rstrip("/"))[-1], path)
        except OSError:
            return False
        return True

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, sorted by byte; none where there is no directory."""
        return sorted(self._names(path.rstrip("/")))

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match, sorted by byte; magic as in `fnmatch`, per component."""
        plain = _PLAIN_HEAD.match(pattern)
        head = plain[0].rstrip("/") if plain else ""
        found = [head] if pattern.startswith("/") and self.exists(head) else []
        for part in pattern.removeprefix(head).strip("/").split("/"):
            if part == "*":
                found = [f"{base}/{name}" for base in found for name in sorted(self._names(base))]
            elif _MAGIC.search(part):
                names = re.compile(fnmatch.translate(part))
                found = [
                    f"{base}/{name}"
                    for base in found
                    for name in sorted(self._names(base))
                    if names.match(name)
                ]
            else:
                found = [path for base in found if self.exists(path := f"{base}/{part}")]
        return found

    def _names(self, path: str) -> Directory:
        """Return what is in a directory, nothing where there is none."""
        names = self._listed.get(path)
        if names is None:
            try:
                names = self._directory(self._walk(path)[-1], path)
            except OSError:
                names = {}
            self._listed[path] = names
        return names

    def _walk(self, path: str, told: str | None = None) -> list[Entry]:
        """Return the entries from the root to a path, links followed, `..` towards the root.

        An error tells of the path `told` that leads through this one.
        """
        known = self._fixed.get(path) or self._trails.get(path)
        if known is not None:
            return known
        above, slash, name = path.rpartition("/")
        before: list[Entry] = self._walk(above, told or path) if slash else [self._root]
        trail = self._step(before, name, told or path)
        is_fixed = not any(callable(entry) for entry in (*before, *trail[:-1]))
        (self._fixed if is_fixed else self._trails)[path] = trail
        return trail

    def _step(self, trail: list[Entry], part: str, path: str) -> list[Entry]:
        if part in ("", "."):
            return trail
        if part == "..":
            return trail[:-1] or trail
        directory = self._directory(trail[-1], path)
        if part not in directory:
            raise _error(errno.ENOENT, path)
        entry = directory[part]
        return self._walk(entry.target) if isinstance(entry, Symlink) else [*trail, entry]

    def _directory(self, entry: Entry, path: str) -> Directory:
        if isinstance(entry, (str, Live, Symlink, Unreadable)):
            raise _error(errno.ENOTDIR, path)
        if not callable(entry):
            return entry
        if id(entry) not in self._made:
            self._made[id(entry)] = (entry, entry())
        return self._made[id(entry)][1]


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
