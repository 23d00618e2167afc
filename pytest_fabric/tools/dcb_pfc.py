"""`dcb pfc show`: which priorities a port pauses, as the kernel knows it (iproute2 dcb_pfc.c).

Firmware that negotiates PFC by itself may do something else than it tells the kernel.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import dcb
from pytest_fabric.tools.strict_json import as_count, as_list, as_object, is_json, load

FLAGS = {"on": True, "off": False}
PAIR = re.compile(r"([0-7]):(\S+)")
NUMBER = re.compile(r"[0-9]{1,20}")

#: The lists that `-s` adds, with one count for each priority.
COUNTS = ("requests", "indications")


@dataclass(frozen=True)
class Pfc:
    """The PFC of a port; `pfc_priorities` are those with PFC on.

    `requests` and `indications` are pause frames sent and received for each priority, None unless
    asked for with `-s`. `delay_bits` is the allowance for the round trip, in bit times.
    """

    pfc_cap: int
    macsec_bypass: bool
    delay_bits: int
    pfc_priorities: tuple[int, ...]
    requests: tuple[int, ...] | None
    indications: tuple[int, ...] | None


def command(netdev: str) -> tuple[str, ...]:
    """Return the command line that shows the PFC of a network device."""
    return dcb.command("pfc", netdev)


def parse(text: str) -> Pfc:
    """Return the PFC of a port; JSON and plain text are read alike.

    Raises ToolError when dcb reports an error, NotRecognisedError for any other text.
    """
    values = (
        as_object(load(text, dcb.ERRORS), "document")
        if is_json(text)
        else _from_lines(dcb.lines(text))
    )
    flags = [_flag(flag) for flag in as_list(values.get("prio_pfc"), "prio_pfc")]
    if len(flags) != dcb.PRIORITIES:
        raise NotRecognisedError(f"expected PFC of 8 priorities, got {len(flags)}")
    return Pfc(
        pfc_cap=as_count(values.get("pfc_cap"), "pfc_cap", dcb.PRIORITIES),
        macsec_bypass=_flag(values.get("macsec_bypass")),
        delay_bits=as_count(values.get("delay"), "delay"),
        pfc_priorities=tuple(number for number, flag in enumerate(flags) if flag),
        requests=_counts(values, "requests"),
        indications=_counts(values, "indications"),
    )


def _flag(value: object) -> bool:
    flag = FLAGS.get(value) if isinstance(value, str) else value
    if not isinstance(flag, bool):
        raise NotRecognisedError(f"expected on or off, got {str(value)[:40]!r}")
    return flag


def _counts(values: dict[str, object], key: str) -> tuple[int, ...] | None:
    if key not in values:
        return None
    counts = tuple(as_count(value, key) for value in as_list(values[key], key))
    if len(counts) != dcb.PRIORITIES:
        raise NotRecognisedError(f"expected {key} of 8 priorities, got {len(counts)}")
    return counts


def _from_lines(lines: list[list[str]]) -> dict[str, object]:
    values: dict[str, object] = {}
    for key, *words in lines:
        if key == "pfc-cap" and words[1::2] == ["macsec-bypass", "delay"] and len(words) == 5:
            new = {
                "pfc_cap": _number(words[0]),
                "macsec_bypass": words[2],
                "delay": _number(words[4]),
            }
        elif key == "prio-pfc":
            new = {"prio_pfc": _flags(words)}
        elif key in COUNTS:
            new = {key: [_number(word.rpartition(":")[2]) for word in words]}
        else:
            raise NotRecognisedError(f"expected a line of dcb pfc, got {' '.join(words)[:80]!r}")
        if not new.keys().isdisjoint(values):
            raise NotRecognisedError(f"expected {key} once, got it twice")
        values.update(new)
    return values


def _flags(words: list[str]) -> list[object]:
    pairs = [PAIR.fullmatch(word) for word in words]
    if [pair and pair[1] for pair in pairs] != [str(n) for n in range(dcb.PRIORITIES)]:
        raise NotRecognisedError(f"expected 0:on or 0:off up to 7, got {' '.join(words)[:80]!r}")
    return [pair[2] for pair in pairs if pair]


def _number(word: str) -> object:
    return int(word) if NUMBER.fullmatch(word) else word


def records(text: str) -> list[dict[str, object]]:
    """Return the PFC of the port as one plain record, lists by priority."""
    values = asdict(parse(text)).items()
    return [{key: list(value) if isinstance(value, tuple) else value for key, value in values}]
