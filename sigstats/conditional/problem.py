r"""Independent counts with a given sum, and a score of each outcome: the form of both exact conditional tests.

`sigstats.conditional.tail` sums the probabilities of the outcomes with a score of at most the observed one. This module
computes properties of a problem without listing outcomes: bounds of the scores of some columns, the approximate number
of open outcomes, which of two outcomes weighs more if floats cannot tell, and the rounding error of the sum.

A logarithm of a probability is Loader's: Stirling errors, and deviances ``x log(x / m) - x + m``, each computed with an
error of at most :math:`8 u |x - m| (1 + |\log(x / m)|)`, u being `ROUNDING`. With H the sum of an outcome's deviances,
which is at most the negative logarithm of its probability before the total is given, :math:`\sum |x - m| \le
2 \sqrt{N H} + 2 H` (Bernstein's inequality, inverted, and Cauchy and Schwarz's) and
:math:`\sum |x - m| |\log(x / m)| \le \sum |x - m| + 6.5 H \log N`. Outcomes of the tail weigh as much as they are
likely, and the mean of their negative logarithms is at most that of the tail plus the logarithm of their number. All
terms are positive, so that sums add one rounding for each addition.

When not to use: counts that depend on each other in another way than through their sum.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py

from .._common.extreme import ROUNDING, of_logarithm
from .._common.validation import FloatArray, IntArray
from .exact_keys import SMALL_TOTAL, Keys, Words

_LOG_2PI = math.log(2 * math.pi)
#: `_stirling_error` of 0 (unused) to 15, where its series is not accurate.
_STIRLING_ERROR = np.array(
    [0.0, *(math.lgamma(k + 1) - (k + 0.5) * math.log(k) + k - 0.5 * _LOG_2PI for k in range(1, 16))]
)


def binomial_log_pmf(n: int, p: float, x: IntArray, errors: FloatArray | None = None) -> FloatArray:
    """Return log-probabilities of a binomial, -inf outside 0 to n. `errors`: from `stirling_errors`, if known."""
    x = np.asarray(x)
    if n == 0:
        return np.where(x == 0, 0.0, -np.inf)
    out = np.full(x.shape, -np.inf)
    inside = (x > 0) & (x < n)
    k = x[inside]
    rest = n - k
    if errors is None:
        error_of_n, error_of_k, error_of_rest = (_stirling_error(np.asarray(value, float)) for value in ([n], k, rest))
    else:
        error_of_n, error_of_k, error_of_rest = (errors[value] for value in ([n], k, rest))
    out[inside] = (
        error_of_n
        - error_of_k
        - error_of_rest
        - 0.5 * poisson_deviance(k, n * p)
        - 0.5 * poisson_deviance(rest, n * (1 - p))
        + 0.5 * (np.log(n / k / rest) - _LOG_2PI)
    )
    out[x == 0] = n * math.log1p(-p)
    out[x == n] = n * math.log(p)
    return out


def poisson_log_pmf(mean: float, x: IntArray) -> FloatArray:
    """Return the logarithm of the Poisson probability of `x`, for a positive mean; minus infinity below 0."""
    x = np.asarray(x)
    out = np.full(x.shape, -np.inf)
    inside = x > 0
    k = x[inside].astype(np.float64)
    out[inside] = -_stirling_error(k) - 0.5 * poisson_deviance(k, mean) - 0.5 * (np.log(k) + _LOG_2PI)
    out[x == 0] = -mean
    return out


def stirling_errors(n: int) -> FloatArray:
    """Return the errors that `binomial_log_pmf` takes, for up to `n` trials.

    >>> binomial_log_pmf(9, 0.5, np.array([3]), stirling_errors(20)) == binomial_log_pmf(9, 0.5, np.array([3]))
    array([ True])
    """
    return np.concatenate([[0.0], _stirling_error(np.arange(1.0, n + 1))])


def _stirling_error(x: FloatArray) -> FloatArray:
    """log(x!) minus Stirling's formula for it, for whole x >= 1."""
    u = 1 / (x * x)
    out = (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / x
    small = np.flatnonzero(x < len(_STIRLING_ERROR))
    out[small] = _STIRLING_ERROR[x[small].astype(np.int64)]
    return np.asarray(out, dtype=np.float64)


def poisson_deviance(x: IntArray | FloatArray, mean: float | FloatArray) -> FloatArray:
    """Return the term of a count in the likelihood ratio: twice x log(x / mean) + mean - x.

    >>> poisson_deviance(np.array([0, 1, 2]), 1.0).round(6)
    array([2.      , 0.      , 0.772589])
    """
    d = np.maximum((x - np.asarray(mean)) / mean, -1.0)
    return np.asarray(2 * mean * (xlog1py(1 + d, d) - d), dtype=np.float64)


#: Smaller p-values are not told apart: near the smallest double, what is added up loses its digits and then vanishes.
SMALLEST = 1e-280
#: Roundings of a column's Stirling errors and logarithms, of the sums of a short list, and of a deviance.
_OF_A_COLUMN, _OF_A_LIST, _OF_A_DEVIANCE = 300, 200, 8


@dataclass(frozen=True)
class Problem:
    """Counts with a given sum; the probabilities of those with a score of at most the observed one are summed."""

    #: One for each column; they add up when columns are pooled.
    parameters: tuple[float, ...]
    #: ``log_mass(parameter, x)``: the logarithm of the probability of the counts `x`.
    log_mass: Callable[[float, IntArray], FloatArray]
    #: ``laws[j][x]``: `log_mass` of column j for x = 0 up to the largest count possible, at most the total.
    laws: tuple[FloatArray, ...]
    #: ``scores[j][x]`` for the same x; concave in x.
    scores: tuple[FloatArray, ...]
    #: The sum of the counts.
    total: int
    #: The observed score.
    threshold: float
    #: Scores that differ by no more are compared by their keys; 0 where the threshold includes a tolerance.
    margin: float
    #: The observed counts.
    observed: tuple[int, ...]
    #: Keys that merge partial outcomes and compare near ties.
    keys: Keys | None

    def masses(self, columns: Sequence[int]) -> FloatArray:
        """Return the log law of the sum of `columns`, for 0 to the total."""
        x = np.arange(self.total + 1)
        if not columns:
            return np.where(x == 0, 0.0, -np.inf)
        return self.log_mass(sum(self.parameters[j] for j in columns), x)

    @cached_property
    def norm(self) -> float:
        """The log probability of the sum of the counts."""
        return float(self.log_mass(sum(self.parameters), np.array([self.total]))[0])


def best_scores(problem: Problem, columns: Sequence[int]) -> FloatArray:
    """Return the largest score of `columns` for each sum 0 to total: concave, so the largest increments come first."""
    out = np.full(problem.total + 1, -np.inf)
    if not columns:
        out[0] = 0.0
        return out
    steps = np.concatenate([np.diff(problem.scores[j]) for j in columns])
    steps = -np.sort(-steps)[: problem.total]
    out[0] = sum(problem.scores[j][0] for j in columns)
    out[1 : len(steps) + 1] = out[0] + np.cumsum(steps)
    return out


def worst_scores(problem: Problem, columns: Sequence[int]) -> FloatArray:
    """Return a lower bound of the score of `columns` for each sum: a concave score lies above its chord."""
    out = np.full(problem.total + 1, np.inf)
    if len(columns) == 1:
        score = problem.scores[columns[0]]
        out[: len(score)] = score
        return out
    if not columns:
        out[0] = 0.0
        return out
    ends = [(len(s) - 1, float(s[0]), float(s[-1])) for s in (problem.scores[j] for j in columns)]
    slopes = np.array([(last - start) / size if size else 0.0 for size, start, last in ends])
    sizes = np.array([size for size, _, _ in ends])
    order = np.argsort(slopes)
    steps = np.repeat(slopes[order], sizes[order])[: problem.total]
    out[0] = sum(start for _, start, _ in ends)
    out[1 : len(steps) + 1] = out[0] + np.cumsum(steps)
    return out


def open_volume(problem: Problem, columns: Sequence[int], others: Sequence[int]) -> float:
    """Return a rough lower bound on the number of outcomes of `columns` that may still score more than was observed.

    They fill an ellipsoid. Columns with outcomes that merge, and columns at a border of the ellipsoid, are fixed at
    their means.
    """
    share = problem.total / sum(problem.parameters)
    means = [share * parameter for parameter in problem.parameters]
    height = sum(float(np.interp(m, np.arange(len(s)), s)) for m, s in zip(means, problem.scores, strict=True))
    reach = 2 * max(height - problem.threshold, 0.0)
    squares = []  # of the half-axes
    for mean, score in zip(means, problem.scores, strict=True):
        x = min(max(round(mean), 1), len(score) - 2)
        squares.append(reach / float(2 * score[x] - score[x - 1] - score[x + 1]) if len(score) > 2 else 0.0)
    free = list(columns)
    if problem.keys is not None and problem.keys.merging:
        large = [j for j in columns if len(problem.scores[j]) > SMALL_TOTAL + 1]
        free = list({problem.parameters[j]: j for j in large}.values())
    borders = [min(mean, len(score) - 1 - mean) / 2 for mean, score in zip(means, problem.scores, strict=True)]
    free = [j for j in free if 1 < squares[j] < borders[j] ** 2]
    log_ball = len(free) / 2 * math.log(math.pi) - math.lgamma(len(free) / 2 + 1)
    log_axes = sum(math.log(squares[j]) for j in free) / 2
    # The sum of all columns is given, so that only a slice of the ellipsoid counts.
    of_free, of_others = sum(squares[j] for j in free), sum(squares[j] for j in others)
    return math.exp(min(log_ball + log_axes - (math.log1p(of_free / of_others) / 2 if of_others else 0.0), 700.0))


def none_heavier(problem: Problem, outcomes: IntArray) -> NDArray[np.bool_]:
    """Return a mask of the outcomes (rows) with an exact weight of at most that of the observed outcome."""
    keys = keys_of(problem, np.vstack([problem.observed, outcomes]))
    distinct, which = np.unique(keys, axis=0, return_inverse=True)
    verdicts = np.array([no_heavier(problem, key, keys[0]) for key in distinct])
    return np.asarray(verdicts[which.ravel()][1:])


def keys_of(problem: Problem, outcomes: IntArray) -> Words:
    """Return the keys of whole outcomes (rows)."""
    if problem.keys is None:
        return np.zeros((len(outcomes), 0), dtype=np.uint64)
    tables = [problem.keys.table(j, x) for j, x in enumerate(outcomes.T)]
    return np.asarray(np.sum(tables, axis=0, dtype=np.uint64))


def no_heavier(problem: Problem, key: Words, observed: Words) -> bool:
    """Return True if the exact weight of a near tie is at most the observed outcome's."""
    keys = problem.keys
    if keys is None or keys.weight is None or (key == observed).all():
        return True
    return keys.weight(keys.packing.unpack(key)) <= keys.weight(keys.packing.unpack(observed))


@dataclass
class TailSum:
    """The probabilities that add up to a tail, and the lengths of the sums behind them, which bound the rounding."""

    terms: list[float] = field(default_factory=list)
    #: The most additions of probabilities for one term.
    additions: int = 0
    #: The most additions of logarithms of probabilities in one merge.
    merged: int = 0

    def record_additions(self, *lengths: int) -> None:
        """Record additions that follow each other."""
        self.additions = max(self.additions, sum(lengths))


def relative_error(problem: Problem, p: float, tail_sum: TailSum) -> float:
    """Return a bound on the relative error of the tail p; 1 if it is below `SMALLEST`."""
    if p < SMALLEST:
        return 1.0
    columns, total = len(problem.scores), sum(problem.parameters)
    likely = -math.log(p) + sum(math.log(len(score)) for score in problem.scores)
    surprise = likely + abs(problem.norm)
    away = 2 * math.sqrt(total * surprise) + 2 * surprise
    deviances = _OF_A_DEVIANCE * (2 * away + 6.5 * math.log(total + 2) * surprise)
    size = surprise + columns * math.log(2 * math.pi * (total + 1)) / 2  # of a partial sum of logarithms
    sums = (columns + 4) * size * (1 + tail_sum.merged) + tail_sum.additions + _OF_A_LIST
    return min(1.0, of_logarithm((deviances + (columns + 1) * _OF_A_COLUMN + sums) * ROUNDING))
