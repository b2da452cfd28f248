"""The distance of outcomes from required probabilities, and the outcomes at least as far, exact or random.

`distance` orders the outcomes. `exact_pvalue` adds up the probabilities of those at least as extreme as observed, and
`exceedances` counts such outcomes among random ones. Equation numbers are those of Hryniewicz.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc

from .._common.data_frames import same_classes
from .._common.extreme import TIE_TOLERANCE, at_least
from .._common.random_streams import MAX_RESAMPLES, as_generator
from .._common.validation import FloatArray, IntArray, as_choice, as_count, as_counts, as_probabilities, refuse
from ..conditional.exact_keys import chi_square_keys, multinomial_keys
from ..conditional.problem import Problem, poisson_deviance, poisson_log_pmf
from ..conditional.tail import STATE_LIMIT, ConditionalTail, StateLimitError, tail

#: A square of a count, divided by the product of a smaller probability and a count, is no float any more.
LEAST_PROBABILITY = 1e-290
_CHUNK = 2**18

Ordering: TypeAlias = Literal["probability", "chi2", "likelihood-ratio"]

ORDERINGS: tuple[Ordering, ...] = ("probability", "chi2", "likelihood-ratio")
#: The largest problem that the exact method accepts: objects, classes.
EXACT_MAX_TOTAL, EXACT_MAX_CLASSES = 10**5, 200
#: Keys of more different probabilities take too much memory.
_MOST_KEYED = 12


def log_probability(x: IntArray, p: FloatArray) -> float:
    """Return the logarithm of eq. (13): independent Poisson counts, given their sum."""
    n = int(x.sum())
    terms = [float(poisson_log_pmf(n * q, np.array([k]))[0]) for q, k in zip(p.tolist(), x.tolist(), strict=True)]
    return math.fsum(terms) - float(poisson_log_pmf(float(n), np.array([n]))[0])


def class_terms(x: IntArray, n: int, p: FloatArray | float, ordering: str) -> FloatArray:
    """Return the terms of the classes in the distance of an outcome: convex in x."""
    mean = n * np.asarray(p)
    if ordering == "chi2":
        return np.asarray((x - mean) ** 2 / mean)  # eq. (16)
    return poisson_deviance(x, mean)  # eq. (18), with terms that cancel because counts and means have equal sums


def distance(x: IntArray, n: int, p: FloatArray, ordering: str) -> FloatArray:
    """Return the distance of outcomes (last axis: classes) from the required probabilities."""
    if ordering == "probability":
        log_p = [poisson_log_pmf(n * q, x[..., j]) for j, q in enumerate(p.tolist())]
        return np.asarray(-np.sum(log_p, axis=0))
    return np.asarray(class_terms(x, n, p, ordering).sum(axis=-1))


def as_counts_and_probabilities(counts: Any, probabilities: Any) -> tuple[IntArray, FloatArray, int]:
    """Return counts and probabilities of the possible classes, and the number of objects in impossible ones."""
    same_classes(counts=counts, probabilities=probabilities)
    x = as_counts(counts, "counts", ndim=1)
    p = as_probabilities(probabilities, "probabilities")
    if len(x) != len(p):
        raise refuse(
            "probabilities", len(p), f"{len(x)} classes, as counts has (labels are counted first)", quantity="length"
        )
    if not x.any():
        raise refuse("counts", 0, "at least one object", quantity="total")
    possible = p > 0
    if p[possible].min() < LEAST_PROBABILITY:
        raise refuse("probabilities", p[possible].min(), f"0, or at least {LEAST_PROBABILITY:g}")
    return x[possible], p[possible] / math.fsum(p[possible]), int(x[~possible].sum())


def goodness_of_fit_exceedances(
    counts: Any, probabilities: Any, *, size: int, ordering: str = "probability", rng: Any = None
) -> NDArray[np.bool_]:
    """Return a mask of `size` random outcomes that are at least as extreme as the observed counts.

    The replicates of the Monte-Carlo method of `goodness_of_fit_test`, with its parameters and errors, for those who
    spread them over machines: from generators in equal states, which are advanced, fewer are the first of more.
    """
    ordering = as_choice(ordering, "ordering", ORDERINGS)
    x, p, excluded = as_counts_and_probabilities(counts, probabilities)
    size = as_count(size, "size", minimum=0, maximum=MAX_RESAMPLES)
    if excluded:  # no outcome is as extreme
        return np.zeros(size, dtype=np.bool_)
    return exceedances(x, p, ordering, size, as_generator(rng))


def exceedances(
    x: IntArray, p: FloatArray, ordering: str, size: int, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Return the mask of `goodness_of_fit_exceedances` for checked counts and probabilities."""
    n = int(x.sum())
    observed = float(distance(x, n, p, ordering))
    out = np.empty(size, dtype=bool)
    rows = max(1, _CHUNK // len(x))
    for start in range(0, size, rows):
        drawn = generator.multinomial(n, p, size=min(rows, size - start))
        drawn_distance = distance(drawn, n, p, ordering)
        if ordering == "probability":
            out[start : start + len(drawn)] = at_least(np.exp(np.maximum(drawn_distance - observed, -1.0)), 1.0)
        else:
            out[start : start + len(drawn)] = at_least(drawn_distance, observed)
    return out


def probabilities_as_fractions(probabilities: Sequence[float]) -> list[Fraction] | None:
    """Return the simplest fraction near each double, if these sum to 1 exactly; else None.

    A probability that was written as a decimal or divided from whole numbers is within rounding of that fraction, and
    of no simpler one.
    """
    roundings = [Fraction(math.ulp(probability)) * 2 for probability in probabilities]
    values = [Fraction(probability) for probability in probabilities]
    simplest = [
        _simplest(value - rounding, value + rounding) for value, rounding in zip(values, roundings, strict=True)
    ]
    if sum(simplest) == 1:
        return simplest
    # A large share of large whole numbers has simpler neighbours; a small one tells what all were divided by.
    for whole in sorted({fraction.denominator for fraction in simplest}, reverse=True):
        shares = [Fraction(round(value * whole), whole) for value in values]
        near = zip(shares, values, roundings, strict=True)
        if sum(shares) == 1 and all(abs(share - value) <= rounding for share, value, rounding in near):
            return shares
    return None


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator between two nonnegative fractions."""
    whole = math.floor(low)
    if low <= 0 or whole == low:
        return Fraction(whole if low > 0 else 0)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))


def exact_pvalue(x: IntArray, p: FloatArray, ordering: str, limit: int = STATE_LIMIT) -> ConditionalTail:
    """Return the probability of all outcomes at least as extreme as x (eq. 14 and 15)."""
    n, k = int(x.sum()), len(x)
    if k == 2 and n > EXACT_MAX_TOTAL:
        return _two_tails(x, p, ordering)
    if n > EXACT_MAX_TOTAL or k > EXACT_MAX_CLASSES:
        wanted = f"at most {EXACT_MAX_TOTAL} and {EXACT_MAX_CLASSES} for method='exact'; use method='monte-carlo'"
        raise refuse("counts", (n, k), wanted, quantity="size (total, classes)")
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
        return tail(problem, limit=limit)
    except StateLimitError:
        wanted = f"half of the classes to have at most {STATE_LIMIT} relevant outcomes; use method='monte-carlo'"
        raise refuse("counts", (n, k), wanted, quantity="size (total, classes)") from None


def _two_tails(x: IntArray, p: FloatArray, ordering: str) -> ConditionalTail:
    """Compute `exact_pvalue` for two classes from two binomial tails; SciPy's error is assumed to be 1e-9."""
    n, share = int(x.sum()), float(p[0])
    observed = float(distance(x, n, p, ordering))
    least = observed - (TIE_TOLERANCE if ordering == "probability" else TIE_TOLERANCE * abs(observed))

    def far(count: int) -> bool:
        return float(distance(np.array([count, n - count]), n, p, ordering)) >= least

    middle = math.floor(n * share)
    below = bisect_left(range(middle + 1), True, key=lambda count: not far(count))
    above = middle + 1 + bisect_left(range(middle + 1, n + 1), True, key=far)
    tails = (
        betaincc(below, n - below + 1, share) if below else 0.0,
        betainc(above, n - above + 1, share) if above <= n else 0.0,
    )
    return ConditionalTail(min(1.0, float(sum(tails))), 1e-9)


def _finer_than(tolerance: float, n: int, p: list[float]) -> list[Fraction] | None:
    """Return probabilities as fractions if distinct chi-squares may differ by less than the tolerance for ties."""
    fractions = probabilities_as_fractions(p)
    if fractions is None or len(set(fractions)) > _MOST_KEYED:
        return None
    # n times chi-square, plus n squared, is a sum of squares over these fractions.
    common = math.lcm(*(fraction.numerator for fraction in fractions))
    units = [common // fraction.numerator * fraction.denominator for fraction in fractions]
    return None if Fraction(math.gcd(*units), common * n) > 2 * tolerance else fractions
