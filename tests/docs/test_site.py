"""The site builds without a warning, and opens without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.samples import REPOSITORY

#: Attributes by which a page loads something while it opens.
LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=[\"']?(\S+?)[\"'\s>]")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=REPOSITORY,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Fonts, scripts and styles are files of the site."""
    pages = list(site.rglob("*.html"))
    loaded = {one for page in pages for one in LOADED.findall(page.read_text())}

    assert len(pages) > 30
    assert len(loaded) > 3
    assert not [one for one in loaded if re.match(r"(https?:)?//", one)]


def test_no_source_is_published(site: Path) -> None:
    assert not [*site.rglob("*.py"), *site.rglob("__pycache__")]


def test_links_of_the_readme_lead_somewhere() -> None:
    """Those of the pages are checked when the site is built."""
    linked = re.findall(r"\]\((?!https?:)([^)#]+)", (REPOSITORY / "README.md").read_text())

    assert len(linked) > 10
    assert not [one for one in linked if not (REPOSITORY / one).is_file()]
