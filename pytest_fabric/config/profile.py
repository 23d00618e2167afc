"""Profiles: `extends` is resolved by key, and each limit keeps the line that it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources

from pydantic import BaseModel

from pytest_fabric import metrics
from pytest_fabric.config import declared
from pytest_fabric.config.check import validate
from pytest_fabric.config.limits import (
    EXAMPLES,
    Absolute,
    Clause,
    Limit,
    Peers,
    Relative,
    Word,
    check_metric,
    parse_limit,
)
from pytest_fabric.config.models import Profile, ProfileKeys
from pytest_fabric.config.problems import Mark, Problems
from pytest_fabric.config.sections import Infiniband, Link, Pcie, Roce
from pytest_fabric.config.wording import expected, got, like, quoted
from pytest_fabric.config.written import ProfileEntry
from pytest_fabric.config.yaml_lines import Items, Table, parse
from pytest_fabric.errors import ConfigError
from pytest_fabric.units import Quantity

BUILTIN = "builtin/"

#: The part of a profile that belongs to each link layer only.
LAYER_KEYS = {"roce": "Ethernet", "infiniband": "InfiniBand"}


class WholeProfile(ProfileEntry):
    """A profile after `extends`: it can stand alone."""

    link: Link


@cache
def builtin_names() -> tuple[str, ...]:
    """Return the names of the builtin profiles."""
    files = resources.files("pytest_fabric.config").joinpath("profiles").iterdir()
    return tuple(sorted(file.name[:-5] for file in files if file.name.endswith(".yaml")))


@cache
def builtin_table(name: str) -> Table:
    """Return what a builtin profile says. Raises ConfigError when its file is wrong."""
    folder = resources.files("pytest_fabric.config").joinpath("profiles")
    problems = Problems(f"{BUILTIN}{name}.yaml")
    table = parse(folder.joinpath(f"{name}.yaml").read_text("utf-8"), problems)
    problems.refuse()
    return table


def merge(lower: Table, upper: Table) -> Table:
    """Return two profiles as one, deep by key; what `upper` says wins, with its own place."""
    merged = Table(upper.mark)
    for table in (lower, upper):
        for key, value in table.items():
            known = merged.get(key)
            if isinstance(known, Table) and isinstance(value, Table):
                value = merge(known, value)
            merged.put(key, value, table.marks[key])
    return merged


class Profiles:
    """The profiles of a cluster file, each resolved when it is first asked for."""

    def __init__(self, tables: Table, problems: Problems) -> None:
        self.tables = tables
        self.problems = problems
        self.merged: dict[str, Table | None] = {}
        self.resolved: dict[str, Profile | None] = {}

    def get(self, name: str, mark: Mark) -> Profile | None:
        """Return the profile that the key at `mark` names, or None after adding a problem."""
        table = self._table(name, mark, ())
        if name not in self.resolved:
            self.resolved[name] = None if table is None else build(name, table, self.problems)
        return self.resolved[name]

    def check_unused(self) -> None:
        """Add the problems of profiles that no port has; such a one need not be complete."""
        for name, mark in self.tables.marks.items():
            if name not in self.resolved:
                table = self._table(name, mark, ())
                if table is not None:
                    build(name, table, self.problems, partial=True)

    def _table(self, name: str, mark: Mark, chain: tuple[str, ...]) -> Table | None:
        if name in chain:
            circle = " -> ".join((*chain[chain.index(name) :], name))
            self.problems.add(mark, f"expected profiles that end, got the circle {circle}")
            return None
        if name not in self.merged:
            own = self._own(name, mark)
            if own is None and name not in self.tables:
                return None
            self.merged[name] = None if own is None else self._extended(name, own, chain)
        return self.merged[name]

    def _own(self, name: str, mark: Mark) -> Table | None:
        if name.startswith(BUILTIN):
            known = [f"{BUILTIN}{known}" for known in builtin_names()]
            if name in known:
                return builtin_table(name.removeprefix(BUILTIN))
            wanted = f"a builtin profile: {', '.join(known)}"
            self.problems.add(mark, f"expected {wanted}, got {quoted(name)}")
            return None
        if name not in self.tables:
            known = [*self.tables, *(f"{BUILTIN}{known}" for known in builtin_names())]
            wanted = like("a known profile", name, known)
            self.problems.add(mark, f"expected {wanted}, got {quoted(name)}")
            return None
        table = self.tables[name]
        if isinstance(table, Table):
            return table
        self.problems.add(self.tables.marks[name], f"expected a mapping, got {got(table)}")
        return None

    def _extended(self, name: str, own: Table, chain: tuple[str, ...]) -> Table | None:
        parent = own.get("extends")
        if parent is None:
            return own
        mark = own.marks["extends"]
        if not isinstance(parent, str):
            self.problems.add(mark, f"expected the name of a profile, got {got(parent)}")
            return None
        lower = self._table(parent, mark, (*chain, name))
        return None if lower is None else merge(lower, own)


def build(name: str, table: Table, problems: Problems, partial: bool = False) -> Profile | None:
    """Return a profile from what it says after `extends`, or None after adding problems."""
    before = problems.told
    keys = validate(WholeProfile, table, table.mark, problems, keys=ProfileEntry, partial=partial)
    limits = _declared_limits(name, table, keys)
    for limit in _written_limits(name, table, problems):
        if limit.metric in limits:
            where = f"{limits[limit.metric].source} declares it, which is its limit"
            mark = table["limits"].marks[limit.metric]
            problems.add(mark, f"expected no limit of a declared fact, got one: {where}")
        limits[limit.metric] = limit
    _check_names(table, problems)
    if keys is None:
        return None
    if keys.roce:
        room = declared.room(name, table, keys.link)
        for limit in (*room, *declared.far_speed(name, table, keys.link)):
            limits.setdefault(limit.metric, limit)  # a site may ask for more
    _check_layer(table, keys, problems)
    _check_rates(name, table, keys, limits, problems)
    if problems.told > before:
        return None
    rest = {key: getattr(keys, key) for key in ProfileKeys.model_fields}
    return Profile(name=name, link=keys.link, limits=limits, **rest)


def _declared_limits(name: str, table: Table, keys: WholeProfile | None) -> dict[str, Limit]:
    """Return a limit for each fact that is declared, and of firmware by `firmware.PSID`."""
    limits = {}
    for part in ("link", "pcie", "roce", "infiniband"):
        model = getattr(keys, part, None)
        if not isinstance(model, (Link, Pcie, Roce, Infiniband)):
            continue
        for key in (key for key in type(model).model_fields if key in model.model_fields_set):
            metric = f"{part}.{key}"
            value = _said(getattr(model, key)) if metrics.unit_of(metric) is not None else None
            if value is not None:
                clause = _fact_clause(metric, value)
                text = f"== {value} B" if key == "mtu" else str(clause)
                source = str(table[part].marks[key])
                limits[metric] = Limit(metric, (clause,), text, source, name)
    roce = getattr(keys, "roce", None)
    if roce is not None:
        limits.update((one.metric, one) for one in declared.roce_limits(name, table, roce))
    for psid, version in (keys.firmware if keys is not None else {}).items():
        source = str(table["firmware"].marks[psid])
        limit = Limit("firmware.running", (Word(version),), f"== {version}", source, name)
        limits[f"firmware.{psid}"] = limit
    return limits


def _said(value: object) -> Quantity | str | int | None:
    """Return what a key declares as its fact says it: flags as on and off, lists with commas."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or "none"
    return value if isinstance(value, (Quantity, str, int)) else None


def _fact_clause(metric: str, value: Quantity | str | int) -> Clause:
    if isinstance(value, Quantity):
        return Absolute("==", value)
    if isinstance(value, str):
        return Word(value)
    return Absolute("==", Quantity(value, metrics.unit_of(metric) or ""))


def _written_limits(name: str, table: Table, problems: Problems) -> list[Limit]:
    limits = []
    for metric, value, mark in _entries(table, "limits"):
        texts = value if isinstance(value, Items) else [value]
        marks = value.marks if isinstance(value, Items) else [mark]
        try:
            check_metric(metric)
            if not texts:
                raise expected("a limit or a list of limits", value)
        except ConfigError as error:
            problems.add(mark, str(error))
            continue
        clauses = _clauses(metric, zip(texts, marks, strict=True), problems)
        if clauses and all(isinstance(clause, Peers) for clause in clauses):
            example = quoted(EXAMPLES[check_metric(metric)])
            why = "where all are equally slow, all are within it"
            wanted = f"another limit such as {example} beside {quoted(str(clauses[0]))}"
            problems.add(mark, f"expected {wanted}, found none: {why}")
        shown = " and ".join(str(text).strip() for text in texts)
        # A text that is no limit has its own problem, and no limit is used then.
        places = tuple(map(str, marks)) if len(clauses) == len(marks) else ()
        limits.append(Limit(metric, clauses, shown, str(mark), name, places))
    return limits


def _clauses(
    metric: str, texts: Iterable[tuple[object, Mark]], problems: Problems
) -> tuple[Clause, ...]:
    clauses = []
    for text, mark in texts:
        try:
            clauses.append(parse_limit(metric, text))
        except ConfigError as error:
            problems.add(mark, str(error))
    return tuple(clauses)


def _entries(table: Table, key: str) -> Iterator[tuple[str, object, Mark]]:
    """Yield each key, value and place of a mapping within a profile, if it is one."""
    part = table.get(key)
    if isinstance(part, Table):
        for name, mark in part.marks.items():
            yield name, part[name], mark


def _check_names(table: Table, problems: Problems) -> None:
    """Refuse a `not_available` of something that no check reads."""
    known = {name.rpartition(".")[0] for name in metrics.names()} | set(metrics.names())
    for name, _, mark in _entries(table, "not_available"):
        if name not in known and metrics.unit_of(name) is None:
            wanted = like("a metric or its first word", name, sorted(known))
            problems.add(mark, f"expected {wanted}, got {quoted(name)}")


def _check_layer(table: Table, keys: WholeProfile, problems: Problems) -> None:
    for key, layer in LAYER_KEYS.items():
        part: BaseModel | None = getattr(keys, key)
        if part is not None and keys.link.layer != layer:
            places = (table.marks[key], table["link"].marks["layer"])
            mark = next((place for place in places if place.file == problems.file), places[0])
            why = f"`{key}: null` takes back what {places[0]} declares"
            wanted = f"link.layer {layer} beside {key}"
            problems.add(mark, f"expected {wanted}, got {keys.link.layer}: {why}")


def _check_rates(
    name: str, table: Table, keys: WholeProfile, limits: dict[str, Limit], problems: Problems
) -> None:
    """Refuse a share of a rate that nothing declares."""
    for limit in limits.values():
        shares = {clause.of for clause in limit.clauses if isinstance(clause, Relative)}
        for share in sorted(shares):
            needed: dict[str, object] = {"link.speed": keys.link.speed}
            if share == "payload rate":
                needed["link.mtu"] = keys.link.mtu
            lacking = [key for key, value in needed.items() if value is None]
            if lacking:
                mark = table["limits"].marks[limit.metric]
                wanted = f"{' and '.join(lacking)} in profile {name} for a % of {share}"
                problems.add(mark, f"expected {wanted}, found none")


@cache
def builtin_profile(name: str) -> Profile:
    """Return a builtin profile by its name without `builtin/`. Raises ConfigError."""
    problems = Problems(f"{BUILTIN}{name}.yaml")
    mark = Mark(problems.file, 1, "")
    profile = Profiles(Table(mark), problems).get(f"{BUILTIN}{name}", mark)
    problems.refuse()
    assert profile is not None
    return profile
