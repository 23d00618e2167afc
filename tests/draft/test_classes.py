"""The class of RDMA traffic in a first profile: what most nodes show, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.config import builtin_profile, load_text
from pytest_fabric.draft import classes, seen_class
from pytest_fabric.results import Fact, Port

BASE = "cx7-400g-roce"
INBOX = "ens1: mlx5_core shows no ecn: install the driver of DOCA-Host"

Said = Mapping[str, float | str | None]


def facts(changes: Said) -> dict[str, Fact]:
    """Return what a sound port of OFED shows, changed; None is what cannot be read."""
    values: dict[str, float | str | None] = {
        "roce.trust": "dscp",
        "roce.lossless": "3",
        "roce.cnp_dscp": 48,
        "roce.cnp_priority": 6,
        **{f"roce.ecn.{one}": "on" for one in range(8)},
        **{f"roce.dscp.{one}": one >> 3 for one in range(64)},
        "roce.told": None,
        **changes,
    }
    return {name: Fact(value, INBOX if value is None else None) for name, value in values.items()}


def profile(*ports: Said, base: str = BASE) -> tuple[str, str]:
    """Return the lines of one port on each node as they are written, and what loads of them."""
    seen = {Port(f"gpu00{n}", "rail0"): facts(said) for n, said in enumerate(ports, 1)}
    return written(classes.adopt(base, builtin_profile(base), seen), base)


def written(found: list[classes.Found], base: str = BASE) -> tuple[str, str]:
    """Return lines as they are written, and the class that a cluster file has with them."""
    lines = "\n".join(f"    {line}" for line in classes.lines(found))
    text = (
        "name: f\ntransport: ssh\nnodes: {a: {profile: p}}\n"
        'rails: {rail0: {pci: "0000:1a:00.0", network: 10.1.0.0/16}}\n'
        f"profiles:\n  p:\n    extends: builtin/{base}\n{lines}\n"
    )
    roce = load_text(text, Path("cluster.yaml")).profiles["p"].roce
    assert roce is not None
    cnp = f"{roce.cnp.dscp}/{roce.cnp.priority}" if roce.cnp else "none"
    shown = f"{list(roce.lossless)} {roce.trust} {roce.dscp} {roce.priority} {roce.ecn} {cnp}"
    return lines, shown


ALL_OFF = {f"roce.ecn.{one}": "off" for one in range(8)}
NO_ECN = {f"roce.ecn.{one}": None for one in range(8)}
ONE_DSCP = {f"roce.dscp.{one}": None for one in range(64) if one != 26}
CARD = {"roce.trust": "pcp", "roce.lossless": "none", **{f"roce.dscp.{n}": None for n in range(64)}}

#: What two, three or four nodes show; what the profile is then; what a line says of it.
CASES: Mapping[str, tuple[list[Said], str, list[str]]] = {
    "sound": (
        [{}, {}],
        "[3] dscp 26 None True 48/6",
        [
            "lossless: [3] # as found on 2 of 2 nodes\n",
            "ecn: true # as found on 2 of 2 nodes\n",
            "dscp: 48 # as found on 2 of 2 nodes\n",
            "# dscp: 26 of builtin/cx7-400g-roce stays: not read on gpu[001-002]\n",
            "# not read on gpu[001-002]: the DSCP of RDMA: 24-31 lead to priority 3, and",
        ],
    ),
    "only one DSCP leads there": (
        [ONE_DSCP, ONE_DSCP],
        "[3] dscp 26 None True 48/6",
        ["dscp: 26 # as found on 2 of 2 nodes\n"],
    ),
    "the node gives a DSCP": (
        [{"roce.told": 30}, {"roce.told": 30}],
        "[3] dscp 30 None True 48/6",
        ["dscp: 30 # as found on 2 of 2 nodes; builtin/cx7-400g-roce has 26"],
    ),
    "it gives one that leads elsewhere": (
        [{"roce.told": 0}],
        "[3] dscp 26 None True 48/6",
        ["# dscp: 26 of builtin/cx7-400g-roce stays: not read"],
    ),
    "most have it": (
        [{}, {}, {"roce.lossless": "4", "roce.cnp_dscp": 0}],
        "[3] dscp 26 None True 48/6",
        [
            "lossless: [3] # as found on 2 of 3 nodes; 4 on gpu003\n",
            "dscp: 48 # as found on 2 of 3 nodes; 0 on gpu003\n",
        ],
    ),
    "equally common": ([{}, {"roce.lossless": "4"}], "[3] dscp 26 None True 48/6", ["4 on gpu002"]),
    "another priority": (
        [{"roce.lossless": "4", "roce.ecn.3": "off"}] * 2,
        "[4] dscp 26 None True 48/6",
        [
            "lossless: [4] # as found on 2 of 2 nodes; builtin/cx7-400g-roce has [3]",
            "ecn: true # as found on 2 of 2 nodes",
            "26 leads to priority 3: say",
        ],
    ),
    "several priorities": (
        [{"roce.lossless": "3,4", "roce.dscp.26": 4, "roce.ecn.3": "off"}] * 2,
        "[3, 4] dscp 26 4 True 48/6",
        ["priority: 4 # where DSCP 26 leads, as found on 2 of 2 nodes", "ecn: true # as found"],
    ),
    "several, and RDMA in none of them": (
        [{"roce.lossless": "4,5"}],
        "[4, 5] dscp 26 None True 48/6",
        ["# no priority is declared: DSCP 26 leads to 3, as found on 1 of 1 nodes"],
    ),
    "nothing is set up": (
        [{**CARD, **ALL_OFF}] * 3,
        "[3] dscp 26 None True 48/6",
        [
            "# lossless: [3] of builtin/cx7-400g-roce stays: PFC is on for no priority on 3 of 3 n",
            "# trust: dscp of builtin/cx7-400g-roce stays: pcp as found on 3 of 3 nodes",
            "# ecn: true of builtin/cx7-400g-roce stays: it is off on 3 of 3 nodes",
        ],
    ),
    "by PCP": (
        [{"roce.trust": "pcp"}] * 2,
        "[3] pcp 26 None True 48/6",
        [
            "trust: pcp # as found on 2 of 2 nodes; builtin/cx7-400g-roce has dscp",
            "decides nothing",
        ],
    ),
    "the kernel's driver": (
        [{**NO_ECN, "roce.cnp_dscp": None, "roce.cnp_priority": None}] * 4,
        "[3] dscp 26 None True 48/6",
        [
            "# ecn: true of builtin/cx7-400g-roce stays: not read on gpu[001-004]\n",
            "# not read on gpu[001-004]: ens1: mlx5_core shows no ecn: install the driver",
            "# cnp.dscp: 48 of builtin/cx7-400g-roce stays: not read on gpu[001-004]",
        ],
    ),
    "one of them has it": (
        [{}, NO_ECN],
        "[3] dscp 26 None True 48/6",
        [
            "ecn: true # as found on 1 of 2 nodes; not read on gpu002\n",
            "# not read on gpu002: ens1: mlx5_core shows",
        ],
    ),
    "no sense": (
        [{"roce.trust": "x: [", "roce.lossless": "3+none", "roce.cnp_dscp": 99}],
        "[3] dscp 26 None True 48/6",
        ["not read on gpu001: it says '3+none'", "not read on gpu001: it says '99'"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_profile_has_what_was_found_and_says_what_was_not(case: str) -> None:
    ports, shown, told = CASES[case]
    lines, loaded = profile(*ports)

    flat = " ".join(lines.replace("#  ", "").split())
    assert loaded == shown
    assert not [one for one in told if " ".join(one.split()) not in flat], lines


def test_ports_are_named_by_node_where_all_of_it_is_odd_and_by_rail_else() -> None:
    """In few words, however many they are."""
    seen = {Port(f"gpu{n:03}", f"rail{rail}"): facts({}) for n in range(1, 65) for rail in (0, 1)}
    odd = facts({"roce.lossless": "4"})
    seen |= {Port("gpu007", rail): odd for rail in ("rail0", "rail1")}
    seen |= {Port(f"gpu{n:03}", "rail1"): odd for n in (9, 10, 11)}
    lossless = classes.adopt(BASE, builtin_profile(BASE), seen)[0]

    assert lossless.comment == "as found on 60 of 64 nodes; 4 on gpu007 and gpu[009-011]:rail1"


@pytest.mark.parametrize(("off", "key"), [("lossless: []", "lossless"), ("ecn: false", "ecn")])
def test_what_is_to_be_said_where_it_is_off_on_purpose_can_be_said(off: str, key: str) -> None:
    found = classes.adopt(
        BASE,
        builtin_profile(BASE),
        {Port("a", "rail0"): facts({**ALL_OFF, "roce.lossless": "none"})},
    )
    told = {one.key: one.comment for one in found}
    text = (
        "name: f\ntransport: ssh\nnodes: {a: {profile: p}}\n"
        'rails: {rail0: {pci: "0000:1a:00.0", network: 10.1.0.0/16}}\n'
        f"profiles: {{p: {{extends: builtin/{BASE}, roce: {{{off}}}}}}}\n"
    )

    assert told[key].endswith(f"on 1 of 1 nodes: where that is meant, say {off}")
    limit = load_text(text, Path("cluster.yaml")).profiles["p"].limits[f"roce.{key}"]
    assert limit.text in ("== none", "== off")


def test_each_reason_stands_there_once_whatever_the_device_and_the_key() -> None:
    """Eight rails without OFED are one reason."""
    whys = [f"ens{rail}f0: not here: install it" for rail in range(8)]
    seen: dict[Port, dict[str, Fact]] = {
        Port(node, f"rail{rail}"): dict.fromkeys(seen_class.ALL, Fact(None, why))
        for node in ("a", "b")
        for rail, why in enumerate(whys)
    }
    seen[Port("c", "rail0")] = dict.fromkeys(seen_class.ALL, Fact(None, "it is a DPU"))
    lines, _ = written(classes.adopt(BASE, builtin_profile(BASE), seen))

    assert lines.count("install it") == lines.count("it is a DPU") == 1
    assert "# not read on a,b: ens0f0: not here: install it" in lines
    assert "# not read on c: it is a DPU" in lines


def test_where_no_whole_node_has_it_ports_are_counted() -> None:
    seen = {Port(node, rail): facts({}) for node in ("a", "b") for rail in ("rail0", "rail1")}
    seen |= {Port(node, "rail0"): facts({"roce.lossless": "4"}) for node in ("a", "b")}
    lossless = classes.adopt(BASE, builtin_profile(BASE), seen)[0]

    assert lossless.comment == "as found on 2 of 4 ports; 4 on a,b:rail0"


def test_what_a_card_never_shows_is_said_with_the_reason_of_its_profile() -> None:
    """Even where a tool says something."""
    lines, _ = profile({}, base="pollara-400g-roce")

    assert "roce:" not in lines
    assert "# trust: dscp of builtin/pollara-400g-roce stays: it cannot be read: ionic" in lines


@pytest.mark.parametrize("base", ["soft-roce", "efa-100g", "cx7-400g-ndr"])
def test_what_has_no_class_gets_no_line(base: str) -> None:
    assert classes.adopt(base, builtin_profile(base), {Port("a", "rail0"): facts({})}) == []


def test_a_node_that_is_not_read_is_no_word() -> None:
    """Its class is neither that of the others nor the builtin one."""
    seen = {Port("a", "rail0"): seen_class.unread("a: it was lost")}
    found = classes.adopt(BASE, builtin_profile(BASE), seen)

    assert {one.value for one in found} == {None}
    assert found[0].comment.endswith("stays: not read on a")
    assert found[0].reasons == ("a: a: it was lost",)
    assert classes.adopt(BASE, builtin_profile(BASE), {}) == []


@settings(max_examples=30, deadline=None)
@given(
    values=st.dictionaries(
        st.sampled_from(seen_class.ALL),
        st.none() | st.text(max_size=12) | st.integers() | st.floats(),
    ),
    problem=st.text(max_size=300),
)
def test_whatever_nodes_say_the_profile_loads(
    values: dict[str, float | str | None], problem: str
) -> None:
    """Its words are comments, and no more than that."""
    said = facts({}) | {name: Fact(value, problem) for name, value in values.items()}
    found = classes.adopt(BASE, builtin_profile(BASE), {Port("a", "rail0"): said})
    written(found)
    assert {one.key for one in found} >= {"lossless", "trust", "dscp", "ecn", "cnp.dscp"}
