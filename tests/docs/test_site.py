"""The site builds without a warning, and opens without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.reference import PAGES as REFERENCE
from docs.reference.__main__ import main as printed
from tests.docs.samples import PAGES, REPOSITORY

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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere_where_nothing_is_built(page: Path) -> None:
    """In a clone, and where it is hosted: the pages of the reference are not there yet."""
    linked = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())

    assert not [one for one in linked if not (page.parent / one).is_file()]
    assert linked or page.name != "README.md"


def test_each_page_of_the_reference_has_a_file_that_says_how_to_make_it() -> None:
    folder = REPOSITORY / "docs" / "reference"

    assert {path.stem for path in folder.glob("*.md")} == set(REFERENCE)
    for name, made in REFERENCE.items():
        said = (folder / f"{name}.md").read_text()
        assert said.startswith(made().partition("\n")[0] + "\n")
        assert f"$ python -m docs.reference {name}\n" in said


def test_the_reference_is_built_from_the_code(site: Path) -> None:
    """What stands in its place in a clone is not published."""
    built = [page.read_text() for page in (site / "reference").rglob("*.html")]

    assert [page for page in built if "ib_write_lat.p99" in page]
    assert not [page for page in built if "python -m docs.reference" in page]


def test_a_page_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(["metrics"]) == 0
    assert capsys.readouterr().out == REFERENCE["metrics"]()
    assert printed(["nonsense"]) == printed([]) == 4
    assert "expected one of options, command" in capsys.readouterr().err
