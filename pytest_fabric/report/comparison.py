"""A comparison of runs as text: at most 60 lines, what is worse first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_fabric.judge.compare.comparison import Beside, Comparison, Finding
from pytest_fabric.judge.compare.effect import BETTER, SAME, UNKNOWN, WORSE, Effect
from pytest_fabric.judge.compare.places import Place
from pytest_fabric.judge.compare.run import Kind
from pytest_fabric.judge.compare.tallies import Tally
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.places import fold
from pytest_fabric.report.text import listed
from pytest_fabric.units import render

#: What a reader acts on first.
ORDER = (WORSE, UNKNOWN, BETTER, SAME)

#: Lines of each part: with headings, counts of what is left out and the three lines at the top at
#: most 60.
FACTS, NUMBERS, PLACES, COUNTS, LOST, NOTES = 4, 14, 9, 5, 4, 3

#: A fact, its own pairs, and the others.
FACT_LINES = 3

#: What is said of the worst of many.
WORST = ", worst tenth"

#: A list of places is cut here.
PLACES_WIDTH = 60

#: A line is cut here, as are those of the summary of a run.
WIDTH = 160


def lines(comparison: Comparison) -> list[str]:
    """Return a comparison for a terminal."""
    facts = [_fact(beside) for beside in comparison.facts]
    found = [
        f"before   {_runs(comparison.before)}",
        f"after    {_runs(comparison.after)}",
        f"verdict  {comparison.verdict}",
        *_part(
            "facts that changed",
            [line for one in facts[:FACTS] for line in one],
            FACT_LINES * FACTS,
        ),
        *([f"  and {len(facts) - FACTS:,} more"] if len(facts) > FACTS else []),
        *_part("all pairs", _numbers(comparison.findings), NUMBERS),
        *_part("where", list(_where(comparison)), PLACES),
        *_part("counters and losses", list(_counts(comparison)), COUNTS),
        *_part("measured before, and not any more", list(comparison.lost), LOST),
        *(f"note: {note}" for note in comparison.notes[:NOTES]),
    ]
    return [_cut(clean_line(line), line) for line in found]


def _runs(names: Sequence[str]) -> str:
    shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
    return f"{len(names)} run{'' if len(names) == 1 else 's'}: {shown}"


def _part(title: str, body: Sequence[str], most: int) -> list[str]:
    if not body:
        return []
    left = len(body) - most
    more = [f"  and {left:,} more"] if left > 0 else []
    return [f"{title}:", *(f"  {line}" for line in body[:most]), *more]


def _numbers(findings: Sequence[Finding]) -> list[str]:
    rows = [(finding.effect, str(finding.kind)) for finding in findings]
    rows += [
        (finding.worst_tenth, f"{finding.kind}{WORST}")
        for finding in findings
        if finding.worst_tenth is not None
    ]
    rows.sort(key=lambda row: (ORDER.index(row[0].verdict), row[1]))
    kinds = {str(finding.kind): finding.kind for finding in findings}
    width = max((len(name) for _, name in rows), default=0)
    told = [_numeric(effect, kinds[name.removesuffix(WORST)]) for effect, name in rows]
    return [
        f"{effect.verdict:<11}  {name:<{width}}  {numeric}"
        for (effect, name), numeric in zip(rows, told, strict=True)
    ]


def _numeric(effect: Effect, kind: Kind) -> str:
    thing = "pair" if kind.of_pairs else "target"
    counted = f"{effect.pairs:,} {thing}{'' if effect.pairs == 1 else 's'}"
    return f"{interval(effect)}  {values(effect, kind.unit)}, {counted}"


def interval(effect: Effect) -> str:
    """Return a change with the bounds between which it is with 95 % confidence."""
    if effect.low is None or effect.high is None:
        return f"{100 * effect.change:+.1f}%"
    return f"{100 * effect.change:+.1f}% [{100 * effect.low:+.1f}% .. {100 * effect.high:+.1f}%]"


def values(effect: Effect, unit: str) -> str:
    """Return the mean before and after."""
    return f"{render(effect.before, unit)} -> {render(effect.after, unit)}"


def _where(comparison: Comparison) -> Iterator[str]:
    """Yield places by name, each with all that changed there, and its facts that did."""
    by_name: dict[str, list[tuple[Kind, Place]]] = {}
    for finding in comparison.findings:
        for place in finding.places:
            by_name.setdefault(place.name, []).append((finding.kind, place))
    for name, found in by_name.items():
        told = listed([change(kind, place.effect) for kind, place in found], 3)
        yield f"{name}  ({_facts_of(name, comparison.facts)})  {told}"


def _counts(comparison: Comparison) -> Iterator[str]:
    """Yield what grew or was lost, by what it is: the targets on which most changed first."""
    groups: dict[tuple[str, str], list[Tally]] = {}
    for one in comparison.counts:
        groups.setdefault((one.verdict, one.what), []).append(one)
    for (verdict, what), same in sorted(
        groups.items(), key=lambda group: (ORDER.index(group[0][0]), group[0][1])
    ):
        far = max(same, key=lambda one: abs(one.middles[1] - one.middles[0]))
        places = fold([one.target for one in same])
        most = "at most " if len(same) > 1 else ""
        told = f"{most}{' -> '.join(amount(one) for one in far.middles)} in a run"
        about = _facts_of(far.target, comparison.facts)
        yield f"{verdict:<11}  {what}  {places[:PLACES_WIDTH]}  {told}  ({about})"


def amount(number: float) -> str:
    """Return how many, or which share."""
    return f"{number:,.0f}" if number == round(number) else f"{100 * number:.3g}%"


def _facts_of(name: str, facts: Sequence[Beside]) -> str:
    """Return which facts of a place have changed."""
    ends = {end for one in name.split(" or ") for end in one.split("..")}
    ends |= {end.partition(":")[0] for end in ends}
    found = [
        one.fact.what
        for one in facts
        if any(target in ends or target.partition(":")[0] in ends for target in one.fact.targets)
    ]
    return f"changed there: {', '.join(found[:4])}" if found else "no fact of it has changed"


def change(kind: Kind, effect: Effect) -> str:
    """Return a change in words: `ib_write_lat 4 B median 10.0% slower (1.9 us -> 2.09 us)`."""
    up, down = ("slower", "faster") if kind.unit == "s" else ("more", "less")
    word = up if effect.change > 0 else down
    size = f"{100 * abs(effect.change):.1f}% {word}"
    return f"{kind} {size} ({values(effect, kind.unit)})"


def _fact(beside: Beside) -> list[str]:
    fact = beside.fact
    head = f"{fact.what} {fact.before} -> {fact.after} on {fold(fact.targets)}"
    return [head, *(f"  {line}" for line in story(beside))]


def story(beside: Beside) -> list[str]:
    """Return what became of the pairs of a fact's places, and of the others."""
    if not beside.theirs:
        return ["none of its pairs can be compared"]
    theirs = [f"its pairs: {_told(beside.theirs)}"]
    return [*theirs, f"other pairs: {_told(beside.others)}"] if beside.others else theirs


def _told(effects: Sequence[tuple[Kind, Effect]]) -> str:
    changed = [(kind, one) for kind, one in effects if one.verdict in (WORSE, BETTER)]
    changed.sort(key=lambda it: (ORDER.index(it[1].verdict), -abs(it[1].change)))
    shown = [change(kind, one) for kind, one in changed[:2]]
    if len(changed) > 2:
        shown.append(f"{len(changed) - 2} more changed")
    counts = Counter(one.verdict for _, one in effects)
    if counts[SAME]:
        shown.append(f"{counts[SAME]} same" if changed or counts[UNKNOWN] else "same")
    if counts[UNKNOWN]:
        shown.append(f"{counts[UNKNOWN]} cannot be told")
    return ", ".join(shown)


def _cut(clean: str, line: str) -> str:
    """Return a line with its indent and its columns, cut, and cleaned where it was not clean."""
    indent = len(line) - len(line.lstrip())
    whole = line if " ".join(line.split()) == clean else " " * indent + clean
    return whole if len(whole) <= WIDTH else f"{whole[: WIDTH - 3]}..."
