"""Test sets drawn from a population that is known through the counts of its distinct joint outcomes, and their power.

The counts of outcomes in a test set drawn without replacement are multivariate hypergeometric. So the counts are
drawn, never the rows, and a draw costs the same from a thousand rows as from 10**12 (the subsamples of Keller,
Mariethoz and Bengio, section 5, who draw rows).

When not to use: for a statistic that needs more than the outcome of a row (scores, groups); to resample the test set
itself, with replacement (`sigstats.bootstrap.replicates`).
"""

import math
from typing import Any

import numpy as np

from ._common.random_streams import MAX_RESAMPLES, as_generator
from ._common.validation import (
    Alternative,
    FloatArray,
    IntArray,
    as_count,
    as_counts,
    as_flag,
    as_probabilities,
    as_reals,
    refuse,
)
from .mcnemar.mcnemar_test import McNemarMethod
from .mcnemar.power import as_rule, conditional_power, critical_counts

#: From this total on NumPy refuses to draw.
_NUMPY_TOTAL = 10**9
#: Minus the logarithm of what a tabulated law leaves out on either side, at most: less than a step of a uniform number.
_REMAINDER = 37.0
#: The number of probabilities that are tabulated at once.
_BLOCK = 2**20
#: The most rows that are drawn or left out for a power; the sum grows with their number.
_MOST_DRAWN = 10**7
#: The largest sample from a population beyond NumPy's: its laws are tabulated over 10**6 values.
_MAX_LARGE_SAMPLE = 10**10


def draw_subsamples(counts: Any, n: int, *, rng: Any = None, size: int) -> IntArray:
    """Draw `size` test sets of `n` rows without replacement, as counts of outcomes, (size, J), or raise ValueError.

    Draws come in a fixed order: fewer from a generator in the same state are the first of more. `counts`, (J,): how
    many rows of the population have each outcome, at most 2**53 in all; of 10**9 or more at most 10**10 are drawn.

    Up to 10**9 rows NumPy draws. Beyond, each outcome in turn, the commonest first, is drawn from its hypergeometric
    law given those before it, by inversion of its distribution function; that is tabulated from ratios of successive
    probabilities, which are exact to rounding for every population, over all values but those that together have
    probability 2e-16 (Bernstein's inequality, which holds without replacement too: Hoeffding 1963, theorem 4).
    """
    rows = as_counts(counts, "counts", ndim=1)
    total = int(rows.sum())
    drawn = as_count(n, "n")
    if drawn > total:
        raise refuse("n", n, f"at most {total}, the rows of the population")
    wanted = as_count(size, "size", maximum=MAX_RESAMPLES // rows.size)
    generator = as_generator(rng)
    if total < _NUMPY_TOTAL:
        return generator.multivariate_hypergeometric(rows, drawn, size=wanted, method="marginals")
    fewer = min(drawn, total - drawn)
    if fewer > _MAX_LARGE_SAMPLE:
        raise refuse("n", n, f"at most {_MAX_LARGE_SAMPLE} of {total} rows, or all but at most {_MAX_LARGE_SAMPLE}")
    taken = _draw_large(rows, fewer, generator, wanted)
    return taken if fewer == drawn else rows - taken


def draw_samples(probabilities: Any, n: int, *, rng: Any = None, size: int) -> IntArray:
    """Draw test sets from an infinite population with these probabilities (`draw_subsamples`: a finite one)."""
    chances = as_probabilities(probabilities, "probabilities")
    drawn = as_count(n, "n")
    wanted = as_count(size, "size", maximum=MAX_RESAMPLES // chances.size)
    # NumPy gives the last outcome what is left: let that be one which can occur.
    order = np.argsort(chances, kind="stable")
    samples = np.empty((wanted, chances.size), dtype=np.int64)
    samples[:, order] = as_generator(rng).multinomial(drawn, chances[order] / chances.sum(), size=wanted)
    return samples


def hypergeometric_tables(total: int, marked: int, drawn: Any) -> tuple[IntArray, FloatArray]:
    """Return the distributions of the marked rows among `drawn`, (m,), if `marked` of `total` are marked.

    The smallest value that each law's table has, (m,), and the probabilities of that, the next one and so on, (m, w); 0
    where a value is impossible. Each row sums to 1.
    """
    n = as_reals(drawn, "drawn", ndim=1)
    mean = n * (marked / total)
    # The variance with replacement, with the rows drawn and the rows marked in either role; both are bounds.
    variance = np.minimum(mean * (1 - marked / total), mean * (1 - n / total))
    reach = _REMAINDER / 3 + np.sqrt(_REMAINDER**2 / 9 + 2 * _REMAINDER * variance)
    low = np.maximum(np.maximum(0, n - (total - marked)), np.floor(mean - reach))
    high = np.minimum(np.minimum(marked, n), np.ceil(mean + reach))
    width = int((high - low).max()) + 1
    k = low[:, None] + np.arange(width - 1)
    # P(k + 1) / P(k); every factor is a whole number below 2**53.
    up = (marked - k) * (n[:, None] - k)
    down = (k + 1) * (total - marked - n[:, None] + k + 1)
    logs = np.zeros((n.size, width))
    with np.errstate(divide="ignore"):
        np.log(np.maximum(up, 0) / down, out=logs[:, 1:])
    np.cumsum(logs, axis=1, out=logs)
    logs[np.arange(width) > (high - low)[:, None]] = -math.inf
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return low.astype(np.int64), weights / weights.sum(axis=1, keepdims=True)


def _draw_large(counts: IntArray, n: int, generator: np.random.Generator, size: int) -> IntArray:
    uniform = generator.random((size, counts.size - 1))  # by test set, so that fewer are the first of more
    order = np.argsort(-counts, kind="stable")
    samples = np.zeros((size, counts.size), dtype=np.int64)
    left, rows = np.full(size, n, dtype=np.int64), int(counts.sum())
    for step, outcome in enumerate(order[:-1]):
        marked = int(counts[outcome])
        if marked:
            samples[:, outcome] = _invert(rows, marked, left, uniform[:, step])
            left = left - samples[:, outcome]
            rows -= marked
    samples[:, order[-1]] = left
    return samples


def _invert(total: int, marked: int, drawn: IntArray, uniform: FloatArray) -> IntArray:
    """Return the quantile of each hypergeometric law at its uniform number."""
    if marked == total:
        return drawn
    values = np.empty(drawn.size, dtype=np.int64)
    p = marked / total
    widest = 2 * (_REMAINDER + math.sqrt(2 * _REMAINDER * drawn.max(initial=0) * p * (1 - p)))
    step = max(1, int(_BLOCK / widest))
    for start in range(0, drawn.size, step):
        block = slice(start, start + step)
        distinct, law_of = np.unique(drawn[block], return_inverse=True)
        first, probabilities = hypergeometric_tables(total, marked, distinct)
        cumulative = np.cumsum(probabilities, axis=1)
        cumulative /= cumulative[:, -1:]
        values[block] = first[law_of] + (cumulative[law_of] <= uniform[block, None]).sum(axis=1)
    return values


def finite_power(
    n: int,
    only_a: int,
    only_b: int,
    total: int,
    *,
    swapped: bool = False,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: McNemarMethod = "exact",
    correction: bool = False,
) -> float:
    """Return the probability that McNemar's test rejects on n rows of a finite population, drawn without replacement.

    The number of discordant pairs is hypergeometric, and so is, given it, their split; what the sums leave out is below
    1e-15. `only_a` and `only_b`: how many of the `total` rows of the population only A, and only B, gets right.
    `swapped`: whether the outputs of A and B are exchanged in each row drawn with probability 1/2, so that neither is
    better: the probability is then the type-I error. All else as in `sigstats.paired_power`.
    """
    rows = as_count(total, "total")
    a, b = as_count(only_a, "only_a", maximum=rows), as_count(only_b, "only_b", maximum=rows)
    if a + b > rows:
        raise refuse("only_a + only_b", a + b, f"at most total, {rows}")
    drawn = as_count(n, "n", minimum=1, maximum=rows)
    if min(drawn, a + b) > _MOST_DRAWN:
        raise refuse("n", n, f"at most {_MOST_DRAWN}, or as few discordant rows")
    as_flag(swapped, "swapped")
    rule = as_rule(alpha, alternative, method, correction)
    (first,), (weights,) = hypergeometric_tables(rows, a + b, [drawn])
    m = first + np.flatnonzero(weights)
    weights = weights[weights > 0]
    critical = critical_counts(m, rule)
    if swapped:
        power = conditional_power(m, critical, 0.5, rule)
    else:
        favoured = {"two-sided": (a, b), "greater": (a,), "less": (b,)}[rule.alternative]
        power = np.asarray(sum(_upper_tail(m, critical, a + b, marked) for marked in favoured))
    return min(1.0, float(np.sum(weights * power)))


def _upper_tail(m: IntArray, critical: IntArray, total: int, marked: int) -> FloatArray:
    """Return the probability that at least `critical` of m discordant rows are marked, `marked` of `total` being so."""
    tails = np.empty(m.size)
    widest = hypergeometric_tables(max(total, 1), marked, m[-1:])[1].size
    step = max(1, _BLOCK // widest)
    for start in range(0, m.size, step):
        block = slice(start, start + step)
        first, probabilities = hypergeometric_tables(max(total, 1), marked, m[block])
        values = first[:, None] + np.arange(probabilities.shape[1])
        tails[block] = np.sum(probabilities * (values >= critical[block, None]), axis=1)
    return tails
