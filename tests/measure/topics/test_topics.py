"""Every topic: its metrics are those of the table, and what nobody says is a problem."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric import declare
from pytest_fabric.config import SWITCHES, load_text
from pytest_fabric.errors import MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.topics import FleetResult, TopicResult
from pytest_fabric.measure.plan import Want
from pytest_fabric.measure.topics import TOPICS, asked
from pytest_fabric.measure.topics.topic import Subject, Topic
from pytest_fabric.metrics import TOPICS as METRICS
from pytest_fabric.results import Fact, Gid
from pytest_fabric.tools import allowed
from tests.clusters import TEXT, cluster

from .ends import FACTS, RDMA, outcome, subject

NOTHING = outcome("", 1, "sh: 1: not found")
SITE = load_text(TEXT + "collectives: {launcher: gpu001, gpus_per_node: 4}\n", Path("cluster.yaml"))
NODE = Subject("gpu001", FACTS, (), cluster=SITE)
GIDS = (Gid(3, "::ffff:10.1.0.1", "RoCE v2", "ens1"),)


def test_topics_and_their_metrics_are_the_same() -> None:
    assert TOPICS.keys() | SWITCHES == METRICS.keys()


@pytest.mark.parametrize("topic", METRICS)
def test_the_last_word_of_a_metric_is_its_name(topic: str) -> None:
    names = [metric.rpartition(".")[2] for metric in METRICS[topic]]

    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)


@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
def test_a_node_that_says_nothing_has_problems_and_no_values(topic: Topic) -> None:
    outcomes = dict.fromkeys(topic.sections(NODE), NOTHING)

    facts = topic.read(NODE, outcomes)

    assert all(fact.value is None for said in facts.values() for fact in said.values())
    assert all(f.problem or f.inapplicable for said in facts.values() for f in said.values())


def test_a_fact_is_read_by_its_last_word() -> None:
    result = TopicResult("gpu001", "host", {"host.governor": Fact("powersave")}, Ledger())

    assert result.governor.number == "powersave"
    with pytest.raises(MissingValueError, match=r"host has no 'gouvernor'"):
        _ = result.gouvernor


def test_a_problem_is_no_value() -> None:
    facts = {"host.governor": Fact(None, "no CPU shows it")}

    with pytest.raises(MissingValueError, match=r"gpu001: host.governor: no CPU shows it"):
        _ = TopicResult("gpu001", "host", facts, Ledger()).governor
    with pytest.raises(MissingValueError, match=r"gpu001: host.governor: it does not say"):
        _ = TopicResult("gpu001", "host", {}, Ledger()).governor


def fleet(**said: str) -> FleetResult:
    facts = {node: {"host.governor": Fact(word)} for node, word in said.items()}
    return FleetResult("host", facts, Ledger())


def test_the_odd_ones_are_named() -> None:
    value = fleet(a="performance", b="performance", c="powersave").odd("governor")

    assert value.number == 1
    assert value.detail == ("c powersave, 2 of 3 have performance",)


def test_of_two_that_differ_one_is_odd() -> None:
    assert fleet(a="performance", b="powersave").odd("governor").number == 1


def test_alike_are_none() -> None:
    assert fleet(a="performance", b="performance").odd("governor").number == 0


def test_nobody_is_no_uniformity() -> None:
    with pytest.raises(MissingValueError):
        fleet().odd("governor")


def test_what_is_asked_of_ports_is_asked_of_their_nodes() -> None:
    want = Want(declare.host_facts(), "gpu001")

    assert [(topic.name, node) for topic, node in asked([want], cluster())] == [("host", "gpu001")]


def test_topics_are_over_their_own_kind_or_the_fabric() -> None:
    assert declare.host_facts(over="fabric").over == "fabric"
    with pytest.raises(ValueError, match="expected node or fabric"):
        declare.host_facts(over="pair")


@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
@pytest.mark.parametrize("layer", ["Ethernet", "InfiniBand"])
def test_a_network_device_with_an_odd_name_is_not_asked(topic: Topic, layer: str) -> None:
    """What a node calls its devices neither reaches a shell nor keeps the rest from being asked."""
    port = replace(RDMA, netdevs=("$(reboot)",), link_layer=layer, gids=GIDS)
    node = subject(port, site=SITE)

    for words in topic.sections(node).values():
        allowed.require(words)


@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)
def test_an_output_that_is_cut_off_is_no_value(topic: Topic) -> None:
    """Whatever it says: the first lines of many may leave out the bad ones."""
    lines = "/proc/sys/net/core/rmem_max:1\n/sys/devices/system/cpu/cpu0/cpufreq/x:performance\n"
    cut = replace(outcome(lines), truncated=True)
    node = subject(replace(RDMA, firmware=None, psid=None, gids=GIDS), site=SITE)

    for said in topic.read(node, dict.fromkeys(topic.sections(node), cut)).values():
        values = {name for name, fact in said.items() if fact.value is not None}
        # Known before the topic is asked:
        assert values <= {
            *("roce.gid_netdev", "roce.gid_version", "roce.gid_index"),
            *("roce.traffic_class_override", "pcie.numa_node"),
        }


def test_only_targets_whose_own_profile_says_so_are_left_out() -> None:
    """A profile of storage nodes must not hide the minority among the others."""
    facts = {node: {"host.governor": Fact(word)} for node, word in (("a", "x"), ("b", "x"))}
    facts["c"] = {"host.governor": Fact("y")}

    def exempt(target: str, metric: str) -> str | None:
        return "storage" if target == "s" else None

    def skip(metric: str) -> None:
        raise LookupError(metric)

    mixed = FleetResult("host", facts, Ledger(), skip, ("a", "b", "c", "s"), exempt)
    alone = FleetResult("host", facts, Ledger(), skip, ("s",), exempt)

    assert mixed.odd("governor").detail == ("c y, 2 of 3 have x",)
    with pytest.raises(LookupError):
        alone.odd("governor")


def test_a_target_that_is_not_there_is_not_passed_over() -> None:
    result = FleetResult("host", {"a": {"host.governor": Fact("x")}}, Ledger(), targets=("a", "b"))

    with pytest.raises(MissingValueError, match=r"b: host\.governor: it does not say"):
        result.odd("governor")


def test_targets_of_other_profiles_may_say_something_else() -> None:
    """Two storage nodes have a kernel of their own; one of three compute nodes must not."""
    said = {
        **dict.fromkeys(("s1", "s2"), "6.1"),
        **dict.fromkeys(("c1", "c2"), "6.8"),
        "c3": "6.5",
    }
    facts = {node: {"host.kernel": Fact(kernel)} for node, kernel in said.items()}
    whole = FleetResult("host", facts, Ledger(), profile=lambda node: f"profile {node[0]}")

    assert whole.odd("kernel").number == 3
    found = whole.odd("kernel", among="profile")
    assert found.detail == ("c3 6.5, 2 of 3 of profile c have 6.8",)
