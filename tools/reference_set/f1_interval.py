"""Intervals of the F1 of one classifier: that of the share of true positives among all rows that count, transformed."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import flint

from ._cases import Case, ball
from ._tails import quantile
from .clopper_pearson import between, bisect, limits, terms_from

SOURCE = (
    "F1 = 2 J / (1 + J) of the proportion J of true positives among positives and rows called so: Clopper and Pearson "
    "(1934), the mid-p interval (Lancaster 1961), Wilson (1927), the posterior of a Beta(1/2, 1/2) prior."
)
METHODS = (
    "bisection of sums of binomial terms in whole numbers, a root in balls, incomplete beta functions in balls",
    "bisection of incomplete beta functions in balls, bisection of Wilson's condition, a certified integral",
)


def _mid_p(k: int, n: int, share: Fraction) -> dict[str, tuple[Any, Any]]:
    """Where P(X > k) + P(X = k) / 2 is half of one less the confidence, or all but that."""

    def by_terms(p: Fraction) -> Any:
        return (terms_from(k, n, p) + terms_from(k + 1, n, p)) / 2

    def by_beta(p: Fraction) -> Any:
        return (_upper(k, n, p) + _upper(k + 1, n, p)) / 2

    low, high = (
        tuple(
            between(bisect(lambda p, tail=tail, at=at: tail(p) < at))
            for tail, at in ((by_terms, s), (by_beta, ball(s)))
        )
        for s in (share, 1 - share)
    )
    return {"low": low if k else (Fraction(0), Fraction(0)), "high": high if k < n else (Fraction(1), Fraction(1))}


def _upper(k: int, n: int, p: Fraction) -> Any:
    """P(X >= k) for X binomial (n, p)."""
    if not 0 < k <= n:
        return flint.arb(int(k <= 0))
    return ball(p).beta_lower(flint.arb(k), flint.arb(n - k + 1), regularized=1)


def _wilson(k: int, n: int, confidence: Fraction) -> dict[str, tuple[Any, Any]]:
    """The roots of (p - k / n)**2 = z**2 p (1 - p) / n, solved and bisected."""
    z = quantile(None, confidence, "two-sided")
    share, square = Fraction(k, n), [each**2 / n for each in z]
    middle = ball(share) + square[0] / 2
    reach = (square[0] * ball(share * (1 - share)) + square[0] ** 2 / 4).sqrt()

    def beyond(p: Fraction) -> Any:
        return ball((p - share) ** 2) > square[1] * ball(p * (1 - p))

    found: dict[str, tuple[Any, Any]] = {"low": (Fraction(0), Fraction(0)), "high": (Fraction(1), Fraction(1))}
    if k:
        found["low"] = (middle - reach) / (1 + square[0]), between(bisect(lambda p: p < share and beyond(p)))
    if k < n:
        found["high"] = (middle + reach) / (1 + square[0]), between(bisect(lambda p: p < share or not beyond(p)))
    return found


def _jeffreys(k: int, n: int, share: Fraction) -> dict[str, tuple[Any, Any]]:
    """Equal tails of Beta(k + 1/2, n - k + 1/2): its incomplete function, and an integral over the angle."""
    a, b = flint.arb(2 * k + 1) / 2, flint.arb(2 * (n - k) + 1) / 2

    def below(p: Fraction) -> Any:
        return ball(p).beta_lower(a, b, regularized=1)

    whole = a.gamma() * b.gamma() / (a + b).gamma()

    def area(p: Fraction) -> Any:
        angle = flint.arb.atan2(ball(p).sqrt(), ball(1 - p).sqrt())

        def density(at: Any, analytic: bool) -> Any:  # noqa: ARG001 - it is analytic everywhere
            return at.sin() ** (2 * k) * at.cos() ** (2 * (n - k))

        return 2 * flint.acb.integral(density, flint.acb(0), flint.acb(angle)).real / whole

    found: dict[str, tuple[Any, Any]] = {"low": (Fraction(0), Fraction(0)), "high": (Fraction(1), Fraction(1))}
    for name, at, there in (("low", share, k > 0), ("high", 1 - share, k < n)):
        if there:
            found[name] = tuple(
                between(bisect(lambda p, tail=tail, at=at: tail(p) < ball(at))) for tail in (below, area)
            )
    return found


def _as_f1(value: Any) -> Any:
    return 2 * value / (1 + value)


def cases() -> Iterator[Case]:
    """Few and many counts, none and all of them true positives."""
    counts = {
        "easy": [(8, 1, 3), (0, 2, 3), (5, 0, 0), (1, 1, 1)],
        "average": [(40, 12, 9), (90, 3, 0)],
        "hard": [(1, 150, 149), (299, 1, 0)],
    }
    confidence = Fraction(0.95)
    share = (1 - confidence) / 2
    for difficulty, listed in counts.items():
        for tp, fp, fn in listed:
            n = tp + fp + fn
            for method, found in (
                ("exact", limits(tp, n, confidence)),
                ("mid-p", _mid_p(tp, n, share)),
                ("wilson", _wilson(tp, n, confidence)),
                ("jeffreys", _jeffreys(tp, n, share)),
            ):
                given = {"true_positives": tp, "false_positives": fp, "false_negatives": fn, "method": method}
                values = {end: (_as_f1(both[0]), _as_f1(both[1])) for end, both in found.items()}
                yield Case(difficulty, given, values)
