"""YAML with places: scalars stay text, and every value knows its line and path."""

from __future__ import annotations

from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.config import cluster_schema, load_text
from pytest_fabric.config.problems import Problems
from pytest_fabric.config.wording import Plain
from pytest_fabric.config.yaml_lines import Table, parse
from pytest_fabric.errors import ConfigError
from tests.clusters import TEXT

CLUSTER_FILE = Path("cluster.yaml")


def read(text: str) -> Table:
    problems = Problems("x.yaml")
    table = parse(text, problems)
    problems.refuse()
    return table


def test_scalars_stay_text() -> None:
    """What a scalar means is for its key to say; only nothing is told from text."""
    table = read("a: on\nb: 0777\nc: 0000:01:00.0\nd: 'x'\ne:\nf: ~\ng: null\nh: 'null'\n")

    assert table == {
        **{"a": "on", "b": "0777", "c": "0000:01:00.0", "d": "x"},
        **{"e": None, "f": None, "g": None, "h": "null"},
    }
    assert isinstance(table["a"], Plain)
    assert not isinstance(table["d"], Plain)


def test_every_value_knows_its_place() -> None:
    """The line of a value is that of its key; an item has its own."""
    table = read("a:\n  b:\n    c: 1\n    d: {e: 2}\nf:\n  - x\n  - [y, z]\n")

    assert str(table["a"]["b"].marks["d"]) == "x.yaml:4"
    assert table["a"]["b"]["d"].marks["e"].path == "a.b.d.e"
    assert [mark.line for mark in table["f"].marks] == [6, 7]
    assert table["f"][1].marks[0].path == "f[1][0]"


def test_an_alias_shares_the_value_of_its_anchor() -> None:
    """A value that is written once is wrong in one place."""
    table = read("a: &x {b: 1}\nc: *x\n")

    assert table["c"] is table["a"]
    assert str(table.marks["c"]) == "x.yaml:2"
    assert table["c"].marks["b"].path == "a.b"


def test_a_problem_of_a_shared_value_is_told_once() -> None:
    """Two nodes with one wrong rail are one problem."""
    text = (
        "nodes: {a: {profile: p, rails: &r {x: {pci: 1}}}, b: {profile: p, rails: *r}}\n"
        "profiles: {p: {link: {layer: Ethernet}}}\n"
    )

    assert len(refused(text)) == 1


def refused(text: str) -> tuple[str, ...]:
    """Return the lines that a text is refused with, none when it is a cluster."""
    try:
        load_text(text, CLUSTER_FILE)
    except ConfigError as error:
        return error.lines or ("nothing was said",)
    return ()


def test_hostile_nesting_is_refused() -> None:
    """Thousands of levels end in one line, with any version of the parser."""
    assert len(refused("name: " + "[" * 100_000)) == 1
    assert len(refused("".join(f"{' ' * level}a:\n" for level in range(2000)))) == 1


def check(text: str) -> None:
    """Fail unless a text is a cluster, or is refused with lines that each have a place."""
    for line in refused(text):
        assert line.isprintable()
        assert line.startswith(("cluster.yaml:", "builtin/"))


@settings(deadline=None)
@given(st.one_of(st.text(), st.text(alphabet="ab:-{}[]&*!<|>%@`'\"#,? \n\t")))
def test_any_text_is_a_cluster_or_lines(text: str) -> None:
    """Nothing but ConfigError is ever raised, whatever the text."""
    check(text)


def keys_of_the_schema(schema: object) -> set[str]:
    found: set[str] = set()
    if isinstance(schema, dict):
        found |= set(schema.get("properties", {}))
        for value in schema.values():
            found |= keys_of_the_schema(value)
    if isinstance(schema, list):
        for value in schema:
            found |= keys_of_the_schema(value)
    return found


KEYS = [*sorted(keys_of_the_schema(cluster_schema())), "rail0", "gpu[1-2]", "p", "1", "<<"]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["p", "builtin/soft-roce", "<= 5 us", "gpu1:rail0..gpu2:rail0", "400 Gb/s"]),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), TREES, max_size=6))
def test_known_keys_with_any_values_are_a_cluster_or_lines(tree: dict[str, object]) -> None:
    """Values of the wrong kind at the right place are refused, never stumbled over."""
    check(yaml.safe_dump(tree, allow_unicode=True))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_good_file_with_one_change_is_a_cluster_or_lines(data: st.DataObject) -> None:
    """One value that is replaced by any other spoils nothing but itself."""
    tree = yaml.safe_load(TEXT)
    part = tree
    while True:
        options = list(part) if isinstance(part, dict) else list(range(len(part)))
        key = data.draw(st.sampled_from(options))
        if not isinstance(part[key], (dict, list)) or not part[key] or data.draw(st.booleans()):
            break
        part = part[key]
    part[key] = data.draw(TREES)

    check(yaml.safe_dump(tree, allow_unicode=True))
