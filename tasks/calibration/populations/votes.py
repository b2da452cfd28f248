"""Votes between models of known strengths, and whether a preference is shown that is false, or one that is true.

A model wins against another with log odds equal to the difference of their strengths. A voter, and an item, may add a
random effect to the strength of each model, so that the votes of one voter, or on one item, are dependent. Dissenters
nearly always vote for the later model, and the other voters prefer the earlier one just enough to make both equal.
"""

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

from sigstats.ranking.votes import VoteRanking, rank_votes

from ..work import AppliedTest
from ..work import Votes as Population
from .tests import Answers, attempts

#: The test that is applied to its test sets.
TEST = "votes"
#: What votes of a method depend on each other by.
_METHODS: Mapping[str, tuple[str, ...]] = {
    "votes": (),
    "voters": ("groups",),
    "voters-and-items": ("groups", "items"),
    "overlap": (),
}
#: How often a dissenter votes for the earlier of two models.
_FOR_EARLIER = 0.05


class Votes(NamedTuple):
    """A test set: of each vote the two models, who won (1, -1 or 0 for the first, the second, neither), by whom."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    winner: NDArray[np.int64]
    voter: NDArray[np.int64]
    item: NDArray[np.int64]


def fits(population: Population, test: AppliedTest) -> bool:
    """True if there are preferences, false or true, that a test may show."""
    return test.options["preference"] == "false" or len(set(population.strengths)) > 1


def null_holds(population: Population, test: AppliedTest) -> bool:  # noqa: ARG001
    """True if a test asks for preferences that are false."""
    return bool(test.options["preference"] == "false")


def draw(population: Population, n: int, rng: np.random.Generator, size: int) -> list[Votes]:
    """Draw test sets of n votes."""
    return [_sample(population, n, rng) for _ in range(size)]


def _sample(population: Population, n: int, rng: np.random.Generator) -> Votes:
    strengths = np.array(population.strengths)
    k = len(strengths)
    first = rng.integers(k, size=n)
    second = (first + rng.integers(1, k, size=n)) % k
    voter, item = rng.integers(population.voters, size=n), rng.integers(population.items, size=n)
    of_voters = strengths + population.voter_sd * rng.standard_normal((population.voters, k))
    of_items = population.item_sd * rng.standard_normal((population.items, k))
    odds = of_voters[voter, first] - of_voters[voter, second] + of_items[item, first] - of_items[item, second]
    if share := population.dissenters:
        others = (0.5 - share * _FOR_EARLIER) / (1 - share)
        earlier = np.where(rng.random(population.voters) < share, logit(_FOR_EARLIER), logit(others))[voter]
        odds += np.where(first < second, earlier, -earlier)
    won = np.where(rng.random(n) < expit(odds), 1, -1)
    return Votes(first, second, np.where(rng.random(n) < population.ties, 0, won), voter, item)


def run_test(population: Population, test: AppliedTest, sets: Iterable[Votes], rng: np.random.Generator) -> Answers:  # noqa: ARG001
    """The p-values of all test sets; NaN if no votes connect the models."""
    items, problem = attempts(partial(pvalue, population, test, votes) for votes in sets)
    return Answers(np.array(items, np.float64), problem=problem)


def pvalue(population: Population, test: AppliedTest, votes: Votes) -> float:
    """The adjusted p-value of the preference, false or true, that is nearest to be shown.

    Of true ones only those to the next model count.
    """
    options = test.options
    names = np.array([f"{number:03d}" for number in range(len(population.strengths))])
    units: dict[str, Any] = {"groups": votes.voter, "items": votes.item}
    ranking = rank_votes(
        names[votes.first],
        names[votes.second],
        np.array(["model_b", "tie", "model_a"])[votes.winner + 1],
        **{name: units[name] for name in _METHODS[options["method"]]},
    )
    place = np.array([int(name) for name in ranking.models])
    strengths = np.array(population.strengths)[place]
    stronger = strengths[:, np.newaxis] > strengths
    if options["preference"] == "true":
        next_one = max((strength for strength in strengths if strength < strengths.max()), default=-math.inf)
        asked = stronger & (strengths[:, np.newaxis] == strengths.max()) & (strengths == next_one)
    else:
        asked = ~stronger & ~np.eye(len(strengths), dtype=np.bool_)
    values = _of_overlap(ranking) if options["method"] == "overlap" else ranking.adjusted_pvalues
    return float(values[asked].min(initial=1.0))


def _of_overlap(ranking: VoteRanking) -> NDArray[np.float64]:
    """One minus the confidence at which the intervals of two scores begin to overlap, as in leaderboards."""
    scores = np.array(ranking.scores)
    half = (np.array(ranking.score_high) - scores) / float(ndtri((1 + ranking.confidence_level) / 2))
    apart = (scores[:, np.newaxis] - scores) / (half[:, np.newaxis] + half)
    return np.asarray(np.where(np.isnan(apart), 1.0, np.minimum(1.0, 2 * ndtr(-apart))))


def rows_of(population: Population, votes: Votes) -> dict[str, Any]:  # noqa: ARG001
    """The votes of one test set, in the form that `sigstats rank` reads."""
    words = np.array(["model_b", "tie", "model_a"])[votes.winner + 1]
    return {
        "model_a": votes.first + 1,
        "model_b": votes.second + 1,
        "winner": words,
        "voter": votes.voter,
        "item": votes.item,
    }
