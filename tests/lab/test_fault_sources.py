"""Faults of other files: known beside the catalogue, and told in one line where they are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.faults import CATALOGUE, __main__, sources

OWN = """\
from pytest_fabric.lab.faults import Fault


def pytest_fabric_faults():
    return [Fault({name!r}, ("port",), "text", "cause", on_port=lambda port: port)]
"""


def test_a_file_adds_faults_and_may_import_what_stands_beside_it(tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text("OURS = 'rust'\n")
    (tmp_path / "conftest.py").write_text(
        "from names import OURS\n" + OWN.replace("{name!r}", "OURS")
    )
    known = sources.known([tmp_path / "conftest.py"])

    assert list(known) == [*CATALOGUE, "rust"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OWN.format(name="link_speed"), "expected a new name, got 'link_speed'"),
        ("x = 1\n", "expected a function pytest_fabric_faults, found none"),
        ("def pytest_fabric_faults(): return [1]\n", "Fault, got int"),
        ("def pytest_fabric_faults(): return 1 / 0\n", "ZeroDivisionError"),
        ("import no_such_module\n", "ModuleNotFoundError"),
        ("def (:\n", "SyntaxError"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_one_line(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "conftest.py"
    path.write_text(text)

    with pytest.raises(ConfigError, match=message):
        sources.known([path])
    assert __main__.main([str(path)]) == 4
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_catalogue_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """With what a plan must know: where a fault can be, and how far it is seen."""
    assert __main__.main([]) == 0
    printed = json.loads(capsys.readouterr().out)

    assert [one["name"] for one in printed] == list(CATALOGUE)
    assert {one["spread"] for one in printed} <= {"place", "node", "next", "leaf", "fabric"}
