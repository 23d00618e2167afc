"""Tickets: what each is about, what it knows, and what is to be done next."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.report import records, summary, typed
from pytest_fabric.report.about import Retest
from pytest_fabric.report.sections import tickets as section
from pytest_fabric.report.tickets import action, files, parts
from pytest_fabric.report.tickets.make import tickets_of
from pytest_fabric.report.tickets.record import Ticket, Tickets
from pytest_fabric.results import Fact, Growth, Reading

from ..examples import HOSTILE
from ..fabric import NODES, PAIRS, PORTS, about, host, judged, link, record, with_these

BAD = PORTS[1]


def only(*failed: object, **more: object) -> Ticket:
    """Return the one ticket of a leaf in which these verdicts fail."""
    found = tickets_of(record(with_these(*failed), **more)).tickets  # type: ignore[arg-type]
    assert len(found) == 1, [one.id for one in found]
    return found[0]


@pytest.mark.parametrize(
    ("metric", "kind", "step"),
    [
        ("module.rx_power_min", "cable", "clean"),
        ("module.lane_spread", "cable", "clean"),
        ("module.tx_power_min", "cable", "rma"),
        ("module.temperature", "cable", "cool"),
        ("link.flaps", "cable", "reseat"),
        ("link.raw_ber", "cable", "reseat"),
        ("link.width", "cable", "reseat"),
        ("link.state", "cable", "reseat"),
        ("switch.rx_errors", "cable", "reseat"),
        ("wiring.misplaced", "cable", "recable"),
        ("pcie.width", "card", "reseat"),
        ("link.presence", "card", "reseat"),
        ("pcie.aer_uncorrectable", "card", "reseat"),
        ("link.fec", "settings", "configure"),
        ("link.mtu", "settings", "configure"),
        ("roce.trust", "settings", "configure"),
        ("firmware.running", "settings", "configure"),
    ],
)
def test_the_next_action_is_what_the_evidence_says(metric: str, kind: str, step: str) -> None:
    """Nobody sends a cable back for a setting, or cleans a fibre for a slot."""
    found = only(judged(BAD, metric, "failed"))

    assert (found.id, found.kind, found.place) == (f"{kind}-{BAD}", kind, BAD)
    assert found.action.step == step
    assert found.action.step in action.STEPS
    assert found.action.words
    assert found.action.why


def test_a_card_that_is_not_there_explains_what_its_switch_says() -> None:
    """The cable of a port that is gone is not the first thing to pull."""
    said = (judged(BAD, "switch.state", "failed"), judged(BAD, "switch.misplaced", "failed"))

    assert only(judged(BAD, "link.presence", "failed"), *said).id == f"card-{BAD}"


def test_light_that_is_not_there_is_no_dirt() -> None:
    """A dark fibre is plugged in first."""
    dark = Reading("gpu002", "link", {BAD: link(light=-40.0)})

    assert only(judged(BAD, "module.rx_power_min", "failed"), readings=[dark]).action.step == (
        "reseat"
    )


def test_what_only_pairs_say_is_told_apart_by_a_swap() -> None:
    """Both pairs of a port are slow, and none of its facts is wrong."""
    slow = [judged(pair, "ib_write_bw.1048576.average", "failed", 2e11) for pair in PAIRS[:2]]
    found = only(*slow)

    assert (found.id, found.action.step) == (f"cable-{BAD}", "swap")
    assert found.confidence is not None
    assert "swap the cables of gpu002:rail0 and gpu004:rail0" in found.action.words
    assert {one.target for one in found.failed} == set(PAIRS[:2])


def test_pairs_belong_to_the_fact_that_explains_them() -> None:
    """A narrow slot and the bandwidth that it costs are one ticket."""
    slow = [judged(pair, "ib_write_bw.1048576.average", "failed", 2e11) for pair in PAIRS[:2]]
    found = only(judged(BAD, "pcie.width", "failed"), *slow)

    assert (found.kind, len(found.failed)) == ("card", 3)


def test_each_retest_goes_one_step_further() -> None:
    """What was tried is not advised again, and the last step stays."""
    failed = with_these(judged(BAD, "link.flaps", "failed"))
    name, tried, steps = f"cable-{BAD}", list[str](), []
    for _ in range(6):
        again = Retest(name, "run", {name: tuple(tried)})
        found = tickets_of(record(failed, of=about(retest=again))).tickets[0]
        assert found.tried == tuple(tried)
        steps.append(found.action.step)
        tried.append(found.action.step)

    assert steps == ["reseat", "clean", "swap", "rma", "rma", "rma"]


def test_there_is_one_for_each_cable_though_all_of_a_node_fail() -> None:
    """And none for what all ports of the node show at once because of them."""
    grown = "beside    gpu002:rail0 link_down_events_phy +6 (link downed)"
    node = judged("gpu002", "link_downed.growth", "failed", 6, message=f"gpu002 x\n{grown}")
    share = judged("gpu002", "node.slowest", "failed", 0.1)
    found = only(judged(BAD, "link.flaps", "failed", 42), node, share)

    assert found.kind == "cable"
    assert {one.target for one in found.failed} == {BAD, "gpu002"}


def test_a_node_that_is_silent_or_set_up_otherwise_has_one() -> None:
    """Somebody has to act, though no cable is to blame."""
    silent = [
        judged(v.target, v.metric or "", "error", message=f"{v.target}: gpu003 is down")
        for v in with_these()
        if "gpu003" in v.target
    ]
    assert [(t.kind, t.action.step) for t in tickets_of(record(with_these(*silent))).tickets] == [
        ("node", "investigate")
    ]
    setup = only(judged("gpu003", "host.governor", "failed", "powersave"))
    assert (setup.id, setup.action.step) == ("node-gpu003", "configure")


def test_sound_waived_and_skipped_are_no_tickets() -> None:
    """Who answers for a failure has a ticket of his own."""
    for changed in (
        [],
        [judged(BAD, "link.flaps", "waived")],
        [judged(BAD, "link.fec", "skipped")],
    ):
        made = record(with_these(*changed))
        assert tickets_of(made).tickets == ()
        assert section.section(made) == []
        assert parts.line(made.run) == ""


def test_a_ticket_has_both_ends_values_flaps_log_and_controls() -> None:
    """All that the one who holds the cable in his hand will ask for."""
    grown = Growth(BAD, "link_down_events_phy", "link_downed", 3)
    heard = Reading(
        "gpu002",
        "wiring",
        {BAD: {"wiring.switch": Fact("leaf-0"), "wiring.switch_port": Fact("swp7")}},
    )
    log = Reading("gpu002", "host", {"gpu002": host("[5 s] enp26s0np0 down", "[6 s] eth9 down")})
    found = only(judged(BAD, "link.flaps", "failed", 42), growth=[grown], readings=[heard, log])
    here, there = found.ends

    assert (here.slot, here.part, here.serial) == ("0000:1a:00.0", "MMA4", "MT23")
    assert here.card == "MT_0838, firmware 28.39, mlx5_core"
    assert "rx power min: received, by lane: 1, 1 dBm" in here.lanes
    assert there.place == "leaf-0 swp7"
    assert "the plan has it at leaf-0 swp2" in there.unknown
    values = {one.metric: one for one in found.values}
    assert (values["link.flaps"].value, values["link.flaps"].outcome) == (42, "failed")
    assert values["link.raw_ber"].exposure_s == 85_878
    assert values["link.raw_ber"].floor == pytest.approx(8.7e-17, rel=0.01)
    assert [(one.begun, one.count) for one in found.flaps] == [("2026-11-29T13:21:00+00:00", 3)]
    assert found.log == ("[5 s] enp26s0np0 down",)
    assert [one.port for one in found.controls] == [PORTS[0], PORTS[2], PORTS[3]]
    assert all(one.values for one in found.controls)


def test_controls_are_sound_ports_of_the_same_leaf() -> None:
    """What fails, could not be told, or stands on another leaf, is none; too few are told."""
    far = about(leaves={**dict.fromkeys(PORTS, "leaf-0"), PORTS[4]: "leaf-1"})
    failed = [judged(BAD, "link.flaps", "failed"), judged(PORTS[2], "link.speed", "error")]
    found = next(
        one for one in tickets_of(record(with_these(*failed), of=far)).tickets if one.place == BAD
    )

    assert [one.port for one in found.controls] == [PORTS[0], PORTS[3]]
    assert "2 of 3 controls" in found.unknown[-1]


def test_what_is_not_known_is_said() -> None:
    """No reading at all: the ticket is there, and says what it lacks."""
    bare = record(with_these(judged(BAD, "link.flaps", "failed")))
    bare = replace(bare, kept=replace(bare.kept, readings={}, facts={}, measured=[]))
    found = tickets_of(bare).tickets[0]

    assert found.ends[0].unknown
    assert found.ends[1].place == "leaf-0 swp2"
    assert "the kernel's log of gpu002 was not asked for in this run" in found.unknown


def hostile() -> Tickets:
    """Return tickets of nodes that mean harm."""
    bad = f"=HYPERLINK(1)\n{HOSTILE}"
    readings = [
        Reading("gpu002", "link", {BAD: {**link(bad), "module.vendor": Fact("@SUM(1)")}}),
        Reading("gpu002", "host", {"gpu002": host(f"+1 enp26s0np0 {bad}")}),
        Reading("gpu002", "wiring", {BAD: dict.fromkeys(WIRING, Fact(f"-2{bad}"))}),
    ]
    failed = judged(BAD, "link.flaps", "failed", 42, message=bad)
    return tickets_of(record(with_these(failed), readings=readings))


WIRING = ("wiring.switch", "wiring.switch_port")


def test_hostile_text_is_no_formula_and_no_line_of_its_own() -> None:
    """Spreadsheets run what begins with =, +, - or @."""
    text = files.to_csv(hostile())
    rows = list(csv.reader(io.StringIO(text)))

    assert len(rows) == 2
    assert len(rows[1]) == len(files.COLUMNS) == len(set(files.COLUMNS))
    for cell in rows[1]:
        assert not cell.startswith(("=", "+", "@", "\t", "\r")), cell
        assert not cell.startswith("-") or cell.lstrip("-").replace(".", "").isdigit()
    assert "'=HYPERLINK(1)" in rows[1][files.COLUMNS.index("serial")]
    assert all(ord(char) >= 32 or char == "\n" for char in text)


def test_hostile_text_is_no_markup() -> None:
    """Of nodes, and of switches."""
    readings = [Reading("gpu002", "link", {BAD: link("<script>alert(1)</script>")})]
    made = record(with_these(judged(BAD, "link.flaps", "failed", 42)), readings=readings)
    page = "".join(section.section(made))

    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_tickets_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Hostile ones, too, once they are clean."""
    found = hostile()
    files.write(tmp_path, found)

    once = files.read(tmp_path)
    assert once == typed.read(Tickets, json.loads(records.dumps(found)))
    files.write(tmp_path, once)
    assert files.read(tmp_path) == once


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', '{"schema": 9}', "[" * 9999])
def test_what_are_no_tickets_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "tickets.json").write_text(text)

    with pytest.raises(ConfigError, match="expected") as caught:
        files.read(tmp_path)
    assert len(caught.value.lines) == 1


def test_names_can_be_typed_and_stay_apart() -> None:
    """Whatever a place is called."""
    places = ("leaf-0 - leaf-1", "a..b", "x" * 300, "x" * 301, "a b", "a  b", "\u00e4", "")
    names = [parts.name_of(parts.Part("uplinks", place, (place,))) for place in places]

    assert len(set(names)) == len(names)
    assert all(name.isascii() and not set(name) & set(" '\"$&|;<>()*?[]") for name in names)
    assert max(map(len, names)) <= 80


def test_the_terminal_has_one_line_for_all_tickets() -> None:
    """And still no more than 30."""
    failed = [judged(port, "link.flaps", "failed", 42) for port in PORTS]
    failed += [judged(node, "host.governor", "failed", "x") for node in NODES]
    run = replace(record(with_these(*failed)).run, has_tickets=True, directory="runs/1")
    lines = summary.lines(run)

    told = [line for line in lines if line.startswith("tickets:")]
    assert told == [
        "tickets: 5 cable, 5 node (tickets.json); once one is mended: pytest-fabric retest "
        "cable-gpu001:rail0"
    ]
    assert len(lines) <= 30
    assert not [
        line for line in summary.lines(replace(run, has_tickets=False)) if "tickets" in line
    ]
