"""`devlink health show`: what the health reporters of the NICs have counted.

Key names are those of `pr_out_health` in iproute2 devlink.c; the first releases wrote `name` for
the reporter, and `#err` and `#recover` for the counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, devlink
from pytest_fabric.tools.strict_json import as_list, as_object, is_json, load

STATES = ("healthy", "error")
DEVICE = re.compile(rf"({devlink.HANDLE}):")
REPORTER = re.compile(r"(?:reporter|name) ([A-Za-z0-9_.-]+)")
VALUES = re.compile(r"state(?: \S+)+")
SPELLINGS = {"name": "reporter", "#err": "error", "errors": "error", "#recover": "recover"}
NUMBER = re.compile(r"[0-9]{1,20}")


@dataclass(frozen=True)
class Reporter:
    """A health reporter: how many errors it saw, and how many recoveries it finished.

    `last_dump` is date and time as they are shown; None where the reporter has or says nothing.
    """

    device: str
    reporter: str
    state: str
    errors: int
    recoveries: int
    last_dump: str | None
    grace_period_ms: int | None
    auto_recover: bool | None
    auto_dump: bool | None


def command() -> tuple[str, ...]:
    """Return the command line that shows every reporter."""
    return ("devlink", "-j", "health", "show")


def parse(text: str) -> list[Reporter]:
    """Return the reporters of all devices and ports; JSON and plain text are read alike.

    Raises ToolError when devlink reports an error, NotRecognisedError for any other text.
    """
    if is_json(text):
        return _from_json(text)
    complaints.check(text, devlink.ERRORS)
    if not text.strip() or not text.endswith("\n"):
        raise NotRecognisedError("expected whole lines of devlink health, got a cut-off text")
    return _from_lines([line.strip() for line in text.split("\n") if line.strip()])


def _from_json(text: str) -> list[Reporter]:
    health = as_object(as_object(load(text, devlink.ERRORS), "document").get("health"), "health")
    return [
        _reporter(device, as_object(entry, "reporter"))
        for device, entries in health.items()
        for entry in as_list(entries, device)
    ]


def _from_lines(lines: list[str]) -> list[Reporter]:
    """Return the reporters of `device:`, `reporter NAME` and `state ...` lines, in that order."""
    found: list[Reporter] = []
    device = name = None
    for line in lines:
        title, reporter = DEVICE.fullmatch(line), REPORTER.fullmatch(line)
        if title and name is None:
            device = title[1]
        elif reporter and name is None:
            name = reporter[1]
        elif VALUES.fullmatch(line) and device and name:
            found.append(_reporter(device, {"reporter": name, **_pairs(line)}))
            name = None
        else:
            raise NotRecognisedError(f"expected a line of devlink health, got {line[:80]!r}")
    if name is not None or not found:
        raise NotRecognisedError("expected a state for every reporter: the text is cut off")
    return found


def _pairs(line: str) -> dict[str, object]:
    words = line.split()
    if len(words) % 2 or len(set(words[::2])) != len(words) // 2:
        raise NotRecognisedError(f"expected names and values, got {line[:80]!r}")
    return dict(zip(words[::2], words[1::2], strict=True))


def _reporter(device: str, values: Mapping[str, object]) -> Reporter:
    values = {SPELLINGS.get(name, name): value for name, value in values.items()}
    name, state = values.get("reporter"), values.get("state")
    errors, recoveries = _count(values.get("error")), _count(values.get("recover"))
    known = isinstance(name, str) and REPORTER.fullmatch(f"reporter {name}")
    if (
        not known
        or state not in STATES
        or errors is None
        or recoveries is None
        or not re.fullmatch(devlink.HANDLE, device)
    ):
        raise NotRecognisedError(f"expected a reporter of {device[:60]!r} with state and counts")
    return Reporter(
        device=device,
        reporter=str(name),
        state=str(state),
        errors=errors,
        recoveries=recoveries,
        last_dump=_dump(values),
        grace_period_ms=_count(values.get("grace_period")),
        auto_recover=_flag(values.get("auto_recover")),
        auto_dump=_flag(values.get("auto_dump")),
    )


def _dump(values: Mapping[str, object]) -> str | None:
    parts = [values.get("last_dump_date"), values.get("last_dump_time")]
    whole = all(isinstance(part, str) and re.fullmatch(r"[0-9:.-]+", part) for part in parts)
    return " ".join(map(str, parts)) if whole else None


def _count(value: object) -> int | None:
    if type(value) is int and 0 <= value < 2**64:
        return value
    return int(value) if isinstance(value, str) and NUMBER.fullmatch(value) else None


def _flag(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value) if isinstance(value, str) else None


def records(text: str) -> list[dict[str, object]]:
    """Return the reporters as plain records."""
    return [asdict(reporter) for reporter in parse(text)]
