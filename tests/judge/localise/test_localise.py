"""Places from patterns: what explains the failures, how surely, and what would tell more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.judge.localise import Evidence, Finding, Seen, Sign, localise, next_pairs
from pytest_fabric.judge.localise.candidates import Candidate
from pytest_fabric.judge.localise.followup import partners
from pytest_fabric.judge.localise.outliers import outliers
from pytest_fabric.judge.localise.seen import BACKWARD, BOTH, FORWARD, flow_of
from pytest_fabric.judge.localise.signs import can_cause, of_counters
from pytest_fabric.judge.localise.words import evidence as in_words
from pytest_fabric.results import Growth

#: Eight nodes with two rails; of each rail the first four are on one leaf, the others on another.
PORTS = [f"n{node}:r{rail}" for rail in range(2) for node in range(8)]
LEAVES = {port: f"leaf-{port[-1]}{'ab'[int(port[1]) // 4]}" for port in PORTS}


def mesh(check: str = "bw", flow: str = FORWARD) -> list[Seen]:
    """Return what a check says of all pairs of a sound fabric, rail by rail."""
    return [
        Seen(check, one, other, flow, False)
        for one in PORTS
        for other in PORTS
        if one != other and one[-1] == other[-1]
    ]


def broken(seen: list[Seen], *, tx: str = "", rx: str = "", at: str = "") -> list[Seen]:
    """Return the same with the pairs failed that send from, receive at, or touch a place."""

    def hit(one: Seen) -> bool:
        places = [
            {end, end[:2], end[-2:], LEAVES[end], one.target} for end in (one.client, one.server)
        ]
        sent, received = (set(one.senders), set(one.receivers))
        return tx in sent or rx in received or any(at in found for found in places)

    return [replace(one, failed=one.failed or hit(one)) for one in seen]


def found(seen: list[Seen], *signs: Sign) -> list[Finding]:
    """Return the findings about a fabric whose leaves are known."""
    return localise(Evidence(tuple(seen), signs, LEAVES))


def test_a_sound_fabric_has_no_findings() -> None:
    assert found(mesh()) == []


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("n2:r0", "port"),
        ("n2", "node"),
        ("r1", "rail"),
        ("leaf-0b", "leaf"),
        ("n1:r0..n5:r0", "pair"),
    ],
)
def test_a_place_is_found_by_what_it_spoils(place: str, kind: str) -> None:
    """One finding explains every failure, and is nearly sure."""
    seen = broken(mesh(), at=place)

    [finding] = found(seen)

    assert (finding.places, finding.kind) == ((place,), kind)
    assert finding.confidence > 0.9
    assert set(finding.pairs) == {one.target for one in seen if one.failed}


@pytest.mark.parametrize(("way", "clean"), [("tx", "receive"), ("rx", "transmit")])
def test_one_direction_of_a_port_is_told_from_the_port(way: str, clean: str) -> None:
    """What it sends is spoilt, and what it receives is not; or the other way round."""
    seen = broken(mesh(), **{way: "n3:r1"})

    [finding] = found(seen)

    verb = {"tx": "start", "rx": "end"}[way]
    assert (finding.places, finding.direction) == (("n3:r1",), way)
    words = in_words(finding, finding.pairs, seen)
    assert words == f"7 of 7 failing pairs {verb} there; its {clean} direction is clean"


def test_a_check_of_both_ways_tells_no_direction() -> None:
    [finding] = found(broken(mesh("lat", BOTH), at="n3:r1"))

    assert finding.direction is None


def test_a_bad_link_between_two_leaves_is_met_by_some_flows() -> None:
    """Their ports pass elsewhere; which flows meet it is up to a hash."""
    across = {"leaf-0a", "leaf-0b"}
    seen = [
        replace(one, failed={LEAVES[one.client], LEAVES[one.server]} == across and number % 2 == 0)
        for number, one in enumerate(mesh())
    ]

    [finding] = found(seen)

    assert finding.places == ("leaf-0a - leaf-0b",)
    assert "cross it; its ports pass with other partners" in in_words(finding, finding.pairs, seen)


def test_several_faults_explain_each_their_own() -> None:
    """Also where they share a pair, a rail, or a check."""
    seen = broken(broken(mesh(), at="n1:r0"), at="n6:r0") + broken(mesh("lat", BOTH), at="n4")

    places = {finding.places for finding in found(seen)}

    assert places == {("n1:r0",), ("n6:r0",), ("n4",)}


def test_what_cannot_be_told_apart_is_said() -> None:
    """Two ports that were only measured with each other."""
    seen = [Seen("bw", "n1:r0", "n2:r0", BOTH, True), Seen("bw", "n2:r0", "n1:r0", BOTH, True)]

    [finding] = found(seen)

    assert set(finding.places) == {"n1:r0", "n2:r0"}
    assert finding.confidence < 0.5


def test_a_sign_settles_a_choice() -> None:
    """Who sends pause is slow to receive; who only receives it is a victim."""
    grown = [
        Growth("n1:r0", "rx_prio3_pause", "pause", 900, "rx"),
        Growth("n2:r0", "tx_prio3_pause", "pause", 900, "tx"),
    ]
    seen = [Seen("bw", "n1:r0", "n2:r0", FORWARD, True)]

    first, *_ = found(seen, *of_counters(grown))

    assert first.places == ("n2:r0",)
    told = in_words(first, first.pairs, seen)
    assert told.endswith("it sent 900 pause frames: its receive side is slow")


def test_a_sign_does_not_outweigh_the_pattern() -> None:
    """A port whose counters complain, and whose pairs pass, is not what failed."""
    seen = broken(mesh(), at="n2:r0")
    sign = Sign("n5:r0", "it sent pause", 20.0)

    assert [finding.places for finding in found(seen, sign)] == [("n2:r0",)]


def test_a_sender_of_pause_is_no_victim_as_well() -> None:
    grown = [Growth("a:r", f"{way}_pause", "pause", 5, way) for way in ("rx", "tx")]

    assert [sign.ratio for sign in of_counters(grown)] == [20.0]


def test_checks_that_fail_alike_are_one_symptom() -> None:
    """P99 and P99.9 of one measurement say the same thing: they make nobody surer."""
    once = broken(mesh("p99", BOTH)[:6], at="n2:r0")
    twice = [*once, *(replace(one, check="p999") for one in once)]

    [one], [other] = found(once), found(twice)

    assert one.confidence == pytest.approx(other.confidence)
    assert len(other.explained) == 2 * len(one.explained)


def test_a_pass_that_stands_out_clears_nobody() -> None:
    """It is just inside the limit, where all others are far from it."""
    seen = [
        Seen("bw", "n1:r0", "n2:r0", BOTH, True),
        Seen("bw", "n3:r0", "n1:r0", BOTH, False, counts=0.0),
        Seen("bw", "n3:r0", "n2:r0", BOTH, False),
    ]

    assert found(seen)[0].places[0] == "n1:r0"


def test_values_stand_out_only_on_the_bad_side() -> None:
    values = {f"p{n}": 100.0 + n * 0.1 for n in range(8)} | {"slow": 80.0, "fast": 130.0}

    assert outliers(values, high_is_bad=False) == {"slow"}
    assert outliers(values, high_is_bad=True) == {"fast"}
    assert outliers({"a": 1.0, "b": 9.0}, high_is_bad=True) == set()


def test_the_pair_that_tells_most_is_measured_next() -> None:
    """Either of two ports with a sound one; a pair of both would tell nothing."""
    chances = {Candidate("port", "n1:r0"): 0.5, Candidate("port", "n2:r0"): 0.5}
    sound = ["n3:r0"]
    possible = partners(
        ["n1:r0", "n2:r0"],
        [*sound, "n1:r0", "n2:r0"],
        lambda one, other: True,
        {"n2:r0..n1:r0"},
        lambda client, server: Seen("bw", client, server, FORWARD, False),
    )

    chosen = next_pairs(chances, possible, {}, 5)

    assert 1 <= len(chosen) <= 2
    assert {"n3:r0"} < {chosen[0].client, chosen[0].server}
    assert next_pairs(chances, [one for one in possible if "n3" not in one.target], {}, 5) == []


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(PORTS), st.sampled_from(PORTS))
def test_measuring_what_is_proposed_separates_two_ports(one: str, other: str) -> None:
    """However the pair failed, the true port is alone in the end."""
    if one == other or one[-1] != other[-1]:
        return
    seen = [Seen("bw", one, other, FORWARD, True), Seen("bw", other, one, FORWARD, True)]
    clean = [port for port in PORTS if port[-1] == one[-1] and port not in (one, other)]
    for _ in range(6):
        first = found(seen)[0]
        if first.places == (one,) and first.confidence > 0.9:
            break
        measured = {s.target for s in seen}
        possible = partners(
            [one, other],
            clean,
            lambda a, b: True,
            measured,
            lambda client, server: Seen("bw", client, server, FORWARD, False),
        )
        seen += broken(next_pairs(first.chances, possible, LEAVES, 1), at=one)

    assert found(seen)[0].places == (one,)


@pytest.mark.parametrize(
    ("metric", "flow"),
    [
        ("ib_write_bw.1048576.average", FORWARD),
        ("ib_read_bw.1048576.average", BACKWARD),
        ("ib_write_bw.1048576.bidirectional", BOTH),
        ("ib_write_lat.4.p99", BOTH),
        ("pause.growth", BOTH),
        (None, BOTH),
    ],
)
def test_payload_flows_as_the_tool_says(metric: str | None, flow: str) -> None:
    assert flow_of(metric) == flow


@pytest.mark.parametrize(
    ("fact", "metric", "expected"),
    [
        ("pcie.width", "ib_write_bw.1048576.average", True),
        ("pcie.aer_correctable", "ib_write_lat.4.p99", True),
        ("link.mtu", "ib_write_lat.4.p99", False),
        ("firmware.running", "ib_write_bw.1048576.average", False),
        ("roce.lossless", "pause.growth", True),
        (None, "pause.growth", False),
    ],
)
def test_a_fact_is_a_cause_of_what_it_can_change(
    fact: str | None, metric: str, expected: bool
) -> None:
    assert can_cause(fact, metric) is expected


def test_a_place_that_explains_no_failure_is_no_finding() -> None:
    """Two ports of one failed pair have bad facts: the pair accuses one of them."""
    places = ("gpu001:rail0", "gpu002:rail0")
    seen = Seen("pair test_write_bandwidth", *places, "forward", True)
    signs = [Sign(place, text, 30.0) for place in places for text in ("one fact", "another fact")]

    found = localise(Evidence((seen,), tuple(signs), {}))

    assert found
    assert all(finding.explained for finding in found)
