"""What a wave proves: red at the place of a fault is a catch, red elsewhere a false alarm."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.prove.catalogue import Fault
from pytest_fabric.prove.judge import judge
from pytest_fabric.prove.plan import Check, Wave, waves
from pytest_fabric.prove.proof import Proof, conclude
from pytest_fabric.report.pattern import Known
from pytest_fabric.results import Verdict

TEST = "t.py::test_it"
CHECK = Check(TEST, ("dirt",), "bandwidth")
FAULT = Fault("dirt", ("port",), "text", "cause", ("Ethernet",), "place")

#: The place of the only fault, and a ring of three through it.
PLACE, NEXT, LAST = "gpu001:rail0", "gpu002:rail0", "gpu003:rail0"
RING = (f"{PLACE}..{NEXT}", f"{NEXT}..{LAST}", f"{LAST}..{PLACE}")


def wave(fault: Fault = FAULT, check: Check = CHECK) -> Wave:
    return next(waves([fault], [check], "Ethernet"))


def verdict(target: str, outcome: str, message: str | None = None, test: str = TEST) -> Verdict:
    return Verdict(
        nodeid=f"{test}[{target}]",
        check=test.rpartition("::")[2],
        target=target,
        layer="pair",
        outcome=outcome,
        metric=None,
        value=None,
        unit=None,
        limit=None,
        limit_source=None,
        message=message,
        started=0.0,
        duration=0.0,
    )


def ring(*outcomes: str) -> list[Verdict]:
    return [verdict(target, outcome) for target, outcome in zip(RING, outcomes, strict=True)]


def proof(
    verdicts: list[Verdict],
    check: Check = CHECK,
    fault: Fault = FAULT,
    is_whole: bool = False,
) -> Proof:
    judged = judge(wave(fault, check), verdicts)
    return conclude([fault], [check], [judged], [], is_whole)


def mark(verdicts: list[Verdict]) -> str:
    return judge(wave(), verdicts).answers[0].mark


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        pytest.param(ring("failed", "passed", "failed"), "failed", id="both pairs of the place"),
        pytest.param(ring("failed", "passed", "passed"), "unplaced", id="either end, by one pair"),
        pytest.param(ring("passed", "passed", "passed"), "passed", id="not seen"),
        pytest.param(ring("skipped", "skipped", "skipped"), "skipped", id="does not apply"),
        pytest.param(ring("skipped", "passed", "passed"), "passed", id="one is skipped"),
        pytest.param([], "not run", id="no verdict"),
        pytest.param(
            [verdict(RING[0], "failed", f"{PLACE} sent too late")], "failed", id="names the port"
        ),
        pytest.param([verdict(PLACE, "failed")], "failed", id="the port itself"),
        pytest.param([verdict(PLACE, "error", "no answer")], "error", id="an error of the port"),
        pytest.param([verdict("fabric", "failed", f"odd: {PLACE}")], "failed", id="named by all"),
        pytest.param([verdict("fabric", "failed", "odd: gpu003:rail0")], "not run", id="another"),
        pytest.param(
            [verdict("fabric", "failed", f"mean, limit\n  bisection {RING[0]} 1 Gb/s\n {RING[1]}")],
            "failed",
            id="the worst pair of all",
        ),
        pytest.param(
            [verdict("fabric", "failed", f"mean, limit\n  bisection {RING[1]} 1 Gb/s\n {RING[0]}")],
            "not run",
            id="a pair that is not the worst",
        ),
        pytest.param([verdict(PLACE, "not run")], "not run", id="never came to it"),
    ],
)
def test_a_catch_is_red_at_the_place_and_names_it(verdicts: list[Verdict], expected: str) -> None:
    assert mark(verdicts) == expected


def test_a_pass_that_tells_contention_is_a_catch() -> None:
    told = replace(verdict(RING[0], "passed"), contention="350 under load, 392 alone")

    assert mark([told]) == "told"


@pytest.mark.parametrize("target", [RING[1], "gpu001:rail1", "gpu002:rail0", "gpu001", "fabric"])
@pytest.mark.parametrize("outcome", ["failed", "error", "not run", "no such word"])
def test_red_at_another_place_is_a_false_alarm(target: str, outcome: str) -> None:
    found = proof([*ring("failed", "passed", "failed"), verdict(target, outcome, "bad")])

    assert len(found.alarms) == 1
    assert target in found.alarms[0]
    assert not found.is_whole


def test_a_whole_proof_wants_nothing() -> None:
    found = proof(ring("failed", "passed", "failed"))

    assert found.is_whole
    assert found.rows[0].declared == {"test_it": "failed"}


def test_a_fault_that_nobody_sees_is_uncaught_and_its_test_unproven() -> None:
    found = proof(ring("passed", "passed", "passed"))

    assert found.uncaught == (f"dirt@{PLACE}: test_it passed",)
    assert found.unproven == ("test_it: dirt: passed",)
    assert not found.is_whole


def test_an_error_catches_a_fault_and_proves_no_test() -> None:
    """It would come whatever the test asserts."""
    found = proof([verdict(RING[0], "error", f"{PLACE}: no answer")])

    assert found.uncaught == ()
    assert found.unproven == ("test_it: dirt: error",)


def test_a_test_without_a_fault_is_unproven() -> None:
    judged = judge(wave(), ring("failed", "passed", "failed"))
    bare = Check("t.py::test_bare", (), "facts")
    found = conclude([FAULT], [CHECK, bare], [judged], [], is_whole=False)

    assert found.unproven == ("test_bare: it declares no fault with @catches",)
    assert not found.is_whole


def test_a_claim_that_does_not_hold_is_told_although_another_test_catches() -> None:
    other = Check("t.py::test_other", ("dirt",), "bandwidth")
    one = next(waves([FAULT], [CHECK, other], "Ethernet"))
    verdicts = [*ring("failed", "passed", "failed"), verdict(RING[0], "passed", test=other.id)]
    found = conclude([FAULT], [CHECK, other], [judge(one, verdicts)], [], is_whole=False)

    assert found.broken_claims == (f"dirt@{PLACE}: test_other (passed)",)
    assert not found.is_whole


def test_what_a_test_sees_without_declaring_it_is_shown() -> None:
    other = Check("t.py::test_other", (), "bandwidth")
    one = next(waves([FAULT], [CHECK, other], "Ethernet"))
    verdicts = [
        *ring("failed", "passed", "failed"),
        verdict(RING[0], "error", f"{PLACE}: no answer", test=other.id),
    ]
    found = conclude([FAULT], [CHECK], [judge(one, verdicts)], [], is_whole=False)

    assert found.rows[0].others == {"test_other": "error"}


def test_what_the_profile_skips_is_told_and_not_held_against_the_tests() -> None:
    """But a proof in which all is skipped is none."""
    found = proof(ring("skipped", "skipped", "skipped"))

    assert (found.uncaught, found.unproven) == ((), ())
    assert found.skipped == ("dirt", "test_it")
    assert not found.is_whole


def test_an_unknown_fault_and_a_wave_that_did_not_run_are_troubles() -> None:
    check = Check(TEST, ("dirt", "dirtt"), "bandwidth")
    judged = judge(wave(check=check), ring("failed", "passed", "failed"))
    found = conclude([FAULT], [check], [judged], ["wave facts: exit status 3"], is_whole=False)

    assert found.troubles == (
        "test_it: expected faults of the catalogue, got dirtt",
        "wave facts: exit status 3",
    )
    assert not found.is_whole


@pytest.mark.parametrize(("is_whole", "expected"), [(True, 1), (False, 0)])
def test_a_fault_that_no_test_declares_counts_where_all_tests_are_there(
    is_whole: bool, expected: int
) -> None:
    judged = judge(wave(), ring("failed", "passed", "failed"))
    found = conclude([FAULT, replace(FAULT, name="rust")], [CHECK], [judged], [], is_whole=is_whole)

    assert len(found.uncaught) == expected
    assert found.is_whole is not is_whole


def test_everything_may_be_red_where_a_fault_spreads_over_the_fabric() -> None:
    storm = replace(FAULT, spread="fabric")
    found = proof([*ring("failed", "failed", "failed"), verdict("fabric", "error")], fault=storm)

    assert found.alarms == ()
    assert found.is_whole


ALARMED = (
    # the test, the fault, and what is red of it: at the fault's place, and at a sound one
    pytest.param(ring("failed", "failed", "failed"), id="all pairs"),
    pytest.param([verdict(PLACE, "failed"), verdict("gpu002:rail0", "error")], id="ports"),
)


@pytest.mark.parametrize("verdicts", ALARMED)
def test_a_test_that_is_red_without_a_fault_too_has_not_caught_it(verdicts: list[Verdict]) -> None:
    found = proof(verdicts)

    assert found.alarms
    assert not found.rows[0].is_caught
    assert found.uncaught[0].startswith(f"dirt@{PLACE}: test_it ")
    assert len(found.unproven) == 1


def test_why_it_has_not_caught_it_is_told() -> None:
    found = proof([verdict(PLACE, "failed"), verdict("gpu002:rail0", "error")])

    assert found.uncaught == (f"dirt@{PLACE}: test_it red without it too",)
    assert found.unproven == ("test_it: dirt: red without it too",)


def test_a_message_that_names_everybody_names_nobody() -> None:
    """A test of the whole fabric that always fails, and lists all ports, is told apart."""
    everybody = verdict("fabric", "failed", f"odd: {PLACE} {NEXT} {LAST}")
    found = proof([everybody])

    assert len(found.alarms) == 1
    assert not found.rows[0].is_caught


def test_a_message_about_pairs_is_about_the_first_of_them() -> None:
    """The others stand beside it, to be compared with."""
    slow = verdict("fabric", "failed", f"mean 252 Gb/s\n  {RING[0]} 1 Gb/s\n  gpu004:rail0 is fine")

    assert proof([slow]).is_whole


def test_where_a_fault_spreads_everywhere_its_tests_are_seen_without_it_too() -> None:
    """Else one that always fails would be proven by a storm."""
    storm = replace(FAULT, spread="fabric")
    faulty, sound = waves([storm], [CHECK], "Ethernet")

    assert [one.fault for one in faulty.injections] == ["dirt"]
    assert (sound.injections, sound.checks) == ((), (TEST,))
    judged = [judge(one, ring("failed", "failed", "failed")) for one in (faulty, sound)]
    found = conclude([storm], [CHECK], judged, [], is_whole=False)
    assert len(found.alarms) == 3
    assert not found.rows[0].is_caught
    fine = [judge(faulty, ring("failed", "failed", "failed")), judge(sound, ring(*["passed"] * 3))]
    assert conclude([storm], [CHECK], fine, [], is_whole=False).is_whole


def test_what_is_seen_beside_sound_places_has_no_wave_of_its_own() -> None:
    storm = replace(FAULT, name="storm", spread="fabric")
    check = replace(CHECK, faults=("dirt", "storm"))

    assert len(list(waves([FAULT, storm], [check], "Ethernet"))) == 2


def test_what_the_summary_knew_beside_verdicts_tells_the_ends_apart() -> None:
    """One pair alone has two ends; that the other one is odd in another way leaves this one."""
    found = ring("failed", "passed", "passed")
    odd = Known(odd={PLACE: ("PCIe 32 GT/s x8, declared x16",)})

    assert judge(wave(), found).answers[0].mark == "unplaced"
    assert judge(wave(), found, odd).answers[0].mark == "failed"
