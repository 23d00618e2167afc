"""Collection: ids from the inventory alone, and one line for whatever is wrong with it."""

from __future__ import annotations

import pytest

from tests.clusters import TEXT

from .runs import at_once

SUITE = """
from pytest_fabric import ib_write_lat, measure, port_facts, us

@measure(ib_write_lat(size=4))
def test_p99(result):
    assert result.p99 < us(5)

@measure(port_facts())
def test_state(result):
    assert result.state == "ACTIVE"
"""

PAIRS = "test_p99[gpu001:rail0..gpu002:rail0]"


@pytest.fixture(autouse=True)
def quiet(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider\n")


def suite(pytester: pytest.Pytester, text: str = SUITE, cluster: str | None = TEXT) -> None:
    pytester.makepyfile(test_suite=text)
    if cluster is not None:
        (pytester.path / "cluster.yaml").write_text(cluster)


def test_ids_come_from_the_inventory_and_nobody_is_contacted(pytester: pytest.Pytester) -> None:
    """Collection knows every item without a network."""
    suite(pytester, cluster=TEXT.replace("transport: lab", "transport: ssh"))

    done = at_once(pytester, "--collect-only", "-q")

    assert done.ret == 0
    done.stdout.fnmatch_lines(
        [
            "test_suite.py::test_p99[[]gpu001:rail0..gpu002:rail0]",
            "test_suite.py::test_p99[[]gpu002:rail0..gpu001:rail0]",
            "test_suite.py::test_state[[]gpu001:rail0]",
            "test_suite.py::test_state[[]gpu002:rail0]",
        ]
    )
    assert not (pytester.path / "fabric-runs").exists()


def test_ids_select_with_k(pytester: pytest.Pytester) -> None:
    """`:` and `..` are safe in -k."""
    suite(pytester)

    done = at_once(pytester, "--collect-only", "-q", "-k", "gpu001:rail0..gpu002:rail0")

    done.stdout.fnmatch_lines(["*1/4 tests collected*"])


def test_a_run_without_fabric_tests_sees_nothing_of_the_plugin(pytester: pytest.Pytester) -> None:
    """The plugin is loaded in every run of its environment, even where names collide."""
    suite(
        pytester,
        "import pytest\n\n@pytest.fixture\ndef node():\n    return 1\n\n"
        "def test_theirs(node):\n    assert node == 1\n",
        cluster="wrong: [",
    )

    done = pytester.runpytest_subprocess()

    done.assert_outcomes(passed=1)
    done.stdout.no_fnmatch_line("*fabric*run*")
    assert not (pytester.path / "fabric-runs").exists()


def test_no_inventory_is_one_line_and_exit_status_4(pytester: pytest.Pytester) -> None:
    """The first thing a newcomer meets must say what to do."""
    suite(pytester, cluster=None)

    done = pytester.runpytest_subprocess()

    assert done.ret == 4
    done.stderr.fnmatch_lines(["ERROR: *cluster.yaml: expected a cluster file, found none*"])
    done.stderr.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("options", [(), ("--fabric-cluster=cluster.yaml",)])
def test_a_wrong_key_is_one_line_with_its_place(
    pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    """Whether the file was named or found, the error is the same."""
    suite(pytester, cluster=TEXT.replace("pairs:", "piars:"))

    done = at_once(pytester, *options)

    assert done.ret == 4
    done.stderr.fnmatch_lines(["ERROR: cluster.yaml:18: *piars*pairs*"])
    assert len([line for line in done.errlines if line.strip()]) == 1


def test_a_broken_inventory_leaves_help_alone(pytester: pytest.Pytester) -> None:
    """`pytest --help` must work while the file is being mended."""
    suite(pytester, cluster="wrong: [")

    assert at_once(pytester, "--help").ret == 0
    assert at_once(pytester, "--markers").ret == 0


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (
            "@measure(port_facts())\n@measure(ib_write_lat())\ndef test_x(result): pass",
            "*test_x: expected one measure marker*",
        ),
        ("@measure(port_facts())\ndef test_x(): pass", "*test_x*expected a test with a measure*"),
        (
            "@measure(port_facts())\ndef test_x(result, pair): pass",
            "*test_x: expected one kind of target, found pair and port*",
        ),
        ("def test_x(limits): pass", "*test_x: expected a measure marker or one of*"),
    ],
)
def test_wrong_use_is_one_line(pytester: pytest.Pytester, test: str, message: str) -> None:
    """A slip in a suite is told with the test's name, and nothing runs."""
    suite(pytester, f"from pytest_fabric import *\n\n{test}\n")

    done = at_once(pytester)

    assert done.ret == 4
    done.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_an_empty_list_of_pairs_is_an_error(pytester: pytest.Pytester) -> None:
    """One node makes no pair: that must not pass as `no tests`."""
    suite(pytester)

    done = at_once(pytester, "--fabric-nodes=gpu001", "-k", "test_p99")

    assert done.ret == 10
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*no-pair: *found no pair among 1 ports*"])


def test_unknown_nodes_are_refused(pytester: pytest.Pytester) -> None:
    """A slip in a node set must not test fewer nodes in silence."""
    suite(pytester)

    done = at_once(pytester, "--fabric-nodes=gpu[001-003]")

    assert done.ret == 4
    done.stderr.fnmatch_lines(
        ["ERROR: --fabric-nodes: expected nodes of cluster.yaml *, got gpu003"]
    )


def test_faults_need_the_lab(pytester: pytest.Pytester) -> None:
    """A real fabric is never broken by an option."""
    suite(pytester, cluster=TEXT.replace("transport: lab", "transport: ssh"))

    done = at_once(pytester, "--fabric-fault=ssh_down@gpu001")

    assert done.ret == 4
    done.stderr.fnmatch_lines(["ERROR: --fabric-fault: expected transport lab*"])


@pytest.mark.parametrize("plan", [(), ("--fabric-plan",)], ids=["run", "plan"])
def test_a_fault_that_the_lab_does_not_know_is_refused(
    pytester: pytest.Pytester, plan: tuple[str, ...]
) -> None:
    """A plan refuses what a run would."""
    suite(pytester)

    done = at_once(pytester, "--fabric-fault=pcie_wdth@gpu001", *plan)

    assert done.ret == 4
    done.stderr.fnmatch_lines(["ERROR: *pcie_wdth*pcie_width*"])
    assert not (pytester.path / "fabric-runs").exists()


def test_a_marker_of_the_same_name_of_another_project_is_left_alone(
    pytester: pytest.Pytester,
) -> None:
    """Names such as `measure` are not ours alone."""
    suite(
        pytester,
        "import pytest\n\n@pytest.mark.measure('theirs')\ndef test_theirs():\n    pass\n",
        cluster=None,
    )

    at_once(pytester).assert_outcomes(passed=1)


def test_a_layer_is_a_marker(pytester: pytest.Pytester) -> None:
    """`-m link` selects the tests of `test_1_link.py`, and no other."""
    check = "from pytest_fabric import *\n@measure(port_facts())\ndef test_{}(result): pass\n"
    suite(pytester)
    pytester.makepyfile(test_1_link=check.format("a"), test_3_reach=check.format("b"))

    done = at_once(pytester, "--collect-only", "-q", "-m", "link", "--strict-markers")

    ids = [line for line in done.outlines if "::" in line]
    assert ids
    assert all(line.startswith("test_1_link.py::test_a[") for line in ids)
