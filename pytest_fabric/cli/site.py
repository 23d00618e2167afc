"""The suites and the lab's cluster file, which an installed package has in it."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

from pytest_fabric.errors import ConfigError

#: Where the wheel has them (see pyproject.toml); a checkout has them at its top.
SHIPPED = "_site"


def folder() -> Path:
    """Return the folder with suites/, conftest.py, cluster.yaml and cables.csv of the lab."""
    package = Path(str(resources.files("pytest_fabric")))
    for place in (package / SHIPPED, package.parent):
        if (place / "suites").is_dir() and (place / "cluster.yaml").is_file():
            return place
    raise ConfigError("expected suites/ in the package, found none: install it again")


def copy(to: Path) -> list[str]:
    """Copy suites/ and conftest.py to a folder that lacks them; return a line for each.

    Raises OSError, ConfigError.
    """
    shipped = folder()
    said = []
    if not (to / "suites").exists():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(shipped / "suites", to / "suites", ignore=ignored)
        count = len(list((to / "suites").glob("test_*.py")))
        said.append(f"suites/: {count} modules copied: they are yours, change what you like")
    if not (to / "conftest.py").exists():
        shutil.copy(shipped / "conftest.py", to / "conftest.py")
        said.append("conftest.py: copied, for your own fixtures and hooks")
    return said
