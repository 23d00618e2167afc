"""`--fabric-prove`: a suite is whole, or it is told what is wanting; a gate that holds is seen."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from .runs import at_once

#: Tests of ours: one that finds a fault of ours, one that does not, one that always fails.
SUITE = """\
from pytest_fabric import catches, host_facts, measure, port_facts


@catches("kernel_of_ours")
@measure(host_facts())
def test_kernel(result):
    assert result.kernel != "6.6.6"


@catches("port_down")
@measure(port_facts())
def test_blind(result):
    assert result.state != "asleep"


@measure(port_facts())
def test_bare(result):
    assert result.state == "ACTIVE"


@catches("no_such_fault")
@measure(port_facts())
def test_angry(result):
    assert result.state == "asleep"
"""

CONFTEST = """\
from dataclasses import replace

from pytest_fabric.lab.faults import Fault


def pytest_fabric_faults():
    return [
        Fault(
            "kernel_of_ours",
            ("node",),
            "the node runs a kernel of the beast",
            "somebody built it",
            on_node=lambda node: replace(node, kernel="6.6.6"),
        )
    ]
"""

#: What holds for every value, and is a comparison: without one a pass would be an error.
ALWAYS = """
from pytest_fabric.units import Quantity


def always(value):
    word = value.unit == "word"
    return value != "no such word" if word else value <= Quantity(1e30, value.unit)
"""

#: How many tests of each suite are changed: all that need waves of their own, one of each.
SEED = 5
MUTATED = {
    "test_0_wiring.py": 1,
    "test_1_link.py": 3,
    "test_1_switch.py": 1,
    "test_2_firmware.py": 1,
    "test_2_host.py": 2,
    "test_2_qos.py": 2,
    "test_3_reach.py": 1,
    "test_3_subnet.py": 1,
    "test_4_pair.py": 3,
    "test_5_node.py": 1,
    "test_6_fabric.py": 1,
    "test_7_tcp.py": 1,
    "test_8_collective.py": 1,
    "test_9_switch.py": 1,
}


def proof(site: pytest.Pytester) -> dict[str, Any]:
    """Return what the last proof wrote."""
    found: dict[str, Any] = json.loads(max(site.path.glob("fabric-runs/*/prove.json")).read_text())
    return found


def test_a_selection_is_proven_by_the_faults_that_it_declares(site: pytest.Pytester) -> None:
    done = site.runpytest_subprocess(
        "suites/test_1_link.py", "-k", "test_link_speed or test_link_width", "--fabric-prove"
    )

    assert done.ret == 0
    done.stdout.fnmatch_lines(
        [
            "link_speed *gpu0* link_speed*",
            "fewer_lanes *gpu0* link_speed, link_width*",
            "4 of 4 faults caught, 0 uncaught faults, 0 unproven tests, 0 false alarms",
            "proof directory: *fabric-runs/prove-*",
        ]
    )
    assert proof(site)["is_whole"] is True


def test_faults_of_a_hook_are_proven_and_what_is_wanting_is_told(site: pytest.Pytester) -> None:
    """Each of the tests is wanting in its own way, and the one that is sound is not named."""
    ours = site.path / "ours"
    ours.mkdir()
    (ours / "conftest.py").write_text(CONFTEST)
    (ours / "test_ours.py").write_text(SUITE)
    done = site.runpytest_subprocess("ours/test_ours.py", "--fabric-prove")
    found = proof(site)

    assert done.ret == 1
    rows = {row["fault"]: row["declared"] for row in found["rows"]}
    assert rows == {
        "kernel_of_ours": {"test_kernel": "failed"},
        "port_down": {"test_blind": "passed"},
    }
    assert [line.partition("@")[0] for line in found["uncaught"]] == ["port_down"]
    assert [line.partition(":")[0] for line in found["unproven"]] == [
        "test_blind",
        "test_bare",
        "test_angry",
    ]
    assert found["alarms"]
    assert all(line.startswith("test_angry[") for line in found["alarms"])
    assert found["troubles"] == ["test_angry: expected faults of the catalogue, got no_such_fault"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fabric-fault=port_down@gpu001:rail0"], "--fabric-prove: expected no --fabric-fault"),
        (["--fabric-plan"], "--fabric-prove: expected no --fabric-plan"),
        (["-n2"], "--fabric-prove: expected no -n"),
    ],
)
def test_what_makes_no_sense_beside_a_proof_is_refused(
    site: pytest.Pytester, options: list[str], message: str
) -> None:
    done = at_once(site, "suites/test_1_link.py", "--fabric-prove", *options)

    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: {message}*"])


def test_real_machines_are_never_broken(site: pytest.Pytester) -> None:
    cluster = site.path / "cluster.yaml"
    cluster.write_text(cluster.read_text().replace("transport: lab", "transport: ssh"))
    done = at_once(site, "suites/test_1_link.py", "--fabric-prove")

    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(
        ["ERROR: --fabric-prove: expected transport lab in cluster.yaml, got ssh*"]
    )


@dataclass(frozen=True)
class Written:
    """A test of the shipped suites: its module, the faults it declares, and how it asserts."""

    module: str
    faults: frozenset[str]
    is_comparison: bool


def written(paths: Sequence[Path]) -> dict[str, Written]:
    """Return the tests of modules by name, those left out whose name two modules have."""
    found: dict[str, Written] = {}
    seen: Counter[str] = Counter()
    for path in paths:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                calls = [one for one in node.decorator_list if isinstance(one, ast.Call)]
                named = [call for call in calls if ast.unparse(call.func) == "catches"]
                faults = frozenset(ast.literal_eval(arg) for call in named for arg in call.args)
                asserted = [one for one in ast.walk(node) if isinstance(one, ast.Assert)]
                compares = [one for one in asserted if isinstance(one.test, ast.Compare)]
                is_comparison = len(asserted) == len(compares) == 1
                found[node.name] = Written(path.name, faults, is_comparison)
                seen[node.name] += 1
    return {name: test for name, test in found.items() if seen[name] == 1}


def mutate(path: Path, names: set[str]) -> None:
    """Let the assertions of tests always hold; what they read is read as before."""
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Assert):
                    assert isinstance(inner.test, ast.Compare)
                    inner.test = ast.Call(ast.Name("always"), [inner.test.left], [])
    path.write_text(ast.unparse(ast.fix_missing_locations(tree)) + ALWAYS)


def sample(tests: Mapping[str, Written]) -> set[str]:
    """Return tests drawn by the seed: as many of each suite as MUTATED says."""
    chance = Random(SEED)
    chosen: set[str] = set()
    for module, count in MUTATED.items():
        names = [n for n, t in tests.items() if t.module == module and t.faults and t.is_comparison]
        assert len(names) >= count, module
        chosen |= set(chance.sample(sorted(names), count))
    return chosen


def test_tests_whose_assertions_always_hold_are_found_out(site: pytest.Pytester) -> None:
    """Those that were changed, and no others, are unproven; their faults are uncaught.

    Tests of a suite that declare a fault of a changed one are proven beside it: other catchers.
    """
    paths = sorted((site.path / "suites").glob("test_*.py"))
    tests = written(paths)
    chosen = sample(tests)
    assert len(chosen) >= 15
    for path in paths:
        mutate(path, chosen)
    chosen_faults = {(tests[name].module, fault) for name in chosen for fault in tests[name].faults}
    proven = {
        name: test
        for name, test in tests.items()
        if any((test.module, fault) in chosen_faults for fault in test.faults)
    }
    ids = [f"suites/{test.module}::{name}" for name, test in proven.items()]
    done = site.runpytest_subprocess(*ids, "--fabric-prove", timeout=900)
    found = proof(site)

    assert done.ret == 1
    assert {line.partition(":")[0] for line in found["unproven"]} == chosen
    assert found["alarms"] == []
    catchers: dict[str, set[str]] = {}
    for name, test in proven.items():
        for fault in test.faults:
            catchers.setdefault(fault, set()).add(name)
    left = {
        row["fault"]: {name for name, mark in row["declared"].items() if mark == "error"}
        for row in found["rows"]
    }
    blind = {fault for fault, named in catchers.items() if named <= chosen and not left[fault]}
    assert blind
    assert {line.partition("@")[0] for line in found["uncaught"]} == blind
