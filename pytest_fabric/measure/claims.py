"""What measurements need for themselves while they run, and who has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Claims:
    """Names of resources: held by one, shared by many, and budgets that have so many places.

    Ports and cores are held, a leaf's load is a budget; a measurement that wants the whole fabric
    holds what every other shares.
    """

    held: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    budgets: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Return every resource that is claimed."""
        return (*self.held, *self.shared, *self.budgets)


class Occupied:
    """Who has what right now; `places` says how many may share each budget."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self._places = places
        self._held: set[str] = set()
        self._shared: Counter[str] = Counter()
        self._spent: Counter[str] = Counter()

    def has(self, name: str) -> bool:
        """Return whether a resource that a task would hold is not to be had."""
        return name in self._held or bool(self._shared[name])

    def obstacle(self, claims: Claims) -> str | None:
        """Return the first resource that is not to be had, or None when all are."""
        for name in claims.held:
            if self.has(name):
                return name
        for name in claims.shared:
            if name in self._held:
                return name
        for name in claims.budgets:
            taken, wanted = self._spent[name], claims.budgets.count(name)
            # What wants more than there is at all goes alone.
            if taken and taken + wanted > self._places.get(name, 1):
                return name
        return None

    def take(self, claims: Claims) -> None:
        """Take what is claimed; it must be free."""
        assert self.obstacle(claims) is None, claims
        self._held.update(claims.held)
        self._shared.update(claims.shared)
        self._spent.update(claims.budgets)

    def free(self, claims: Claims) -> None:
        """Give back what was taken."""
        self._held.difference_update(claims.held)
        self._shared.subtract(claims.shared)
        self._spent.subtract(claims.budgets)
