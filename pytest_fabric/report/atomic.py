"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

#: Reports are made to be read by others than the one who ran them.
MODE = 0o644


def write(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to `path`, replacing it in one step; raises OSError.

    What is there and is no file (`/dev/stdout`, a pipe) is written to, never replaced.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as stream:
            os.fchmod(descriptor, MODE)
            stream.write(text.encode("utf-8"))
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def symlink(link: Path, target: str) -> None:
    """Let `link` point to `target`, replacing an older link in one step; raises OSError."""
    name = link.with_name(f".{link.name}.{secrets.token_hex(8)}")
    os.symlink(target, name)
    try:
        os.replace(name, link)
    except BaseException:
        os.unlink(name)
        raise
