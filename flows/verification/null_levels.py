"""P-values drawn where the null hypothesis holds, held against what a p-value promises: P(p <= a) <= a.

Only tests that promise it at any sample size are drawn. What is approximate (mid-p, chi-square, the bootstrap, DeLong's
test, Student's t of scores that are not normal) is judged by calibration studies.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.stats import binom

import sigstats
from sigstats._common.extras import MissingExtra

#: The levels at which the rate of rejections is shown.
LEVELS = (0.001, 0.01, 0.05, 0.1, 0.5)
#: The odds of a false alarm, over all tests and levels.
FALSE_ALARM = 1e-6


@dataclass(frozen=True)
class NullLevels:
    """How often a test rejected where nothing is to be found."""

    test: str
    #: How many p-values were drawn.
    drawn: int
    #: How many were at most each of `LEVELS`.
    rejected: tuple[int, ...]
    #: The least probability, over the levels, of that many or more rejections if P(p <= a) = a.
    odds: float
    #: Why nothing was drawn: an extra that is not installed, and the command that installs it.
    missing: str = ""


def _labels(rng: Generator, n: int) -> np.ndarray:
    return rng.choice(3, size=n, p=np.arange(1, 4) / 6)


def _mcnemar(rng: Generator) -> float:
    discordant = int(rng.binomial(60, 0.4))
    only_a = int(rng.binomial(discordant, 0.5))
    return sigstats.mcnemar_test(only_a, discordant - only_a).pvalue


def _efficiency(rng: Generator, **how: Any) -> float:
    table = np.zeros((3, 3), dtype=int)
    np.add.at(table, (_labels(rng, 40), _labels(rng, 40)), 1)
    return sigstats.efficiency_test(table, rng=rng, **how).pvalue


def _homogeneity(rng: Generator) -> float:
    first, second = (np.bincount(_labels(rng, n), minlength=3) for n in (25, 35))
    return sigstats.homogeneity_test(first, second).pvalue


def _sign_flips(rng: Generator) -> float:
    """Items of one to four answers: two models that answer alike, but for chance."""
    answers = rng.integers(1, 5, size=40)
    ability = rng.random(40)
    return sigstats.sign_flip_test(rng.binomial(answers, ability) - rng.binomial(answers, ability)).pvalue


def _stratified(rng: Generator) -> float:
    n = np.array([30, 50, 80])
    discordant = rng.binomial(n, 0.3)
    only_a = rng.binomial(discordant, 0.5)
    return sigstats.stratified_paired_test(only_a, discordant - only_a, n).pvalue


def _anytime(rng: Generator) -> float:
    """Twelve looks at rows of which A alone, or B alone, is right in one of four."""
    differences = rng.choice([-1, 0, 0, 0, 0, 0, 0, 1], size=240)
    return sigstats.anytime_test(differences, looks=np.arange(240) // 20).pvalue


def _fuzzy(rng: Generator, n: int) -> np.ndarray:
    """Objects of which some may be of one more class than the one that was drawn."""
    weights: np.ndarray = np.eye(3)[_labels(rng, n)]
    unsure = rng.choice(n, size=3, replace=False)
    weights[unsure, rng.integers(3, size=3)] = 1
    return weights


def _permutation(rng: Generator) -> float:
    """Features that say nothing of the labels, and a learner that is retrained."""
    X, y = rng.normal(size=(24, 2)), np.repeat([0, 1], 12)
    return sigstats.permutation_test("1-nn", X, y, n_resamples=19, cv=3, rng=rng).pvalue


def _sequential(rule: "sigstats.GandyRule | sigstats.BesagCliffordRule", rng: Generator) -> float:
    """Replicates beside an observation whose rank among endless ones is uniform."""
    ended = rule.test(rng.random(rule.maximum) < rng.random())
    assert ended is not None, "the rule ends at its maximum"
    return ended.pvalue


#: The tests, what is drawn for each, and how often.
DRAWS: dict[str, tuple[Callable[[Generator], float], int]] = {
    "mcnemar_test": (_mcnemar, 4000),
    "efficiency_test, exact": (partial(_efficiency, method="exact"), 2000),
    "efficiency_test, Monte-Carlo": (partial(_efficiency, method="monte-carlo", n_resamples=199), 1000),
    "homogeneity_test": (_homogeneity, 2000),
    "goodness_of_fit_test": (
        lambda rng: sigstats.goodness_of_fit_test(rng.multinomial(30, [0.2, 0.3, 0.5]), [0.2, 0.3, 0.5]).pvalue,
        2000,
    ),
    "sign_flip_test": (_sign_flips, 1000),
    "signed_rank_test": (lambda rng: sigstats.signed_rank_test(rng.integers(-5, 6, size=15)).pvalue, 2000),
    "stratified_paired_test": (_stratified, 1000),
    "friedman_test, exact": (
        lambda rng: sigstats.friedman_test(rng.integers(0, 6, size=(5, 3)), method="exact").pvalue,
        1000,
    ),
    # Of models that are equally good, the least level at which any is called better than another.
    "rank_sets": (lambda rng: float(sigstats.rank_sets(rng.random((50, 3)) < 0.6).adjusted_pvalues.min()), 1000),
    "fuzzy.efficiency_test": (
        lambda rng: sigstats.fuzzy.efficiency_test(_fuzzy(rng, 20), _fuzzy(rng, 20)).high[-1],
        300,
    ),
    "fuzzy.goodness_of_fit_test": (
        lambda rng: sigstats.fuzzy.goodness_of_fit_test(_fuzzy(rng, 20), np.arange(1, 4) / 6).high[-1],
        300,
    ),
    "fuzzy.homogeneity_test": (
        lambda rng: sigstats.fuzzy.homogeneity_test(_fuzzy(rng, 12), _fuzzy(rng, 18)).high[-1],
        150,
    ),
    "permutation_test": (_permutation, 500),
    "anytime_test": (_anytime, 1000),
    "GandyRule": (partial(_sequential, sigstats.GandyRule(alpha=0.05, maximum=199)), 2000),
    "BesagCliffordRule": (partial(_sequential, sigstats.BesagCliffordRule(maximum=199, exceedances=10)), 2000),
}


def null_levels(seed: int = 0) -> list[NullLevels]:
    """Draw the p-values of every test whose extra is installed.

    >>> rejections("a test", [0.001] * 30 + [0.9] * 970).odds < 1e-20
    True
    """
    found = []
    for index, (test, (draw, count)) in enumerate(DRAWS.items()):
        rng = np.random.default_rng([seed, index])
        try:
            found.append(rejections(test, [draw(rng) for _ in range(count)]))
        except MissingExtra as missing:
            found.append(NullLevels(test, 0, (0,) * len(LEVELS), 1.0, str(missing)))
    return found


def rejections(test: str, pvalues: list[float]) -> NullLevels:
    """Count the rejections at each level, with the odds of as many or more."""
    drawn = np.asarray(pvalues)
    counts = tuple(int((drawn <= level).sum()) for level in LEVELS)
    odds = min(float(binom.sf(count - 1, drawn.size, level)) for count, level in zip(counts, LEVELS, strict=True))
    return NullLevels(test, drawn.size, counts, odds)


def alarm(each: NullLevels) -> bool:
    """True if a test rejects too often: the odds of a false alarm are `FALSE_ALARM` over all tests and levels."""
    return each.odds < FALSE_ALARM / (len(DRAWS) * len(LEVELS))
