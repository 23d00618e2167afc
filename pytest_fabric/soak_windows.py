"""The windows of a soak, one after another, and what tests read of all of them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from pytest_fabric import group_answers, grouping
from pytest_fabric.config import Cluster
from pytest_fabric.declare import FABRIC, soak_window
from pytest_fabric.errors import MeasurementError
from pytest_fabric.inventory import Inventory
from pytest_fabric.judge.soak import Asked, Soak
from pytest_fabric.measure.plan import Policy, Want
from pytest_fabric.pairs import soak as permutations
from pytest_fabric.policy import policy_of
from pytest_fabric.results import Measured, Pair, PairGroup
from pytest_fabric.soaking import asked_of
from pytest_fabric.sources import Source

#: So many windows without a value, one after another, end a soak: it would only wait.
GIVES_UP = 3

#: One that has no value is followed by another one; so many times the windows that were asked for.
MOST = 2

#: Failures after which nothing more may be measured.
LAST = frozenset({"pause_storm", "stopped", "timeout", "not_measured"})


class Windows:
    """Makes the windows of a soak, once, when the first test asks what they show."""

    def __init__(
        self,
        inventory: Inventory,
        asked: Asked,
        policy: Policy,
        source: Source | None = None,
        forget: Callable[[Want], None] = lambda want: None,
    ) -> None:
        self._inventory = inventory
        self._source = source
        self._forget = forget
        self._is_across = policy.load == "disruptive"
        self._asked = asked
        self._made: Soak | None = None

    def made(self, awaited: Callable[[Want, str], Measured]) -> Soak:
        """Return all windows; `awaited` waits for one, and is told in words which it is.

        Skips where the load of the run does not allow them. Raises MeasurementError.
        """
        if self._made is None:
            self._made = soak = Soak(
                self._asked, rates_of(self._inventory.cluster, self._is_across)
            )
            self._make(soak, awaited)
        return self._made

    def _make(self, soak: Soak, awaited: Callable[[Want, str], Measured]) -> None:
        in_vain, begun = 0, time.time()
        for number in range(1, MOST * self._asked.windows + 1):
            if soak.windows >= self._asked.windows:
                return
            want = self.window(number)
            if want is None:
                soak.missing.append("no port has another one to send to")
                return
            refusal = self._source.refusal(want) if self._source else None
            if refusal is not None:
                self._made = None
                pytest.skip(refusal)
            told = f"soak: window {soak.windows + 1:,} of {self._asked.windows:,}"
            try:
                record = awaited(want, told).record
            except MeasurementError as error:
                soak.missing.append(f"window {number}: {error}")
                return
            self._forget(want)
            soak.add(record)
            if record.started < begun:
                continue  # taken over, with its value or without
            in_vain = in_vain + 1 if record.error or record.doubts else 0
            kind = record.error.kind if record.error else ""
            if kind in LAST or in_vain >= GIVES_UP:
                return

    def window(self, number: int) -> Want | None:
        """Return what a window measures, None where no two ports can talk to each other."""
        cluster = self._inventory.cluster
        ports = grouping.ports_of(self._inventory, self._inventory.ports)
        pairs = permutations.window(
            ports.rails,
            ports.leaves,
            ports.seed,
            number,
            self._is_across,
            cluster.fabric.pairs_per_leaf,
        )
        declaration = soak_window(number, self._asked.window_s, self._is_across)
        return Want(declaration, PairGroup(FABRIC, tuple(pairs))) if pairs else None


def windows_of(
    config: pytest.Config, inventory: Inventory, source: Source, forget: Callable[[Want], None]
) -> Windows | None:
    """Return what makes the windows of a run, None where no soak was asked for."""
    asked = asked_of(config)
    if asked is None:
        return None
    return Windows(inventory, asked, policy_of(config, inventory), source, forget)


def rates_of(cluster: Cluster, is_across: bool) -> Callable[[str], float | None]:
    """Return what tells the payload rate of a pair, over the oversubscription of its way."""
    over = cluster.fabric.oversubscription if is_across else 1.0

    def rate(text: str) -> float | None:
        pair = Pair.parse(text)
        found = group_answers.rates(cluster, PairGroup(FABRIC, (pair,))).get(text)
        return None if found is None else found / over

    return rate


def lines_of(asked: Asked, policy: Policy, inventory: Inventory) -> list[str]:
    """Return what a plan says of a soak."""
    windows = Windows(inventory, asked, policy)
    want = windows.window(1)
    count = len(want.target.pairs) if want and isinstance(want.target, PairGroup) else 0
    kind = "all ports" if policy.load == "disruptive" else "the ports of each leaf"
    return [
        f"soak        {asked.windows:,} windows of {asked.window_s:g} s, each a permutation of "
        f"{kind}: {count:,} pairs at once; {asked.seconds / 3600:.3g} h of load"
    ]
