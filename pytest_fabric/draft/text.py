"""The text of a first cluster file, with comments for whoever goes on with it."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fabric.config import Network, fold
from pytest_fabric.draft import classes
from pytest_fabric.draft.classes import Found
from pytest_fabric.draft.hosts import Host
from pytest_fabric.draft.kinds import Kind
from pytest_fabric.draft.rails import Rails
from pytest_fabric.results import Port
from pytest_fabric.tools.printable import printable

HEAD = """\
# Written by `pytest-fabric init`, from what the nodes showed on {day}. From now on this file is
# what the fabric is held against, so read it once: what was wrong on that day is wrong in here too.
# `pytest-fabric check` says in a line each what is wrong with it or missing on a node, and
# `pytest-fabric schema > cluster.schema.json` gives completion in editors.
"""

PAIRS = """
# cover: few pairs that reach every port and every leaf; ring: fewer still, for a smoke test; all,
# permutation, random and list: see README.
pairs: {strategy: cover}
"""

#: Said under a profile: what nodes cannot show.
REST = (
    "Declared besides, by the builtin profile: latency, bandwidth and error limits:",
    "`pytest-fabric explain` shows them. Where yours differ, say it here, as with",
    '  limits: {ib_write_lat.p99: "<= 4 us"}',
)


@dataclass(frozen=True)
class Draft:
    """All that is written. `head` are the lines of transport, ssh and lab, as YAML.

    `classes` are what nodes show of the class of RDMA traffic, by the name of the kind.
    """

    name: str
    day: str
    head: tuple[str, ...]
    hosts: tuple[Host, ...]
    rails: Rails
    networks: Mapping[str, Network]
    kinds: tuple[Kind, ...]
    kind_of: Mapping[Port, Kind]
    odd: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
    leaves: Mapping[Port, str] = field(default_factory=dict)
    classes: Mapping[str, Sequence[Found]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Entry:
    """What nodes must have in common to stand under one key."""

    rails: tuple[str, ...]
    profile: str


def write(draft: Draft) -> str:
    """Return the text of the cluster file."""
    entries = {name: _entry(draft, name) for name in draft.rails.ports}
    usual = Counter(entries.values()).most_common(1)[0][0]
    entries.update(dict.fromkeys(draft.excluded, usual))
    lines = [
        *HEAD.format(day=draft.day).splitlines(),
        f"name: {_text(draft.name)}",
        *draft.head,
        "",
        "nodes:",
        *_nodes(draft, entries, usual),
        "",
        "# Ports are found by these words on every node, never by the order of device names.",
        "rails:",
        *(f"  {line}" for line in usual.rails),
        *(f"  # left out: {line}" for line in draft.rails.left_out),
        *_odd(draft.odd),
        "",
        "profiles:",
        *(line for kind in draft.kinds for line in _profile(draft, kind)),
        *PAIRS.rstrip().splitlines(),
        *_excluded(draft.excluded),
    ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """Return a text as YAML, quoted where it is more than a word."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_./-]*", value, re.A)
    special = value.lower() in ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
    return value if plain and not special else _quoted(value)


def _quoted(value: str) -> str:
    """Return a text in quotation marks. YAML does not know the surrogates of JSON's ASCII."""
    return json.dumps(printable(value), ensure_ascii=False)


def _entry(draft: Draft, node: str) -> _Entry:
    ports = draft.rails.ports[node]
    kinds = {rail: draft.kind_of[Port(node, rail)].name for rail in ports}
    profile = Counter(kinds.values()).most_common(1)[0][0]
    rails = tuple(_rail(draft, Port(node, rail), kinds[rail], profile) for rail in ports)
    return _Entry(rails, profile)


def _rail(draft: Draft, port: Port, kind: str, usual: str) -> str:
    selector, value = draft.rails.selectors[port]
    words = [f"{selector}: {_quoted(value)}"]
    if port.rail in draft.networks:
        words.append(f"network: {_quoted(str(draft.networks[port.rail]))}")
    if port in draft.leaves:
        words.append(f"leaf: {_text(draft.leaves[port])}")
    gpu = draft.rails.ports[port.node][port.rail].gpu
    if gpu is not None:
        words.append(f"gpu: {_quoted(gpu)}")
    if kind != usual:
        words.append(f"profile: {_text(kind)}")
    return f"{port.rail}: {{{', '.join(words)}}}"


def _nodes(draft: Draft, entries: Mapping[str, _Entry], usual: _Entry) -> Iterator[str]:
    alike: dict[tuple[_Entry, str], list[str]] = defaultdict(list)
    for host in draft.hosts:
        address = _address(host)
        alike[entries[host.name], address].append(host.name)
    for (entry, address), names in alike.items():
        words = [f"profile: {_text(entry.profile)}"]
        words += [f"address: {_quoted(address)}"] if address else []
        key = _quoted(fold(names)) if "," in fold(names) else fold(names)
        if entry.rails == usual.rails:
            yield f"  {key}: {{{', '.join(words)}}}"
            continue
        yield f"  {key}:"
        yield from (f"    {word}" for word in words)
        yield "    rails: # not those of most nodes"
        yield from (f"      {line}" for line in entry.rails)


def _address(host: Host) -> str:
    """Return the address of a host with its name left open, so that many can share a line."""
    written = host.written()
    return re.sub(rf"^{re.escape(host.name)}(?=[.:]|$)", "{node}", written)


def _odd(lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield "# Odd ports, which will fail: mend them, or declare what they are."
        yield from (f"#   {line}" for line in listed)


def _profile(draft: Draft, kind: Kind) -> Iterator[str]:
    yield f"  {_text(kind.name)}:"
    yield from (f"    # {note}" for note in kind.notes)
    yield f"    extends: builtin/{kind.base}"
    for section in ("link", "pcie"):
        keys = getattr(kind, section)
        if keys:
            words = ", ".join(f"{key}: {value}" for key, value in keys.items())
            yield f"    {section}: {{{words}}} # as found, the builtin profile has another"
    if kind.sudo:
        yield f"    sudo: [{', '.join(kind.sudo)}] # what sudo lets the user run"
    if kind.firmware:
        yield "    firmware: # by board (PSID); another board is an error"
        for psid, version in kind.firmware.items():
            yield f"      {_text(psid)}: {_quoted(version)}"
    yield from (f"    {line}" for line in classes.lines(draft.classes.get(kind.name, ())))
    if kind.base != "soft-roce":
        yield from (f"    # {line}" for line in REST)


def _excluded(excluded: Mapping[str, str]) -> Iterator[str]:
    if not excluded:
        return
    yield ""
    yield "# Described like most of the others, since they did not answer: take the line of one out"
    yield "# when it does, and run `pytest-fabric check`."
    yield "excluded:"
    for name, reason in excluded.items():
        yield f"  {name}: {_quoted(reason)}"
