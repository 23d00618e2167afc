"""`dcb app show`: which priority a packet gets, by DSCP, PCP, port or Ethernet type.

Sections are those of iproute2 dcb_app.c. In plain text without `-N` DSCPs and PCPs are words of
/etc/iproute2/rt_dsfield and of dcb_app.c.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import dcb
from pytest_fabric.tools.strict_json import as_count, as_list, as_object, is_json, load

SELECTORS = ("default", "dscp", "pcp", "ethtype", "stream_port", "dgram_port", "port")

#: The highest key of a section: 6 bits of DSCP, 3 bits of PCP and the drop bit, 16 bits of others.
LIMITS = {"dscp": 63, "pcp": 15}

NAMES = {
    "default": 0,
    "le": 1,
    "reliability": 1,
    "throughput": 2,
    "lowdelay": 4,
    "voice-admit": 44,
    "ef": 46,
    **{f"cs{number}": 8 * number for number in range(8)},
    **{f"af{kind}{drop}": 8 * kind + 2 * drop for kind in range(1, 5) for drop in range(1, 4)},
}
PCP = re.compile(r"([0-7])(nd|de)")
DECIMAL = re.compile(r"[0-9]{1,5}")
HEXADECIMAL = re.compile(r"[0-9a-f]{1,4}")


@dataclass(frozen=True)
class Rule:
    """What gets a priority: `selector` says what `key` is; it is None for the default priority.

    A PCP key of 8 and more is PCP `key - 8` with the drop bit set. Ports are TCP and SCTP for
    `stream_port`, UDP and DCCP for `dgram_port`, all of them for `port`.
    """

    selector: str
    key: int | None
    priority: int


def command(netdev: str) -> tuple[str, ...]:
    """Return the command line that shows the priority rules of a network device."""
    return dcb.command("app", netdev)


def parse(text: str) -> list[Rule]:
    """Return the rules in the order in which they are shown; `{}` says that there are none.

    Raises ToolError when dcb reports an error, NotRecognisedError for any other text.
    """
    if is_json(text):
        sections = as_object(load(text, dcb.ERRORS), "document").items()
        return [rule for name, rows in sections for rule in _from_json(_selector(name, "_"), rows)]
    lines = dcb.lines(text)
    titles = [words[0] for words in lines]
    if len(set(titles)) != len(titles):
        raise NotRecognisedError("expected each section of dcb app once")
    return [rule for title, *words in lines for rule in _from_words(_selector(title, "-"), words)]


def _selector(title: str, sign: str) -> str:
    selector = title.removesuffix(f"{sign}prio").replace(sign, "_")
    if selector not in SELECTORS or title != f"{selector}_prio".replace("_", sign):
        raise NotRecognisedError(f"expected a section such as dscp{sign}prio, got {title[:40]!r}")
    return selector


def _from_json(selector: str, rows: object) -> list[Rule]:
    rules = []
    for row in as_list(rows, selector):
        if selector == "default":
            rules.append(_rule(selector, None, row))
            continue
        pair = as_list(row, selector)
        if len(pair) != 2:
            raise NotRecognisedError(f"expected key and priority, got {len(pair)} values")
        key = pair[0]
        is_word = isinstance(key, str)
        rules.append(_rule(selector, _key(selector, str(key)) if is_word else key, pair[1]))
    return rules


def _from_words(selector: str, words: list[str]) -> list[Rule]:
    rules = []
    for word in words:
        key, colon, priority = word.rpartition(":")
        if not DECIMAL.fullmatch(priority) or bool(colon) == (selector == "default"):
            raise NotRecognisedError(f"expected a rule of {selector}, got {word[:40]!r}")
        rules.append(_rule(selector, _key(selector, key) if colon else None, int(priority)))
    if not rules:
        raise NotRecognisedError(f"expected rules of {selector}")
    return rules


def _key(selector: str, word: str) -> int | None:
    """Return the number of a key; only Ethernet types are hexadecimal. None for what is no key."""
    pcp = PCP.fullmatch(word)
    if selector == "pcp" and pcp:
        return int(pcp[1]) + (8 if pcp[2] == "de" else 0)
    if selector == "dscp" and word.lower() in NAMES:
        return NAMES[word.lower()]
    if selector == "ethtype":
        return int(word, 16) if HEXADECIMAL.fullmatch(word) else None
    return int(word) if DECIMAL.fullmatch(word) else None


def _rule(selector: str, key: object, priority: object) -> Rule:
    if selector != "default":
        key = as_count(key, f"key of {selector}", LIMITS.get(selector, 65535))
    number = as_count(priority, "priority", dcb.PRIORITIES - 1)
    return Rule(selector, key if isinstance(key, int) else None, number)


def records(text: str) -> list[dict[str, object]]:
    """Return the rules as plain records."""
    return [asdict(rule) for rule in parse(text)]
