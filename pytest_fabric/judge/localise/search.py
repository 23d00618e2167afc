"""The fewest and likeliest broken places that explain what failed and what passed.

The model is a noisy OR: a pair passes unless something broken that it uses spoils it, each with its
own chance, or something that nobody thought of does (`LEAK`):

    P(pass | broken) = (1 - LEAK) x product over broken c that the pair uses of (1 - shows(c))

Pearl, "Probabilistic Reasoning in Intelligent Systems" (1988), has the noisy OR; Shrink (MineNet
2005), SCORE (NSDI 2005) and Sherlock (SIGCOMM 2007) find network faults with it. The set is found
greedily, each step by the most of log likelihood and log prior, and then improved by exchange: what
one place explains, another one need not. A fault may show in some checks and not in others, so each
check counts for a place only where it speaks for it.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_fabric.judge.localise.candidates import Candidate
from pytest_fabric.judge.localise.seen import Seen

#: The chance that a pair fails for no reason that any candidate stands for.
LEAK = 1e-4

#: A failure that something explains needs no second explanation: its log chance is at most this.
EXPLAINED = math.log(0.95)

#: More faults than this at the same time are not told apart.
MOST = 48

#: Kinds that no set of smaller places stands for.
NARROW = ("port", "tx", "rx", "pair")

#: Rounds of exchange; each improves the set or ends the search.
ROUNDS = 4

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """A place of the set: the checks it shows in, and the chances of all that could stand for it.

    `instead` maps candidates to their chances, which together with that of nobody make 1.
    """

    candidate: Candidate
    checks: frozenset[int]
    instead: Mapping[Candidate, float]


class Search:
    """The state of one search: what is seen, and the log chance of each to pass."""

    def __init__(
        self,
        seen: Sequence[Seen],
        uses: Mapping[Candidate, Sequence[int]],
        odds: Mapping[Candidate, float],
    ) -> None:
        names = {name: number for number, name in enumerate(dict.fromkeys(s.check for s in seen))}
        self._uses = {c: np.array(numbers, dtype=np.intp) for c, numbers in uses.items()}
        self._odds = odds
        self._checks = len(names)
        self._check = np.array([names[one.check] for one in seen], dtype=np.intp)
        self._failed = np.array([one.failed for one in seen], dtype=bool)
        self._counts = np.array([1.0 if s.failed else s.counts for s in seen])
        self._passes = np.full(len(seen), math.log1p(-LEAK))
        self._chosen: dict[Candidate, frozenset[int]] = {}
        self._known: dict[Candidate, tuple[float, frozenset[int]]] = {}
        self._users: dict[int, list[Candidate]] = defaultdict(list)
        # What others explain only makes a place less needed: one that gains nothing never will.
        self._uses = {c: n for c, n in self._uses.items() if self._gain(c)[0] > 0}
        self._bad = {c: frozenset(n[self._failed[n]].tolist()) for c, n in self._uses.items()}
        for candidate, numbers in self._uses.items():
            for number in numbers.tolist():
                self._users[number].append(candidate)

    def run(self) -> list[Choice]:
        """Return the set, each place with what could stand for it."""
        self._grow()
        for _ in range(ROUNDS):
            has_changed = self._exchange()
            self._grow()
            if not self._regrow() and not has_changed:
                break
        return [self._choice(candidate) for candidate in tuple(self._chosen)]

    def _grow(self, below: float = math.inf) -> None:
        """Add the best place that fewer checks use, as long as one makes the whole likelier.

        Adding one place never makes another more needed, so that only the best known one must be
        looked at again (lazy greedy: Minoux, 1978).
        """
        left = [c for c, n in self._uses.items() if c not in self._chosen and len(n) < below]
        heap = [(-self._gain(c)[0], len(self._uses[c]), c) for c in left]
        heapq.heapify(heap)
        while heap and len(self._chosen) < MOST:
            _, size, best = heapq.heappop(heap)
            gain, checks = self._gain(best)
            if heap and -gain > heap[0][0]:
                heapq.heappush(heap, (-gain, size, best))
            elif gain > 0:
                self._put(best, checks)
            else:
                return

    def _exchange(self) -> bool:
        """Replace places by likelier ones, or drop them; return whether anything has changed."""
        before = dict(self._chosen)
        for candidate in before:
            self._take(candidate)
            scores = {c: self._gain(c) for c in self._near(candidate)}
            best = max(scores, key=lambda c: (scores[c][0], c == candidate))
            if scores[best][0] > 0:
                self._put(best, scores[best][1])
        return self._chosen.keys() != before.keys()

    def _regrow(self) -> bool:
        """Explain without each wide place: several small ones may do better; return whether so."""
        before = dict(self._chosen)
        for wide in [c for c in before if c.kind not in NARROW]:
            kept, score = dict(self._chosen), self._score()
            self._take(wide)
            self._grow(len(self._uses[wide]))
            if self._score() <= score + 1e-9:
                self._restore(kept)
        return self._chosen.keys() != before.keys()

    def _restore(self, chosen: Mapping[Candidate, frozenset[int]]) -> None:
        for candidate in tuple(self._chosen):
            self._take(candidate)
        for candidate, checks in chosen.items():
            self._put(candidate, checks)

    def _score(self) -> float:
        """Return log likelihood and log odds of the set."""
        seen = float((_chance(self._passes, self._failed) * self._counts).sum())
        return seen + sum(self._odds[candidate] for candidate in self._chosen)

    def _choice(self, candidate: Candidate) -> Choice:
        """Return a place with the chances of all that could stand for it, the others as chosen."""
        checks = self._chosen[candidate]
        self._take(candidate)
        scores = {c: self._gain(c)[0] for c in self._near(candidate)}
        self._put(candidate, checks)
        most = max(scores.values())
        weights = {c: math.exp(score - most) for c, score in scores.items()}
        whole = sum(weights.values()) + math.exp(-most)  # the last one stands for nobody
        return Choice(candidate, checks, {c: weight / whole for c, weight in weights.items()})

    def _near(self, candidate: Candidate) -> list[Candidate]:
        """Return what uses a failed check of a place, and is in the set only as itself."""
        mine = self._bad[candidate]
        return [c for c, bad in self._bad.items() if c not in self._chosen and bad & mine]

    def _gain(self, candidate: Candidate) -> tuple[float, frozenset[int]]:
        """Return by how much a place makes the whole likelier, and the checks it shows in."""
        if candidate not in self._known:
            self._known[candidate] = self._reckoned(candidate)
        return self._known[candidate]

    def _reckoned(self, candidate: Candidate) -> tuple[float, frozenset[int]]:
        numbers = self._uses[candidate]
        before = self._passes[numbers]
        after = before + math.log1p(-candidate.shows)
        counts, failed = self._counts[numbers], self._failed[numbers]
        gain = (_chance(after, failed) - _chance(before, failed)) * counts
        by_check = np.bincount(self._check[numbers], weights=gain, minlength=self._checks)
        shows = frozenset(np.flatnonzero(by_check > 0).tolist())
        return self._odds[candidate] + float(by_check[by_check > 0].sum()), shows

    def _put(self, candidate: Candidate, checks: frozenset[int]) -> None:
        self._chosen[candidate] = checks
        self._change(candidate, checks, math.log1p(-candidate.shows))

    def _take(self, candidate: Candidate) -> None:
        checks = self._chosen.pop(candidate)
        self._change(candidate, checks, -math.log1p(-candidate.shows))

    def _change(self, candidate: Candidate, checks: frozenset[int], by: float) -> None:
        """Change the log chance to pass of what a place shows in; gains that rest on it are old."""
        shown = self._shown(candidate, checks)
        self._passes[shown] += by
        for old in {user for number in shown.tolist() for user in self._users[number]}:
            self._known.pop(old, None)

    def _shown(self, candidate: Candidate, checks: frozenset[int]) -> npt.NDArray[np.intp]:
        numbers = self._uses[candidate]
        return numbers[np.isin(self._check[numbers], list(checks))]

    def explained(self, candidate: Candidate, checks: frozenset[int]) -> list[int]:
        """Return the numbers of the failed checks that a place of the set explains."""
        shown = self._shown(candidate, checks)
        return [int(number) for number in shown[self._failed[shown]]]

    def cleared(self, candidate: Candidate, checks: frozenset[int]) -> list[int]:
        """Return the numbers of the checks that use a place it shows in, and passed."""
        shown = self._shown(candidate, checks)
        return [int(number) for number in shown[~self._failed[shown]]]


def _chance(passes: Floats, failed: npt.NDArray[np.bool_]) -> Floats:
    """Return the log chance of what was seen, from the log chance to pass."""
    fails = np.log(-np.expm1(np.minimum(passes, -1e-12)))
    return np.where(failed, np.minimum(fails, EXPLAINED), passes)
