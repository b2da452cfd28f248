"""The law of a table of two samples given its margins: p-values, exact or as bounds, and random tables.

- Several classes: `given_margins` states the problem, `exact_pvalue` and `certified_bounds` solve it.
- Any number of classes: `exceedances` draws random tables.
- Two classes: `two_tails` is Fisher's exact test at any size, and `difference_interval` Newcombe's interval.

Equation numbers are those of Hryniewicz.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .._common.data_frames import same_classes
from .._common.extreme import ROUNDING, at_most, error_bound
from .._common.random_streams import MAX_RESAMPLES, as_generator
from .._common.validation import FloatArray, IntArray, as_count, as_counts, refuse
from ..conditional.exact_keys import binomial_keys
from ..conditional.fourier_bounds import WorkLimitError, bounds, grouped
from ..conditional.problem import SMALLEST, Problem, binomial_log_pmf, stirling_errors
from ..conditional.tail import STATE_LIMIT, ConditionalTail, StateLimitError, tail
from ..fixed_margins.rook_factor import DIGITS, log_factorial
from ..fixed_margins.two_dominant_classes import hypergeometric_tail
from ..fixed_margins.upper_tail import SMALL
from ..intervals import Interval

#: The width of the certified bounds, as a share of p.
BOUNDS_WIDTH = 1e-4
#: The largest total that NumPy's hypergeometric generator accepts.
MONTE_CARLO_MAX_TOTAL = 10**9 - 1
#: The number of counts drawn at a time, and the largest total whose log weights are computed once and looked up.
_CHUNK, _LOOKUP = 2**18, 10**6
#: Log-likelihoods have an error below 1e-32; closer ones are equal.
_TIED = Decimal("1e-30")


def as_two_samples(counts_a: Any, counts_b: Any) -> tuple[IntArray, IntArray]:
    """Return both samples' counts of the classes that occur, or raise ValueError."""
    same_classes(counts_a=counts_a, counts_b=counts_b)
    a, b = as_counts(counts_a, "counts_a", ndim=1), as_counts(counts_b, "counts_b", ndim=1)
    if len(a) != len(b):
        wanted = f"{len(a)} classes, as counts_a has (labels are counted first)"
        raise refuse("counts_b", len(b), wanted, quantity="length")
    if len(a) < 2:
        raise refuse("counts_a", len(a), "two classes or more", quantity="length")
    for name, counts in (("counts_a", a), ("counts_b", b)):
        if not counts.any():
            raise refuse(name, 0, "at least one object", quantity="total")
    occurs = (a > 0) | (b > 0)
    return a[occurs], b[occurs]


def log_probability(a: IntArray, totals: IntArray) -> float:
    """Return the logarithm of the probability of a table with these totals, eq. (5). `a`: the first sample's counts."""
    n, total = int(a.sum()), int(totals.sum())
    share = n / total
    terms = [float(binomial_log_pmf(c, share, x)) for c, x in zip(totals.tolist(), a, strict=True)]
    return math.fsum(terms) - float(binomial_log_pmf(total, share, np.array(n)))


def given_margins(a: IntArray, b: IntArray) -> Problem:
    """Return the tables with the margins of the observed one, ordered by their probabilities."""
    totals = [int(c) for c in a + b]
    n, total = int(a.sum()), sum(totals)
    share = n / total
    errors = stirling_errors(total)

    def log_mass(trials: float, x: IntArray) -> FloatArray:
        return binomial_log_pmf(int(trials), share, x, errors)

    scores = tuple(log_mass(c, np.arange(min(c, n) + 1)) for c in totals)
    return Problem(
        parameters=tuple(totals),
        log_mass=log_mass,
        laws=scores,
        scores=scores,
        total=n,
        threshold=math.fsum(float(s[x]) for s, x in zip(scores, a.tolist(), strict=True)),
        margin=2.0**-46 * (total + 100 * len(totals)),  # a generous bound of the rounding of all scores together
        observed=tuple(a.tolist()),
        keys=binomial_keys(totals),
    )


def exact_pvalue(problem: Problem, limit: int = STATE_LIMIT) -> ConditionalTail:
    """Return the probability of all tables that are no likelier than the observed one (eq. 6 and 7)."""
    try:
        return tail(problem, limit=limit)
    except StateLimitError:
        wanted = f"half of the classes to have at most {STATE_LIMIT} relevant outcomes"
        other = "method='monte-carlo', which gives an interval, or method='bounds', which may take a minute"
        raise _too_large(problem, f"{wanted}; use {other}") from None


def _too_large(problem: Problem, wanted: str) -> ValueError:
    size = int(sum(problem.parameters)), len(problem.parameters)
    return refuse("counts_a and counts_b", size, wanted, quantity="size (total, classes)")


def certified_bounds(problem: Problem) -> Interval:
    """Return bounds of the exact p-value, no wider than `BOUNDS_WIDTH` of it."""
    if len(problem.parameters) == 1:
        return Interval(1.0, 1.0, 1.0)
    if quick := _around_exact(problem, 2**18):
        return quick
    try:
        groups, options = grouped(problem.scores, problem.parameters), {"slack": problem.margin, "width": BOUNDS_WIDTH}
        low, high = bounds(groups, problem.total, problem.threshold, problem.norm, **options)
    except WorkLimitError:
        if slow := _around_exact(problem, STATE_LIMIT):
            return slow
        wanted = f"a table whose p-value can be bounded to {BOUNDS_WIDTH:g} of itself"
        raise _too_large(problem, f"{wanted}; use method='monte-carlo', which gives an interval") from None
    return certified(low, high)


def _around_exact(problem: Problem, limit: int) -> Interval | None:
    """Return bounds around the exact p-value, as wide as its rounding; None if it needs more states than the limit."""
    try:
        p, error = tail(problem, limit=limit)
    except StateLimitError:
        return None
    error = max(error, 1e-10)
    return certified(p * (1 - error), min(1.0, p * (1 + error)))


def certified(low: float, high: float) -> Interval:
    """Return the interval between both bounds; it starts at 0 if the lower one is not a normal double."""
    return Interval(low, high, 1.0) if low >= SMALLEST else Interval(0.0, max(high, SMALLEST), 1.0)


def homogeneity_exceedances(counts_a: Any, counts_b: Any, *, size: int, rng: Any = None) -> NDArray[np.bool_]:
    """Return a mask of `size` random tables with the observed margins that are no likelier than the observed table.

    These are the replicates of the Monte-Carlo method of `homogeneity_test`, with the same parameters and errors, so
    that they can be spread over machines. Generators in equal states yield the same first tables, and are advanced.
    """
    a, b = as_two_samples(counts_a, counts_b)
    return exceedances(a, b, as_count(size, "size", minimum=0, maximum=MAX_RESAMPLES), as_generator(rng))


def exceedances(a: IntArray, b: IntArray, size: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Return the mask of `homogeneity_exceedances` for checked counts."""
    totals = a + b
    n, total = int(a.sum()), int(totals.sum())
    if total > MONTE_CARLO_MAX_TOTAL:
        other = "exact" if len(a) == 2 else "chi2"
        wanted = f"at most {MONTE_CARLO_MAX_TOTAL} to draw tables; use method={other!r}"
        raise refuse("counts_a and counts_b", total, wanted, quantity="total")
    log_weights = _log_weights_of(totals, n / total)
    observed = float(log_weights(a))
    out = np.empty(size, dtype=bool)
    rows = max(1, _CHUNK // len(a))
    for start in range(0, size, rows):
        x = generator.multivariate_hypergeometric(totals, n, size=min(rows, size - start), method="marginals")
        ratio = np.exp(np.minimum(log_weights(x) - observed, 1.0))
        out[start : start + len(x)] = at_most(ratio, 1.0)
    return out


def _log_weights_of(totals: IntArray, share: float) -> Callable[[IntArray], FloatArray]:
    """Return the function of tables (last axis: classes) that gives their log weights, up to a common summand."""
    if int(totals.sum()) > _LOOKUP:
        columns = list(enumerate(totals.tolist()))
        return lambda x: np.asarray(np.sum([binomial_log_pmf(c, share, x[..., j]) for j, c in columns], axis=0))
    starts = np.concatenate([[0], np.cumsum(totals + 1)[:-1]])
    weights = np.concatenate([binomial_log_pmf(c, share, np.arange(c + 1)) for c in totals.tolist()])
    return lambda x: np.asarray(weights[x + starts].sum(axis=-1))


class TwoTails(NamedTuple):
    """The p-value, log10 p, a bound on the relative error of p, and the probability of the observed table."""

    pvalue: float
    log10_pvalue: float
    error: float
    point: float


def two_tails(a: IntArray, b: IntArray) -> TwoTails:
    """Return the probability of all tables with these margins that are at most as likely, for any size.

    Of `total` objects, the first sample has `drawn`, and `marked` objects are of the first class; x are in both.
    """
    x, drawn, total = int(a[0]), int(a.sum()), int(a.sum() + b.sum())
    marked = int(a[0] + b[0])
    if total <= SMALL:
        return _in_whole_numbers(x, drawn, marked, total)
    if x < (drawn + 1) * (marked + 1) // (total + 2):  # below the mode; the other class is above it
        x, marked = drawn - x, total - marked
    lowest = max(0, marked + drawn - total)

    def cells(y: int) -> tuple[int, int, int, int]:
        return y, marked - y, drawn - y, total - marked - drawn + y

    def heavier(y: int) -> bool:
        """Return True if y is more likely than x, by floats if they are precise enough."""
        more = sum(math.lgamma(n + 1) - math.lgamma(m + 1) for n, m in zip(cells(x), cells(y), strict=True))
        if abs(more) > 1e-14 * math.lgamma(total + 2):
            return more > 0
        return sum(map(log_factorial, cells(x)), Decimal(0)) > sum(map(log_factorial, cells(y)), Decimal(0)) + _TIED

    with localcontext(DIGITS):
        tail = hypergeometric_tail(total, marked, drawn, x)
        mode = (drawn + 1) * (marked + 1) // (total + 2)  # likelihoods grow up to here
        # The tables below `far` are at most as likely as the observed one.
        far = lowest + bisect_left(range(lowest, min(x, mode + 1)), True, key=heavier)
        if far >= x:
            return TwoTails(1.0, 0.0, 0.0, math.exp(tail.point))
        other = hypergeometric_tail(total, total - marked, drawn, drawn - far + 1)
        upper, lower = tail.upper.exp(), other.upper.exp()
        log10 = min(0.0, float((upper + lower).log10()))
        p = min(1.0, float(upper + lower))
    return TwoTails(p, log10, error_bound(p, max(tail.error, other.error) + 2 * ROUNDING), math.exp(tail.point))


def _in_whole_numbers(x: int, drawn: int, marked: int, total: int) -> TwoTails:
    """Return `two_tails` of a small table, by counting the ways to draw each possible number of marked objects."""
    lowest, highest = max(0, marked + drawn - total), min(marked, drawn)
    ways = [math.comb(marked, lowest) * math.comb(total - marked, drawn - lowest)]
    for y in range(lowest, highest):
        ways.append(ways[-1] * (marked - y) * (drawn - y) // ((y + 1) * (total - marked - drawn + y + 1)))
    observed, everything = ways[x - lowest], math.comb(total, drawn)
    extreme = sum(way for way in ways if way <= observed)
    p, log10 = extreme / everything, math.log10(extreme) - math.log10(everything)
    return TwoTails(p, min(0.0, log10), error_bound(p), observed / everything)


def difference_interval(a: IntArray, b: IntArray, confidence_level: float) -> Interval:
    """Return an interval of the share of the first class in A minus that in B (Newcombe 1998, method 10)."""
    z = float(ndtri((1 + confidence_level) / 2))

    def wilson(counts: IntArray) -> tuple[float, float, float]:
        """Return the share of the first class and the ends of its interval."""
        k, n = int(counts[0]), int(counts.sum())
        half = z * math.sqrt(k * (n - k) / n + z * z / 4)
        return k / n, (k + z * z / 2 - half) / (n + z * z), (k + z * z / 2 + half) / (n + z * z)

    (p, p_low, p_high), (q, q_low, q_high) = wilson(a), wilson(b)
    below, above = math.hypot(p - p_low, q_high - q), math.hypot(p_high - p, q - q_low)
    return Interval(p - q - below, p - q + above, confidence_level)
