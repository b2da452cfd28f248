"""The law of a table of two samples given its margins, and the p-values that it gives: exact, or in bounds."""

import math

import numpy as np

from .._common.validation import FloatArray, IntArray, refuse
from ..conditional.exact_keys import binomial_keys
from ..conditional.fourier_bounds import WorkLimitError, bounds, grouped
from ..conditional.log_weights import binomial_log_pmf, stirling_errors
from ..conditional.problem import SMALLEST, Problem
from ..conditional.tail import STATE_LIMIT, ConditionalTail, StateLimitError, tail
from ..intervals import Interval

#: The width of the certified bounds, as a share of p.
BOUNDS_WIDTH = 1e-4


def log_probability(a: IntArray, totals: IntArray) -> float:
    """The logarithm of eq. (5)."""
    n, total = int(a.sum()), int(totals.sum())
    share = n / total
    terms = [float(binomial_log_pmf(c, share, x)) for c, x in zip(totals.tolist(), a, strict=True)]
    return math.fsum(terms) - float(binomial_log_pmf(total, share, np.array(n)))


def given_margins(a: IntArray, b: IntArray) -> Problem:
    """The tables with the margins of the observed one, ordered by their probabilities."""
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


def exact_pvalue(problem: Problem) -> ConditionalTail:
    """The probability of all tables that are no likelier than the observed one (eq. 6 and 7)."""
    try:
        return tail(problem)
    except StateLimitError:
        raise _too_large(
            problem,
            f"half of the classes to have at most {STATE_LIMIT} relevant outcomes; use method='monte-carlo', "
            "which gives an interval, or method='bounds', which may take a minute",
        ) from None


def _too_large(problem: Problem, wanted: str) -> ValueError:
    size = int(sum(problem.parameters)), len(problem.parameters)
    return refuse("counts_a and counts_b (total, classes)", size, wanted)


def certified_bounds(problem: Problem) -> Interval:
    """Bounds of the exact p-value, no wider than `BOUNDS_WIDTH` of it."""
    if len(problem.parameters) == 1:
        return Interval(1.0, 1.0, 1.0)
    try:
        p, error = tail(problem, limit=2**18)
        error = max(error, 1e-10)
        return _certified(p * (1 - error), min(1.0, p * (1 + error)))
    except StateLimitError:
        pass
    try:
        low, high = bounds(
            grouped(problem.scores, problem.parameters),
            problem.total,
            problem.threshold,
            problem.norm,
            slack=problem.margin,
            width=BOUNDS_WIDTH,
        )
    except WorkLimitError:
        raise _too_large(
            problem,
            f"a table whose p-value can be bounded to {BOUNDS_WIDTH:g} of itself; use method='monte-carlo', which "
            "gives an interval",
        ) from None
    return _certified(low, high)


def _certified(low: float, high: float) -> Interval:
    return Interval(low, high, 1.0) if low >= SMALLEST else Interval(0.0, max(high, SMALLEST), 1.0)
