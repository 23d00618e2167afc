"""What a proof was a proof of: the files of the tests, by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

#: Stands for a file that cannot be read: it is like no other.
UNREADABLE = "unreadable"


def digests(root: Path, nodeids: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file of tests, and of what pytest loads for it, by its name.

    Names are relative to `root`, as those of tests are.
    """
    files = dict.fromkeys(nodeid.partition("::")[0] for nodeid in nodeids)
    names = dict.fromkeys(name for file in files for name in (file, *_conftests(root, file)))
    return {name: _digest(root / name) for name in sorted(names)}


def _conftests(root: Path, file: str) -> list[str]:
    folders = [str(folder) for folder in Path(file).parents]
    names = [str(Path(folder) / "conftest.py") for folder in folders]
    return [name for name in names if (root / name).is_file()]


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return UNREADABLE
