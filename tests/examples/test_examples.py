"""The examples are valid: what people copy must not be wrong in the first place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from pytest_fabric import options
from pytest_fabric.cli import main
from pytest_fabric.config import load
from pytest_fabric.pairs import select
from pytest_fabric.report import explain

FOLDER = Path(__file__).parents[2] / "examples"
CLUSTERS = sorted(FOLDER.glob("*.yaml"))
RECIPES = sorted((FOLDER / "ci").iterdir())


@pytest.mark.parametrize("path", CLUSTERS, ids=lambda path: path.stem)
def test_a_cluster_file_loads_and_has_pairs(path: Path) -> None:
    """Without a problem, with ports, limits, and someone to measure with on each rail."""
    cluster = load(path)

    assert len(cluster.ports()) >= 32
    by_layer: dict[str, list] = {}  # type: ignore[type-arg]
    for port in cluster.ports():
        by_layer.setdefault(cluster.rail(port).profile.link.layer, []).append(port)
    leaves = {p: leaf for p in cluster.ports() if (leaf := cluster.rail(p).leaf) is not None}
    for ports in by_layer.values():
        strategy = cluster.pairs.strategy
        paired = select(
            strategy, ports, leaves=leaves, seed=1, peers=4, cross_rail=False, listed=()
        )
        assert {end for pair in paired for end in (pair.client, pair.server)} == set(ports)
    assert all(profile.limits for profile in cluster.profiles.values())
    assert explain.lines(explain.Known(cluster, {}), str(cluster.ports()[0]))


def test_the_examples_cover_both_layers_and_are_listed() -> None:
    """A file that the table leaves out is not found."""
    table = (FOLDER / "README.md").read_text()
    named = set(re.findall(r"`((?:ci/)?[\w.-]+)`", table))

    files = {path.relative_to(FOLDER).as_posix() for path in (*CLUSTERS, *RECIPES)}
    assert files <= named
    layers = {p.link.layer for path in CLUSTERS for p in load(path).profiles.values()}
    assert layers == {"Ethernet", "InfiniBand"}


class Names:
    """Takes the names of options as pytest would."""

    def __init__(self) -> None:
        self.known: set[str] = set()

    def getgroup(self, *words: str) -> Names:
        return self

    def addoption(self, name: str, **rest: object) -> None:
        self.known.add(name)

    def addini(self, *words: str) -> None:
        pass


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_a_recipe_uses_options_and_commands_that_exist(path: Path) -> None:
    """And is YAML where it should be."""
    text = path.read_text()
    if path.suffix == ".yml":
        assert isinstance(yaml.safe_load(text), dict)
    names = Names()
    options.add(names)  # type: ignore[arg-type]
    used = set(re.findall(r"--fabric-[a-z-]+", text))
    commands = set(re.findall(r"bin/pytest-fabric (\w+)", text))
    known = {
        command.callback.__name__ for command in main.app.registered_commands if command.callback
    }

    assert used
    assert used <= names.known
    assert commands
    assert commands <= known
