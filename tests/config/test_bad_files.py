"""Every way in which a cluster file can be wrong gives its own lines, and nothing but lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fabric.config import load
from pytest_fabric.errors import ConfigError

FOLDER = Path(__file__).parent / "bad"
FILES = sorted(FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_bad_file_gives_its_lines(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All problems of a file are told together, each with file, line, path and remedy."""
    monkeypatch.chdir(FOLDER)

    with pytest.raises(ConfigError) as caught:
        load(Path(path.name))

    assert list(caught.value.lines) == path.with_suffix(".txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_line_says_what_was_expected(path: Path) -> None:
    """A message names its place first, and then what was expected and what was found."""
    for line in path.with_suffix(".txt").read_text("utf-8").splitlines():
        place, _, message = line.partition(": ")

        assert place.startswith((f"{path.name}:", f"{path.stem}.csv:", "builtin/"))
        assert "expected " in message
        assert "got" in message or "found none" in message


def test_every_expectation_has_its_file() -> None:
    """No expected text is left behind when a case goes."""
    assert [path.with_suffix(".yaml") for path in sorted(FOLDER.glob("*.txt"))] == FILES


def test_no_file_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a cluster file the remedy is named."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError, match=r"^cluster\.yaml: expected a cluster file, found none: "):
        load(Path("cluster.yaml"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """What cannot be read gives the system's reason."""
    with pytest.raises(ConfigError, match="expected a readable file, got: Is a directory"):
        load(tmp_path)


def test_an_endless_file_is_refused(tmp_path: Path) -> None:
    """A file larger than any cluster is not read to its end."""
    large = tmp_path / "cluster.yaml"
    with large.open("wb") as file:
        file.truncate(17 * 2**20)

    with pytest.raises(ConfigError, match="expected at most 16 MiB, got more"):
        load(large)
