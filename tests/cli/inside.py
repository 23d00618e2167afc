"""The command within this process: what does not need another one takes a tenth of the time."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_fabric.cli.main import main


@dataclass(frozen=True)
class Done:
    """What a command said, and its exit status."""

    returncode: int
    stdout: str
    stderr: str


def call(words: Sequence[str], cwd: Path) -> Done:
    """Run `pytest-fabric` with words in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(cwd)
        patch.setattr(sys, "argv", ["pytest-fabric", *words])
        with pytest.raises(SystemExit) as ended:
            main()
    code = ended.value.code
    return Done(
        code if isinstance(code, int) else int(code is not None), out.getvalue(), err.getvalue()
    )
