"""Faults of other files beside the catalogue: each file has a hook `pytest_fabric_faults`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.faults import CATALOGUE
from pytest_fabric.lab.faults.fault import Fault

HOOK = "pytest_fabric_faults"


def known(files: Iterable[Path]) -> Mapping[str, Fault]:
    """Return the catalogue and what files add to it, by name. Raises ConfigError."""
    found = dict(CATALOGUE)
    for path in files:
        for fault in _faults(path):
            if fault.name in found:
                raise ConfigError(
                    f"{path}: {HOOK}: expected a new name, got {fault.name!r}, which is taken"
                )
            found[fault.name] = fault
    return found


def _faults(path: Path) -> tuple[Fault, ...]:
    hook = getattr(_module(path), HOOK, None)
    if hook is None:
        raise ConfigError(f"{path}: expected a function {HOOK}, found none")
    try:
        faults = tuple(hook())
    except Exception as error:  # somebody else's code: whatever it raises is told in one line
        raise ConfigError(f"{path}: {HOOK}: {type(error).__name__}: {error}") from None
    wrong = next((fault for fault in faults if not isinstance(fault, Fault)), None)
    if wrong is not None:
        raise ConfigError(
            f"{path}: {HOOK}: expected pytest_fabric.lab.faults.Fault, got {type(wrong).__name__}"
        )
    return faults


def _module(path: Path) -> ModuleType:
    """Load a file as pytest loads a conftest.py: what stands beside it can be imported."""
    spec = importlib.util.spec_from_file_location(f"faults_of_{path.parent.name}", path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}: expected a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # as above
        raise ConfigError(f"{path}: {type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(str(path.parent))
    return module
