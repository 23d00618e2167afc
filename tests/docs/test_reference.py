"""The pages of the reference hold what the code has, each name once, and nothing is left out."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import pytest_fabric
from docs.reference import PAGES
from docs.reference.markdown import code, table, text
from docs.reference.options import recorded
from pytest_fabric import metrics
from pytest_fabric.config.written import ClusterFile
from pytest_fabric.counters.catalogue import CATALOGUE
from pytest_fabric.lab.faults import CATALOGUE as FAULTS
from pytest_fabric.report.schema import FILES
from pytest_fabric.tools import TOOLS


def named(page: str) -> set[str]:
    """Return what stands in the first cell of a row, or in a heading."""
    rows = re.findall(r"^\| `+([^` ]+)", PAGES[page](), re.M)
    headings = re.findall(r"^##+ (\S+)$", PAGES[page](), re.M)
    return {*rows, *headings}


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("options", lambda: recorded().options),
        ("metrics", metrics.names),
        ("faults", lambda: FAULTS),
        ("tools", lambda: TOOLS),
        ("cluster", lambda: ClusterFile.model_fields),
        ("declarations", lambda: pytest_fabric.__all__),
        ("fixtures", lambda: ("pair", "result", "limits", "ssh")),
        ("checks", lambda: ("test_small_write_p99", "test_pcie_width")),
        ("markers", lambda: ("pair", "pytest_fabric_faults()")),
        ("profiles", lambda: ("cx7-400g-roce", "soft-roce")),
        ("counters", lambda: ("np_cnp_sent", "mlx5_core")),
        ("run-directory", lambda: (files.replace("*", "NODE") for files, _ in FILES.values())),
        ("command", lambda: ("init", "compare", "parse")),
    ],
)
def test_a_page_has_every_name(page: str, wanted: Callable[[], list[str]]) -> None:
    assert set(wanted()) - named(page) == set()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_something_of_each(page: str) -> None:
    """No row without a meaning, no heading without text, nothing of Python that is no text."""
    made = PAGES[page]()

    assert made.startswith("# ")
    assert not re.search(r"<function|<class|object at 0x|^\|.*\bNone\b *\|$", made, re.M)
    assert not re.search(r"^## [^\n]+\n+(#|\Z)", made, re.M)


def test_every_driver_has_its_table() -> None:
    made = PAGES["counters"]()

    assert all(f"`{name}`" in made for name in CATALOGUE)


def test_text_is_no_markup() -> None:
    """What code says may hold what tables and HTML are made of."""
    assert text("a | b <c> *d* `e|f<g>` h_i") == (r"a \| b &lt;c&gt; \*d\* `e\|f<g>` h\_i")
    assert code("a`b") == "``a`b``"
    assert "`" not in text("a ` b")


def test_an_empty_table_is_refused() -> None:
    """It would describe nothing, and nobody would see it."""
    with pytest.raises(ValueError, match="expected rows below a, b, found none"):
        table(("a", "b"), [])
