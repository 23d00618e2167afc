"""JUnit XML: one suite per node, and every planned check exactly once in one terminal state."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

from junit_xml import TestCase, TestSuite, to_xml_report_string  # type: ignore[import-untyped]

from pytest_fabric.report import atomic, text
from pytest_fabric.report.clean import clean, clean_line
from pytest_fabric.report.planned import Planned, terminal
from pytest_fabric.results import Verdict

Results = Sequence[tuple[Planned, Verdict]]


def write(
    path: Path,
    planned: Sequence[Planned],
    verdicts: Sequence[Verdict],
    properties: Mapping[str, str],
) -> None:
    """Write the file in one step; `properties` go into every suite. Raises OSError."""
    by_node: dict[str, list[tuple[Planned, Verdict]]] = defaultdict(list)
    for check, verdict in terminal(planned, verdicts):
        by_node[check.node].append((check, verdict))
    cleaned = {clean_line(name): clean(value) for name, value in properties.items()}
    suites = [_suite(node, results, cleaned) for node, results in by_node.items()]
    # Plain, not pretty: minidom indents messages, and reads the whole file once more for it.
    atomic.write(path, to_xml_report_string(suites, prettyprint=False, encoding="utf-8"))


def _suite(node: str, results: Results, properties: Mapping[str, str]) -> TestSuite:
    places = [_place(check) for check, _ in results]
    taken = Counter(places)
    cases = [
        _case(check, verdict, place, unique=taken[place] == 1)
        for (check, verdict), place in zip(results, places, strict=True)
    ]
    started = [verdict.started for _, verdict in results if verdict.started]
    return TestSuite(
        clean_line(node) or "fabric",
        cases,
        hostname=clean_line(node),
        timestamp=_moment(min(started)) if started else None,
        properties=properties,
    )


def _place(check: Planned) -> tuple[str, str]:
    """Return class name and name: from module, check and target alone, the same in every run."""
    module, _, rest = check.nodeid.partition("::")
    classes = rest.partition("[")[0].split("::")[:-1]
    parts = [module.removesuffix(".py").replace("/", "."), *classes] if rest else [check.layer]
    name = f"{check.check}[{check.target}]" if check.target else check.check
    return clean_line(".".join(parts)), clean_line(name)


def _case(check: Planned, verdict: Verdict, place: tuple[str, str], *, unique: bool) -> TestCase:
    classname, name = place
    case = TestCase(
        name if unique else clean_line(check.nodeid.rpartition("::")[2]),
        classname=classname,
        elapsed_sec=verdict.duration,
        timestamp=_moment(verdict.started) if verdict.started else None,
        stdout=_measured(verdict) or None,
    )
    # junit-xml takes a failure without a text for a pass: there is always one.
    message = clean(verdict.message or "").strip() or clean(f"{check.check} {verdict.outcome}")
    first = message.split("\n", 1)[0]
    if verdict.outcome == "failed":
        case.add_failure_info(first, message, "failed")
    elif verdict.outcome in ("skipped", "waived"):
        case.add_skipped_info(first, message)
    elif verdict.outcome != "passed":
        case.add_error_info(first, message, clean_line(verdict.outcome) or "error")
    return case


def _measured(verdict: Verdict) -> str:
    lines = {"metric": verdict.metric, "value": text.value(verdict), "limit": text.limit(verdict)}
    return "\n".join(f"{name}: {clean_line(found)}" for name, found in lines.items() if found)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
