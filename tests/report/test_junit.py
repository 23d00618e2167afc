"""JUnit: every planned check once, in one state, in a file that any parser can read."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.report import junit
from pytest_fabric.report.planned import Planned
from pytest_fabric.results import Verdict

from .examples import HOSTILE, planned, verdict

PAIR = "gpu001:rail0..gpu002:rail0"


def written(
    path: Path, verdicts: list[Verdict], *, plan: list[Planned] | None = None
) -> ET.Element:
    """Return the parsed file of a run."""
    checks = plan if plan is not None else [planned(found) for found in verdicts]
    junit.write(path / "junit.xml", checks, verdicts, {"cluster": "pod-a"})
    return ET.fromstring((path / "junit.xml").read_bytes())


def states(root: ET.Element) -> list[tuple[str | None, str | None, list[str]]]:
    """Return class name, name and state of each case."""
    return [
        (case.get("classname"), case.get("name"), [e.tag for e in case if e.tag != "system-out"])
        for case in root.iter("testcase")
    ]


def test_each_outcome_is_one_terminal_state(tmp_path: Path) -> None:
    """Passed has no element; an outcome that is none is an error, never a pass."""
    outcomes = ["passed", "failed", "error", "skipped", "not run", "nonsense"]
    results = [verdict(f"gpu{n}", outcome) for n, outcome in enumerate(outcomes)]

    root = written(tmp_path, results)

    found = [tags for _, _, tags in states(root)]
    assert found == [[], ["failure"], ["error"], ["skipped"], ["error"], ["error"]]
    assert [error.get("type") for error in root.iter("error")] == ["error", "not run", "nonsense"]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("6", "1", "3")


@pytest.mark.parametrize("message", [None, "", " \n", "\x00\x1b[0m"])
@pytest.mark.parametrize("outcome", ["failed", "error", "skipped"])
def test_a_state_without_a_message_is_still_that_state(
    tmp_path: Path, outcome: str, message: str | None
) -> None:
    """junit-xml leaves out what has no text, which would make a failure a pass."""
    root = written(tmp_path, [verdict("gpu1", outcome, message=message)])

    assert all(tags for _, _, tags in states(root))


def test_what_never_reported_is_an_error(tmp_path: Path) -> None:
    """Also when the run was interrupted before anything ran."""
    plan = [planned(verdict("gpu1")), planned(verdict("gpu2"))]

    root = written(tmp_path, [verdict("gpu1")], plan=plan)

    assert [tags for _, _, tags in states(root)] == [[], ["error"]]
    [error] = root.iter("error")
    assert (error.get("type"), error.get("message")) == ("not run", "not run")


def test_there_is_one_suite_per_node_and_a_pair_belongs_to_its_client(tmp_path: Path) -> None:
    """Suites are in the order of the plan and carry the properties of the run."""
    results = [verdict("gpu002:rail0"), verdict(PAIR), verdict("gpu001", check="test_memlock")]

    root = written(tmp_path, results)

    suites = {suite.get("name"): len(suite.findall("testcase")) for suite in root}
    assert suites == {"gpu002": 1, "gpu001": 2}
    assert [suite.get("timestamp") for suite in root] == ["2026-11-29T13:21:00"] * 2
    assert [p.attrib for p in root.iter("property")] == [{"name": "cluster", "value": "pod-a"}] * 2


@pytest.mark.parametrize(
    ("nodeid", "target", "expected"),
    [
        (f"suites/test_4_pair.py::test_p99[{PAIR}]", PAIR, ("suites.test_4_pair", f"[{PAIR}]")),
        (
            "suites/test_1_link.py::TestUp::test_p99[a:b]",
            "a:b",
            ("suites.test_1_link.TestUp", "[a:b]"),
        ),
        ("suites/test_0.py::test_p99", "", ("suites.test_0", "")),
        ("free text", "gpu1", ("pair", "[gpu1]")),
    ],
)
def test_names_come_from_module_check_and_target(
    tmp_path: Path, nodeid: str, target: str, expected: tuple[str, str]
) -> None:
    """The same in every run, so that CI can follow a check over time."""
    [(classname, name, _)] = states(written(tmp_path, [replace(verdict(target), nodeid=nodeid)]))

    assert (classname, name) == (expected[0], f"test_p99{expected[1]}")


def test_names_stay_apart_when_a_check_has_more_parameters(tmp_path: Path) -> None:
    """CI systems merge cases of one name."""
    base = verdict("gpu1")
    results = [replace(base, nodeid=f"suites/t.py::test_p99[gpu1-{size}]") for size in (4, 4096)]

    names = [name for _, name, _ in states(written(tmp_path, results))]

    assert names == ["test_p99[gpu1-4]", "test_p99[gpu1-4096]"]


def test_values_and_limits_are_told_for_passes_too(tmp_path: Path) -> None:
    """JUnit has no properties per case here, so the output carries them."""
    root = written(tmp_path, [verdict("gpu1")])

    assert [out.text for out in root.iter("system-out")] == [
        "metric: ib_write_lat.4.p99\nvalue: 2.1 us\nlimit: <= 5 us (cluster.yaml:41)"
    ]


def test_the_first_line_of_a_message_is_its_summary(tmp_path: Path) -> None:
    """The whole text follows with its line breaks."""
    root = written(tmp_path, [verdict("gpu1", "failed", message="gpu1  P99 18 us\n  facts  x")])

    [failure] = root.iter("failure")
    assert failure.get("message") == "gpu1  P99 18 us"
    assert failure.text == "gpu1  P99 18 us\n  facts  x"


ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.just(HOSTILE)


@settings(deadline=None)  # a busy machine is no failure
@given(text=ANY_TEXT, outcome=st.sampled_from(["passed", "failed", "error", "skipped", "not run"]))
def test_no_text_can_break_the_file(
    tmp_path_factory: pytest.TempPathFactory, text: str, outcome: str
) -> None:
    """Escapes, NUL, `]]>`, U+FFFE and lone surrogates lose neither the file nor a state."""
    hostile = replace(
        verdict(text, outcome, text or "test", text, text),
        nodeid=text,
        metric=text,
        limit=text,
        limit_source=text,
    )

    root = written(tmp_path_factory.getbasetemp(), [hostile, verdict("gpu1")])

    assert sorted(len(tags) for _, _, tags in states(root)) == [0, 0 if outcome == "passed" else 1]


def test_the_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    """A reader never sees half a file, and no temporary one is left; folders are made."""
    path = tmp_path / "deep" / "er" / "junit.xml"
    for count in (3, 1):
        results = [verdict(f"gpu{n}") for n in range(count)]
        junit.write(path, [planned(found) for found in results], results, {})

    assert len(list(ET.fromstring(path.read_bytes()).iter("testcase"))) == 1
    assert [found.name for found in path.parent.iterdir()] == ["junit.xml"]


#: What junit-10.xsd of Jenkins' xUnit plugin allows: attributes (those with `!` are required), and
#: the elements below.
CASE_PARTS = {"skipped", "error", "failure", "system-out", "system-err"}
SCHEMA: dict[str, tuple[set[str], set[str]]] = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name!", "tests!", "failures!", "errors!", "group", "time", "skipped", "timestamp"}
        | {"hostname", "id", "package", "file", "log", "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), {"property"}),
    "property": ({"name!", "value!"}, set()),
    "testcase": ({"name!", "time", "classname", "group"}, CASE_PARTS),
    **dict.fromkeys(("skipped", "error", "failure"), ({"type", "message"}, set())),
    **dict.fromkeys(("system-out", "system-err"), (set(), set())),
}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")
WITH_TEXT = {"skipped", "error", "failure", "system-out", "system-err"}


def breaches(element: ET.Element) -> list[str]:
    """Return where an element breaks the schema."""
    allowed, parts = SCHEMA[element.tag]
    names = {name.rstrip("!") for name in allowed}
    found = [f"{element.tag}: attribute {name}" for name in set(element.attrib) - names]
    required = {name.rstrip("!") for name in allowed if name.endswith("!")}
    found += [f"{element.tag}: no {name}" for name in required - set(element.attrib)]
    time = element.get("time", "")
    if element.tag != "testcase" and not TIME.fullmatch(time):
        found.append(f"{element.tag}: time {time}")
    if element.tag not in WITH_TEXT and (element.text or "").strip():
        found.append(f"{element.tag}: text")
    for part in element:
        found += breaches(part) if part.tag in parts else [f"{element.tag}: {part.tag}"]
    return found


@pytest.mark.parametrize("group", junit.GROUPS)
def test_the_file_keeps_the_schema_of_jenkins_with_hostile_text(tmp_path: Path, group: str) -> None:
    """Jenkins' xUnit plugin refuses a whole file for one attribute that it does not know."""
    invalid = b"caf\xe9 \xff\xfe".decode(errors="surrogateescape")
    outcomes = ["passed", "failed", "error", "skipped", "not run"]
    results = [
        replace(
            verdict(f"gpu{n}{HOSTILE}", outcome, message=f"{HOSTILE}{invalid}\n]]>"),
            duration=8e-06,
            layer=f"pair{HOSTILE}",
        )
        for n, outcome in enumerate(outcomes)
    ]
    path = tmp_path / "junit.xml"
    junit.write(path, [planned(found) for found in results], results, {HOSTILE: invalid}, group)
    data = path.read_bytes()

    assert data.startswith(b'<?xml version="1.0" encoding="utf-8"?>')
    assert breaches(ET.fromstring(data)) == []


def test_suites_can_be_layers(tmp_path: Path) -> None:
    """The same cases under the same names, each once."""
    results = [verdict("gpu001"), verdict("gpu002"), replace(verdict("gpu001"), layer="link")]
    results[2] = replace(results[2], nodeid="suites/test_1_link.py::test_p99[gpu001]")
    plan = [planned(found) for found in results]
    junit.write(tmp_path / "junit.xml", plan, results, {}, "layer")
    root = ET.fromstring((tmp_path / "junit.xml").read_bytes())

    assert [(s.get("name"), s.get("tests"), s.get("hostname")) for s in root] == [
        ("pair", "2", None),
        ("link", "1", None),
    ]
    assert root.get("tests") == "3"
