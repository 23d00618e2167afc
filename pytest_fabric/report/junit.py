"""JUnit XML: a suite per node or layer, every planned check exactly once in one terminal state.

The form is that of junit-10.xsd, which Jenkins' xUnit plugin checks files against.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from xml.etree import ElementTree

from junit_xml import TestCase, TestSuite  # type: ignore[import-untyped]

from pytest_fabric.report import atomic, text
from pytest_fabric.report.clean import clean, clean_line
from pytest_fabric.report.planned import Planned, terminal
from pytest_fabric.results import Verdict

Results = Sequence[tuple[Planned, Verdict]]


#: What a suite can stand for.
GROUPS = ("node", "layer")


def write(
    path: Path,
    planned: Sequence[Planned],
    verdicts: Sequence[Verdict],
    properties: Mapping[str, str],
    group: str = "node",
) -> None:
    """Write the file in one step, with a suite for each node or `layer`. Raises OSError.

    `properties` go into every suite.
    """
    grouped: dict[str, list[tuple[Planned, Verdict]]] = defaultdict(list)
    for check, verdict in terminal(planned, verdicts):
        grouped[check.layer if group == "layer" else check.node].append((check, verdict))
    cleaned = {clean_line(name): clean(value) for name, value in properties.items()}
    has_host = group == "node"
    suites = (_suite(name, results, cleaned, has_host) for name, results in grouped.items())
    # Plain, not pretty: minidom indents messages, and reads the whole file once more for it.
    root = _root(suite.build_xml_doc() for suite in suites)
    body = ElementTree.tostring(root, encoding="unicode")
    atomic.write(path, f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n')


def _root(suites: Iterable[ElementTree.Element]) -> ElementTree.Element:
    """Return all suites below one element, without what the schema does not know."""
    root = ElementTree.Element("testsuites")
    for suite in suites:
        suite.attrib.pop("disabled", None)
        suite.set("time", _seconds(float(suite.get("time", 0))))
        root.append(suite)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, 0)) for suite in root)))
    root.set("time", _seconds(sum(float(suite.get("time", 0)) for suite in root)))
    return root


def _seconds(time: float) -> str:
    """Return seconds as the schema has them: without an exponent."""
    return f"{time:.6f}"


def _suite(name: str, results: Results, properties: Mapping[str, str], has_host: bool) -> TestSuite:
    places = [_place(check) for check, _ in results]
    taken = Counter(places)
    cases = [
        _case(check, verdict, place, unique=taken[place] == 1)
        for (check, verdict), place in zip(results, places, strict=True)
    ]
    started = [verdict.started for _, verdict in results if verdict.started]
    return TestSuite(
        clean_line(name) or "fabric",
        cases,
        hostname=clean_line(name) if has_host else None,
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
