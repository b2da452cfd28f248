"""Votes between models of known strengths, and tests of whether false or true preferences are reported.

The log odds that a model wins against another are the difference between their strengths. Each voter and each item may
add a random effect to the strength of each model, so that the votes of one voter, or on one item, are dependent.
Dissenters nearly always vote for the later of two models; others prefer the earlier just enough to make both equal.
"""

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

from sigstats.ranking.votes import VoteRanking, rank_votes

from ..work import AppliedTest, Described
from .tests import Answers, call_each

#: Units within which the votes of a method depend on each other.
_METHODS: Mapping[str, tuple[str, ...]] = {
    "votes": (),
    "voters": ("groups",),
    "voters-and-items": ("groups", "items"),
    "overlap": (),
}
#: The probability that a dissenter votes for the earlier of two models.
_FOR_EARLIER = 0.05


class Ballots(NamedTuple):
    """A test set of votes, with two models, a winner (1: first, -1: second, 0: tie), a voter and an item per vote."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    winner: NDArray[np.int64]
    voter: NDArray[np.int64]
    item: NDArray[np.int64]


def _of_overlap(ranking: VoteRanking) -> NDArray[np.float64]:
    """Return, for each pair of scores, one minus the confidence level at which their intervals begin to overlap."""
    scores = np.array(ranking.scores)
    half = (np.array(ranking.score_high) - scores) / float(ndtri((1 + ranking.confidence_level) / 2))
    apart = (scores[:, np.newaxis] - scores) / (half[:, np.newaxis] + half)
    return np.asarray(np.where(np.isnan(apart), 1.0, np.minimum(1.0, 2 * ndtr(-apart))))


class Votes(Described):
    """A population of votes between two models."""

    TEST: ClassVar[str] = "votes"
    UNIT: ClassVar[str] = "vote"
    ABOUT: ClassVar[str] = "which models are preferred to which"

    #: The strength of each model, in log odds.
    strengths: tuple[float, ...]
    voters: int
    items: int
    #: Standard deviations of the effects of a voter and of an item on the strength of each model.
    voter_sd: float = 0.0
    item_sd: float = 0.0
    #: The share of ties.
    ties: float = 0.0
    #: Share of voters who nearly always prefer the later of two models.
    dissenters: float = 0.0

    def fits(self, test: AppliedTest) -> bool:
        """Return True if there are preferences of the kind that the test looks for, false or true."""
        return test.options["preference"] == "false" or len(set(self.strengths)) > 1

    def null_holds(self, test: AppliedTest) -> bool:
        """Return True if a test looks for false preferences."""
        return bool(test.options["preference"] == "false")

    def sample(self, n: int, rng: np.random.Generator) -> Ballots:
        """Draw n votes."""
        strengths = np.array(self.strengths)
        k = len(strengths)
        first = rng.integers(k, size=n)
        second = (first + rng.integers(1, k, size=n)) % k
        voter, item = rng.integers(self.voters, size=n), rng.integers(self.items, size=n)
        of_voters = strengths + self.voter_sd * rng.standard_normal((self.voters, k))
        of_items = self.item_sd * rng.standard_normal((self.items, k))
        odds = of_voters[voter, first] - of_voters[voter, second] + of_items[item, first] - of_items[item, second]
        if share := self.dissenters:
            others = (0.5 - share * _FOR_EARLIER) / (1 - share)
            earlier = np.where(rng.random(self.voters) < share, logit(_FOR_EARLIER), logit(others))[voter]
            odds += np.where(first < second, earlier, -earlier)
        won = np.where(rng.random(n) < expit(odds), 1, -1)
        return Ballots(first, second, np.where(rng.random(n) < self.ties, 0, won), voter, item)

    def run_test(self, test: AppliedTest, sets: Iterable[Ballots], rng: np.random.Generator) -> Answers:  # noqa: ARG002
        """Return the p-values of all test sets. They are NaN if no votes connect the models."""
        items, problem = call_each(partial(self.pvalue, test, votes) for votes in sets)
        return Answers(np.array(items, np.float64), problem=problem)

    def pvalue(self, test: AppliedTest, votes: Ballots) -> float:
        """Return the smallest adjusted p-value of a false (or true) preference.

        The only true preferences that count are for the strongest model over the next strongest.
        """
        options = test.options
        names = np.array([f"{number:03d}" for number in range(len(self.strengths))])
        units: dict[str, Any] = {"groups": votes.voter, "items": votes.item}
        ranking = rank_votes(
            names[votes.first],
            names[votes.second],
            np.array(["model_b", "tie", "model_a"])[votes.winner + 1],
            **{name: units[name] for name in _METHODS[options["method"]]},
        )
        place = np.array([int(name) for name in ranking.models])
        strengths = np.array(self.strengths)[place]
        stronger = strengths[:, np.newaxis] > strengths
        if options["preference"] == "true":
            next_one = max((strength for strength in strengths if strength < strengths.max()), default=-math.inf)
            asked = stronger & (strengths[:, np.newaxis] == strengths.max()) & (strengths == next_one)
        else:
            asked = ~stronger & ~np.eye(len(strengths), dtype=np.bool_)
        values = _of_overlap(ranking) if options["method"] == "overlap" else ranking.adjusted_pvalues
        return float(values[asked].min(initial=1.0))

    def rows_of(self, votes: Ballots) -> dict[str, Any]:
        """Return the votes of one test set, in the form that `sigstats rank` reads."""
        words = np.array(["model_b", "tie", "model_a"])[votes.winner + 1]
        return {
            "model_a": votes.first + 1,
            "model_b": votes.second + 1,
            "winner": words,
            "voter": votes.voter,
            "item": votes.item,
        }
