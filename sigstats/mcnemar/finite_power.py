"""How often McNemar's test rejects on test sets drawn without replacement from a population whose rows are known.

The counterpart of `sigstats.mcnemar.power.power`, which is for an endless population: here the number of discordant
pairs is hypergeometric, and so is, given it, their split. Both are summed over; nothing is simulated.

When not to use: to plan a study of observations yet to come, which are drawn from no finite population.
"""

import numpy as np

from .._common.validation import Alternative, FloatArray, IntArray, as_count, refuse
from ..subsampling import hypergeometric_tables
from .rejection_region import Rule, as_rule, conditional_power, critical_counts
from .test import McNemarMethod

#: So many rows at most are drawn or left out; the sum grows with their number.
_MAX_N = 10**7
#: How many probabilities are computed at a time.
_BLOCK = 2**20


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
    """The probability that McNemar's test rejects on n rows of a finite population, drawn without replacement.

    `n`: the number of rows drawn, at most `total`, and at most 10**7 of them drawn or discordant.
    `only_a` and `only_b`: how many rows of the population only A, and only B, gets right.
    `total`: the rows of the population, at most 2**53.
    `swapped`: whether the outputs of A and B are exchanged in each row drawn with probability 1/2, so that neither is
    better: the probability is then the type-I error.
    `alpha`, `alternative`, `method` and `correction`: as in `sigstats.mcnemar.power.power`.

    What the sums leave out is below 1e-15. Raises ValueError if a number is out of its range or an option
    unknown.

    >>> round(finite_power(200, 155, 205, 1000), 4), round(finite_power(200, 155, 205, 1000, swapped=True), 4)
    (0.1575, 0.038)
    """
    rows = as_count(total, "total")
    a, b = as_count(only_a, "only_a", maximum=rows), as_count(only_b, "only_b", maximum=rows)
    if a + b > rows:
        raise refuse("only_a + only_b", a + b, f"at most total, {rows}")
    drawn = as_count(n, "n", minimum=1, maximum=rows)
    if min(drawn, a + b) > _MAX_N:
        raise refuse("n", n, f"at most {_MAX_N}, or as few discordant rows")
    if not isinstance(swapped, (bool, np.bool_)):
        raise refuse("swapped", swapped, "True or False")
    rule = as_rule(alpha, alternative, method, correction)
    (first,), (weights,) = hypergeometric_tables(rows, a + b, [drawn])
    m = first + np.flatnonzero(weights)
    weights = weights[weights > 0]
    critical = critical_counts(m, rule)
    given = conditional_power(m, critical, 0.5, rule) if swapped else _split(m, critical, a, b, rule)
    return min(1.0, float(np.sum(weights * given)))


def _split(m: IntArray, critical: IntArray, a: int, b: int, rule: Rule) -> FloatArray:
    """The conditional power, given m discordant rows out of a + b."""
    favoured = {"two-sided": (a, b), "greater": (a,), "less": (b,)}[rule.alternative]
    return np.asarray(sum(_upper_tail(m, critical, a + b, marked) for marked in favoured))


def _upper_tail(m: IntArray, critical: IntArray, total: int, marked: int) -> FloatArray:
    tails = np.empty(m.size)
    widest = hypergeometric_tables(max(total, 1), marked, m[-1:])[1].size
    step = max(1, _BLOCK // widest)
    for start in range(0, m.size, step):
        part = slice(start, start + step)
        first, probabilities = hypergeometric_tables(max(total, 1), marked, m[part])
        values = first[:, None] + np.arange(probabilities.shape[1])
        tails[part] = np.sum(probabilities * (values >= critical[part, None]), axis=1)
    return tails
