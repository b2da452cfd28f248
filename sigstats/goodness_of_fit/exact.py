"""The exact p-value of goodness of fit, without a list of the outcomes."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from .._common.extreme import TIE_TOLERANCE
from .._common.validation import FloatArray, IntArray, refuse
from ..conditional.exact_keys import chi_square_keys, multinomial_keys
from ..conditional.log_weights import poisson_log_pmf
from ..conditional.problem import Problem
from ..conditional.tail import STATE_LIMIT, ConditionalTail, StateLimitError, tail
from .distance import class_terms


def probabilities_as_fractions(probabilities: Sequence[float]) -> list[Fraction] | None:
    """The simplest fraction near each double, if these sum to 1 exactly; else None.

    A probability that was written as a decimal or divided from whole numbers is within rounding of that fraction, and
    of no simpler one.

    >>> probabilities_as_fractions([0.3, 0.2, 1 - 0.3 - 0.2])
    [Fraction(3, 10), Fraction(1, 5), Fraction(1, 2)]
    >>> probabilities_as_fractions([1 / 2000000001, 1e9 / 2000000001, 1e9 / 2000000001])[0]
    Fraction(1, 2000000001)
    >>> probabilities_as_fractions([2**-0.5, 0.2, 0.1]) is None
    True
    """
    roundings = [Fraction(math.ulp(each)) * 2 for each in probabilities]
    values = [Fraction(each) for each in probabilities]
    found = [_simplest(value - rounding, value + rounding) for value, rounding in zip(values, roundings, strict=True)]
    if sum(found) == 1:
        return found
    # A large share of large whole numbers has simpler neighbours; a small one tells what all were divided by.
    for whole in sorted({each.denominator for each in found}, reverse=True):
        shares = [Fraction(round(value * whole), whole) for value in values]
        near = zip(shares, values, roundings, strict=True)
        if sum(shares) == 1 and all(abs(share - value) <= rounding for share, value, rounding in near):
            return shares
    return None


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of the least denominator between two that are not negative."""
    whole = math.floor(low)
    if low <= 0 or whole == low:
        return Fraction(whole if low > 0 else 0)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))


#: The largest problem that the exact method takes on at all: objects, classes.
EXACT_MAX_TOTAL, EXACT_MAX_CLASSES = 10**5, 200
#: Keys of more different probabilities take too much memory.
_MOST_KEYED = 12


def exact_pvalue(x: IntArray, p: FloatArray, ordering: str) -> ConditionalTail:
    """The probability of all outcomes at least as extreme as x (eq. 14 and 15)."""
    n, k = int(x.sum()), len(x)
    if n > EXACT_MAX_TOTAL or k > EXACT_MAX_CLASSES:
        raise refuse(
            "counts (total, classes)",
            (n, k),
            f"at most {EXACT_MAX_TOTAL} and {EXACT_MAX_CLASSES} for method='exact'; use method='monte-carlo'",
        )
    every = np.arange(n + 1)
    laws = tuple(poisson_log_pmf(n * q, every) for q in p.tolist())
    scores = laws
    if ordering != "probability":
        scores = tuple(-class_terms(every, n, q, ordering) for q in p.tolist())
    observed = math.fsum(float(s[j]) for s, j in zip(scores, x.tolist(), strict=True))
    # Relative to the probability itself, or to the statistic (which is rounding alone where it should be 0).
    tolerance = TIE_TOLERANCE if ordering == "probability" else max(TIE_TOLERANCE * abs(observed), 1e-12)
    keys = multinomial_keys(p.tolist(), n, ordering)
    margin = 0.0
    if ordering == "chi2" and (fractions := _finer_than(tolerance, n, p.tolist())):
        keys, margin, tolerance = chi_square_keys(fractions, n), 2.0**-44 * (abs(observed) + n), 0.0
    problem = Problem(
        parameters=tuple((n * p).tolist()),
        log_mass=poisson_log_pmf,
        laws=laws,
        scores=scores,
        total=n,
        threshold=observed + tolerance,
        margin=margin,
        observed=tuple(x.tolist()),
        keys=keys,
    )
    try:
        return tail(problem)
    except StateLimitError:
        raise refuse(
            "counts (total, classes)",
            (n, k),
            f"half of the classes to have at most {STATE_LIMIT} relevant outcomes; use method='monte-carlo'",
        ) from None


def _finer_than(tolerance: float, n: int, p: list[float]) -> list[Fraction] | None:
    """The probabilities as fractions, if chi-squares that differ may differ by less than the tolerance for ties."""
    fractions = probabilities_as_fractions(p)
    if fractions is None or len(set(fractions)) > _MOST_KEYED:
        return None
    # n times chi-square, plus n squared, is a sum of squares over these fractions.
    common = math.lcm(*(each.numerator for each in fractions))
    units = [common // each.numerator * each.denominator for each in fractions]
    return None if Fraction(math.gcd(*units), common * n) > 2 * tolerance else fractions
