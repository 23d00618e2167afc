"""What refers to nodes and rails: pairs, excluded nodes, waivers, and the lab's versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from pytest_fabric.config.check import place
from pytest_fabric.config.inventory import Inventory
from pytest_fabric.config.models import Pairs
from pytest_fabric.config.nodesets import expand
from pytest_fabric.config.problems import Mark, Problems
from pytest_fabric.config.sections import Lab, Workload
from pytest_fabric.config.wording import nearest, quoted
from pytest_fabric.config.written import PairKeys, read_pair
from pytest_fabric.config.yaml_lines import Items, Table
from pytest_fabric.declare import FABRIC
from pytest_fabric.errors import ConfigError
from pytest_fabric.metrics import names, unit_of


class References:
    """Checks names against the inventory; `tree` says where each of them stands."""

    def __init__(self, tree: Table, inventory: Inventory, problems: Problems) -> None:
        self.tree = tree
        self.inventory = inventory
        self.problems = problems

    def pairs(self, keys: PairKeys) -> Pairs:
        """Return the pairs; listed ones have two different known ports, each pair once."""
        self._check_strategy(keys)
        seen: set[tuple[str, str]] = set()
        for value, mark in self._items("pairs", "list"):
            with suppress(ConfigError):  # its form is wrong, which its model says
                pair = read_pair(value)
                if pair[0] == pair[1]:
                    self.problems.add(mark, f"expected two ports, got {quoted(pair[0])} twice")
                if pair in seen:
                    self.problems.add(mark, f"expected each pair once, got {'..'.join(pair)} again")
                seen.add(pair)
                for end in pair:
                    self._port(end, mark)
        return Pairs(**dict(keys))

    def _check_strategy(self, keys: PairKeys) -> None:
        where = place(self.tree, self.tree.mark, ["pairs"])
        if keys.strategy == "list" and not keys.list:
            self.problems.add(where.key("list"), "expected the pairs of strategy list, found none")
        if keys.strategy != "list" and keys.list:
            wanted = f"strategy: list beside a list of pairs, got {keys.strategy}"
            self.problems.add(where.key("strategy"), f"expected {wanted}")

    def excluded(self, reasons: dict[str, str]) -> dict[str, str]:
        """Return the reason of each excluded node."""
        excluded: dict[str, str] = {}
        for key, mark in self._keys("excluded"):
            for name in self._nodes(key, mark):
                if name in excluded:
                    self.problems.add(mark, f"expected each node once, got {name} again")
                excluded[name] = reasons.get(key, "")
        if self.inventory.marks and excluded.keys() >= self.inventory.marks.keys():
            mark = place(self.tree, self.tree.mark, ["excluded"])
            self.problems.add(mark, "expected at least one node that is not excluded, found none")
        return excluded

    def waivers(self) -> None:
        """Check that the targets and metrics of waivers are known."""
        for waiver, _ in self._items("waivers"):
            target = waiver.get("target") if isinstance(waiver, Table) else None
            self._check_metric(waiver)
            if isinstance(target, str) and target != FABRIC:
                self._check_target(target, waiver.marks["target"])

    def _check_target(self, target: str, mark: Mark) -> None:
        """Check that nodes and rails are known, and that a pair is one pair: else it is of none."""
        ends = target.split("..")
        for end in ends:
            nodes, colon, rail = end.partition(":")
            names = self._nodes(nodes, mark)
            for name in names if colon else ():
                self._port(f"{name}:{rail}", mark)
            is_port = not names or (names == (nodes,) and rail)
            if len(ends) > 2 or (len(ends) == 2 and not is_port):
                wanted = "expected a pair such as gpu001:rail0..gpu002:rail0"
                self.problems.add(mark, f"{wanted}, got {quoted(target)}")
                return

    def _check_metric(self, waiver: object) -> None:
        metric = waiver.get("metric") if isinstance(waiver, Table) else None
        if isinstance(waiver, Table) and isinstance(metric, str) and unit_of(metric) is None:
            self._unknown("a metric", metric, names(), waiver.marks["metric"])

    def collectives(self) -> None:
        """Check that the nodes of a collective are known."""
        for key, mark in self._keys("collectives"):
            value = self._at("collectives", key)
            if key in ("launcher", "nodes") and isinstance(value, str):
                self._nodes(value, mark)
            if key == "job" and self._at("collectives", "launch_with") != "srun":
                self.problems.add(mark, "expected launch_with: srun beside job, found another")

    def workload(self, workload: Workload | None) -> None:
        """Check that the GPUs of a workload are those of whole nodes."""
        marks = dict(self._keys("workload"))
        if workload is None or workload.gpus % workload.gpus_per_node == 0 or "gpus" not in marks:
            return
        wanted = f"whole nodes of {workload.gpus_per_node} GPUs (workload.gpus_per_node)"
        self.problems.add(marks["gpus"], f"expected {wanted}, got {workload.gpus}")

    def lab(self, lab: Lab) -> Lab:
        """Return the lab with the node sets of what nodes have expanded."""
        expanded: dict[str, dict[str, object]] = {}
        for part in ("perftest", "iperf3", "adapters", "vfs", "path"):
            said: Mapping[str, object] = getattr(lab, part)
            expanded[part] = {}
            for key, mark in self._keys("lab", part):
                known = {key: said[key]} if key in said else {}
                nodes = self._nodes(key, mark)
                expanded[part].update(dict.fromkeys(nodes, *known.values()) if known else {})
        return lab.model_copy(update=expanded)

    def _at(self, *path: str) -> object:
        value: object = self.tree
        for key in path:
            value = value.get(key) if isinstance(value, Table) else None
        return value

    def _items(self, *path: str) -> Iterator[tuple[Any, Mark]]:
        """Yield the items of a list that is written at a path, right or wrong, with its place."""
        items = self._at(*path)
        if isinstance(items, Items):
            yield from zip(items, items.marks, strict=True)

    def _keys(self, *path: str) -> Iterator[tuple[str, Mark]]:
        """Yield the keys of a mapping that is written at a path, with the place of each."""
        table = self._at(*path)
        if isinstance(table, Table):
            yield from table.marks.items()

    def _nodes(self, text: str, mark: Mark) -> tuple[str, ...]:
        """Return the known names of a node set; unknown ones are a problem."""
        try:
            names = expand(text)
        except ConfigError as error:
            self.problems.add(mark, str(error))
            return ()
        unknown = [name for name in names if name not in self.inventory.marks]
        if unknown:
            self._unknown("a node of the inventory", unknown[0], self.inventory.marks, mark)
        return tuple(name for name in names if name in self.inventory.marks)

    def _port(self, text: str, mark: Mark) -> None:
        node, _, rail = text.partition(":")
        if node not in self.inventory.marks:
            self._unknown("a node of the inventory", node, self.inventory.marks, mark)
            return
        rails = self.inventory.rails[node]
        if rails is not None and rail not in rails:
            self._unknown(f"a rail of {node}", rail, rails, mark)

    def _unknown(self, kind: str, name: str, known: Iterable[str], mark: Mark) -> None:
        names = sorted(known)
        close = nearest(name, names) or (names[0] if names else "")
        such = f" such as {quoted(close)}" if close else ""
        self.problems.add(mark, f"expected {kind}{such}, got {quoted(name)}")
