"""What a proof comes to: which fault was caught by which test, and what is wanting."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from pytest_fabric.prove.catalogue import Fault
from pytest_fabric.prove.judge import CAUGHT, Answer, Judged, function_of, matrix
from pytest_fabric.prove.plan import Check

#: Marks by which a test shows that it can fail: an error would come whatever the test asserts.
PROVES = ("failed", "told")

#: What stands for a catch of a test that is red at sound places too.
ELSEWHERE = "red without it too"


@dataclass(frozen=True)
class Row:
    """A fault with its places, what caught it, and what else went red there.

    `declared` and `others` map the name of a test to its mark; those declared that did not catch
    it are among them.
    """

    fault: str
    places: tuple[str, ...]
    declared: dict[str, str]
    others: dict[str, str]

    @property
    def is_caught(self) -> bool:
        """Return whether a test that declares the fault has caught it."""
        return any(mark in CAUGHT for mark in self.declared.values())

    @property
    def is_skipped(self) -> bool:
        """Return whether every test that declares the fault is skipped at its place."""
        return bool(self.declared) and set(self.declared.values()) == {"skipped"}


@dataclass(frozen=True)
class Proof:
    """The table fault x test, and what is wanting: one line of text for each.

    `skipped` does not count: a profile that says what it has not got cannot prove it.
    """

    rows: tuple[Row, ...]
    uncaught: tuple[str, ...]
    unproven: tuple[str, ...]
    broken_claims: tuple[str, ...]
    alarms: tuple[str, ...]
    troubles: tuple[str, ...]
    skipped: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Return whether nothing is wanting; a proof of nothing is none."""
        wanting = (
            self.uncaught,
            self.unproven,
            self.broken_claims,
            self.alarms,
            self.troubles,
        )
        return not any(wanting) and any(row.is_caught for row in self.rows)


def conclude(
    faults: Sequence[Fault],
    checks: Sequence[Check],
    judged: Sequence[Judged],
    troubles: Sequence[str],
    is_whole: bool,
) -> Proof:
    """Return what waves have shown; with `is_whole` every fault must be declared by a test."""
    answers = matrix(judged)
    known = {fault.name for fault in faults}
    declared = {name for check in checks for name in check.faults}
    names = [fault.name for fault in faults if is_whole or fault.name in declared]
    alarmed = {function_of(alarm.nodeid) for one in judged for alarm in one.alarms}
    told = [_doubted(answer, alarmed) for answer in answers.values()]
    rows = tuple(_row(name, checks, told) for name in names)
    unknown = [
        f"{check.name}: expected faults of the catalogue, got {name}"
        for check in checks
        for name in check.faults
        if name not in known
    ]
    proven = {check.id: _standing(check, rows) for check in checks}
    return Proof(
        rows=rows,
        uncaught=tuple(_uncaught(row) for row in rows if not (row.is_caught or row.is_skipped)),
        unproven=tuple(_unproven(c, proven[c.id]) for c in checks if _is_wanting(proven[c.id])),
        broken_claims=tuple(_broken(row) for row in rows if row.is_caught and _lost(row)),
        alarms=tuple(_alarm(one.wave, alarm) for one in judged for alarm in _messages(one)),
        troubles=(*unknown, *troubles),
        skipped=tuple(
            [*(row.fault for row in rows if row.is_skipped)]
            + [check.name for check in checks if proven[check.id] == "skipped"]
        ),
    )


def _doubted(answer: Answer, alarmed: Set[str]) -> Answer:
    """Return how a test took a fault: one that is red without a fault too has not seen it."""
    if answer.mark in CAUGHT and answer.check in alarmed:
        return replace(answer, mark=ELSEWHERE)
    return answer


def _row(fault: str, checks: Sequence[Check], answers: Sequence[Answer]) -> Row:
    mine = {answer.check: answer for answer in answers if answer.fault == fault}
    declaring = [check for check in checks if fault in check.faults]
    ids = {check.id for check in declaring}
    names = {check.id: check.name for check in checks}
    return Row(
        fault=fault,
        places=tuple(dict.fromkeys(answer.place for answer in mine.values())),
        declared={
            check.name: mine[check.id].mark if check.id in mine else "not run"
            for check in declaring
        },
        others={
            names.get(key, key.rpartition("::")[2]): answer.mark
            for key, answer in mine.items()
            if key not in ids and answer.mark in (*CAUGHT, "unplaced")
        },
    )


def _standing(check: Check, rows: Sequence[Row]) -> str:
    """Return proven, skipped, or why a test is not proven."""
    if not check.faults:
        return "it declares no fault with @catches"
    marks = {row.fault: row.declared[check.name] for row in rows if row.fault in check.faults}
    if any(mark in PROVES for mark in marks.values()):
        return "proven"
    if marks and set(marks.values()) == {"skipped"}:
        return "skipped"
    return ", ".join(f"{fault}: {mark}" for fault, mark in marks.items()) or "no fault is known"


def _is_wanting(standing: str) -> bool:
    return standing not in ("proven", "skipped")


def _unproven(check: Check, standing: str) -> str:
    return f"{check.name}: {standing}"


def _uncaught(row: Row) -> str:
    at = f"{row.fault}@{row.places[0]}" if row.places else row.fault
    if not row.declared:
        return f"{at}: no test declares it with @catches"
    return f"{at}: {', '.join(f'{name} {mark}' for name, mark in row.declared.items())}"


def _lost(row: Row) -> list[str]:
    fine = (*CAUGHT, "skipped")
    return [f"{name} ({mark})" for name, mark in row.declared.items() if mark not in fine]


def _broken(row: Row) -> str:
    return f"{row.fault}@{row.places[0]}: {', '.join(_lost(row))}"


def _messages(judged: Judged) -> list[tuple[str, str, str]]:
    found = []
    for alarm in judged.alarms:
        line = (alarm.message or alarm.outcome).strip().split("\n", 1)[0]
        found.append((alarm.check, alarm.target, line))
    return found


def _alarm(wave: str, alarm: tuple[str, str, str]) -> str:
    check, target, line = alarm
    return f"{check}[{target}] in wave {wave}: {line}"
