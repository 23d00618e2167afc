"""What a summary tells to do: whom to suspect, what would tell more, and the next command."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fabric.report.blame import is_unloaded
from pytest_fabric.report.suspects import Suspect
from pytest_fabric.results import Verdict


def numbered(ranked: Sequence[Suspect]) -> list[str]:
    """Return the suspects, each with its rank, how sure it is, and why."""
    return [
        f"{rank}. {one.place}{_percent(one.confidence)}  {one.explanation}"
        for rank, one in enumerate(ranked, start=1)
    ]


def _percent(confidence: float | None) -> str:
    return "" if confidence is None else f"  {100 * confidence:.0f}%"


def advised(part: Sequence[str], ranked: Sequence[Suspect], room: int) -> list[str]:
    """Return the lines of the suspects, with what to do next as far as there is room."""
    advice = {f"  {rank}. ": one.advice for rank, one in enumerate(ranked, start=1)}
    shown: list[str] = []
    for line in part:
        shown.append(line)
        told = next((text for start, text in advice.items() if line.startswith(start)), "")
        if told and room > 0:
            shown.append(f"     next: {told}")
            room -= 1
    return shown


def then(verdicts: Sequence[Verdict], directory: str | None) -> list[str]:
    """Return the next command to type: what was not measured first, then what has failed."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if "failed" in outcomes:
        return ["next, once that is mended: pytest suites/ --lf"]
    if outcomes <= {"passed", "skipped", "waived"}:
        return []
    if all(is_unloaded(v) for v in verdicts if v.outcome not in ("passed", "skipped", "waived")):
        return ["next: pytest suites/ (all of them: what was selected offers no load)"]
    return [f"next, once that is mended: pytest suites/ --fabric-resume {directory}"]
