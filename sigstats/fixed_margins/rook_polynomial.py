r"""Exact integers: the number correct under fixed margins from its rook polynomial.

With :math:`R(y) = \prod_i \sum_j \binom{r_i}{j} \binom{c_i}{j} j! \, y^j`, the factorial moments of the number
correct T are :math:`E \binom{T}{j} = R_j (N - j)! / N!` (Riordan 1958, chapters 7 and 8), and inclusion and exclusion
gives :math:`P(T \ge t) = \sum_{j \ge t} (-1)^{j-t} \binom{j-1}{t-1} R_j (N - j)! / N!`: the sum that Nyssen's equation
(4) takes table by table. The terms alternate and cancel, so everything here is whole numbers until the last
logarithm. Not for thousands of objects in the middle of the distribution: there `sigstats.fixed_margins.saddle_point`
takes milliseconds.

Classes are a mapping from ``(row total, column total)``, both at least 1, to the number of classes with these totals. A
class without rows or without columns cannot be right and only counts in N.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

from .rook_factor import log_factorial

Classes: TypeAlias = Mapping[tuple[int, int], int]
Integer: TypeAlias = Any  # flint.fmpz, which is untyped
#: A truncated sum is taken to where its next term is below this fraction of it.
_NEGLIGIBLE_BITS = 60


class LogTail(NamedTuple):
    """Natural logarithms of ``P(T >= t)`` and ``P(T = t)``; minus infinity if impossible.

    `error` bounds the relative error of the first; whole numbers have only that of `log_ratio` and of the negligible
    part. If it is `estimated`, it is not proved.
    """

    upper: Decimal
    point: Decimal
    error: float = 1e-17
    estimated: bool = False


def most_correct(classes: Classes) -> int:
    """Return the largest possible number correct."""
    return sum(min(pair) * times for pair, times in classes.items())


def counts(total: int, classes: Classes) -> list[int]:
    """Return the numbers of the N! matchings with 0, 1, ... correct, up to the largest possible number."""
    from flint import fmpz_poly

    rook = rook_coefficients(classes, most_correct(classes) + 1)
    factorial = _products(range(1, total + 1))
    # E z^T = sum_j E C(T, j) (z - 1)^j
    moments = fmpz_poly([rook[j] * factorial[total - j] for j in range(len(rook))])
    shifted = moments(fmpz_poly([-1, 1]))
    return [int(shifted[t]) for t in range(len(rook))]


def counts_from_below(total: int, classes: Classes, last: int) -> tuple[list[int], int]:
    """Return the numbers of matchings with 0, 1, ... correct, and of all, from the moments up to order `last`.

    Both in one unit. By Bonferroni's inequalities the last term bounds the error, and the list ends before the first
    number with more than a negligible error.
    """
    from flint import fmpz, fmpz_poly

    rook = rook_coefficients(classes, last + 1)
    falling = _products(range(total - last + 1, total + 1))
    moments = fmpz_poly([rook[j] * falling[last - j] for j in range(last + 1)])
    shifted = moments(fmpz_poly([-1, 1]))
    counts = [int(shifted[t]) for t in range(last + 1)]
    if last < most_correct(classes):
        error = fmpz(moments[last])
        for t in range(last + 1):
            if counts[t] <= error << _NEGLIGIBLE_BITS:
                counts = counts[:t]
                break
            error = error * (last - t) // (t + 1)
    return counts, int(falling[last])


def log_ratio(numerator: int, denominator: int) -> Decimal:
    """Natural logarithm of the ratio of two whole numbers of any size, to 1e-20; minus infinity for 0."""
    if numerator <= 0:
        return Decimal("-Infinity")
    shift = 80 - numerator.bit_length() + denominator.bit_length()
    quotient = (numerator << shift) // denominator if shift >= 0 else numerator // (denominator << -shift)
    return Decimal(quotient).ln() - shift * Decimal(2).ln()


def tail(total: int, classes: Classes, correct: int) -> LogTail:
    """Return both probabilities, for `correct` of at least 1, from all factorial moments of that order and above."""
    most = most_correct(classes)
    rook = rook_coefficients(classes, most + 1)
    factorial = _products(range(1, total + 1))
    upper, point, _ = _alternating((rook[j] * factorial[total - j] for j in range(correct, most + 1)), correct)
    return LogTail(log_ratio(upper, int(factorial[total])), log_ratio(point, int(factorial[total])))


def tail_from_below(total: int, classes: Classes, correct: int, last: int) -> LogTail | None:
    """Return both probabilities from the moments of order `correct` to `last`, or None if that is not enough.

    Bonferroni's inequalities: the truth lies between two successive partial sums, so the last term taken bounds the
    error. Cheap where few can be expected to be correct, however many objects there are.
    """
    rook = rook_coefficients(classes, last + 1)
    falling = _products(range(total - last + 1, total + 1))  # (N-last+1) ... (N-j) is entry last-j
    upper, point, term = _alternating((rook[j] * falling[last - j] for j in range(correct, last + 1)), correct)
    if last < most_correct(classes) and min(upper, point) <= term << _NEGLIGIBLE_BITS:
        return None
    return LogTail(log_ratio(upper, int(falling[last])), log_ratio(point, int(falling[last])))


def tail_from_above(total: int, classes: Classes, correct: int) -> LogTail:
    """Return both probabilities for a number correct near the largest possible one, from the last few coefficients."""
    from flint import fmpz, fmpz_poly

    most = most_correct(classes)
    length = most - correct + 1
    reverse, log_unit = fmpz_poly([1]), -log_factorial(total) + log_factorial(total - most)
    for (r, c), times in classes.items():
        low, gap = min(r, c), abs(r - c)
        # Coefficient low - i over the leading one is C(low, i) gap! / (gap + i)!; times the product of all gap + i.
        steps = _products(range(gap + length - 1, gap, -1))
        choose = [fmpz(1)]
        for i in range(1, length):
            choose.append(choose[-1] * (low - i + 1) // i)
        factor = fmpz_poly([choose[i] * steps[length - 1 - i] for i in range(length)])
        reverse = reverse.mul_low(factor.pow_trunc(times, length), length)
        log_unit += times * (log_factorial(low + gap) - log_factorial(gap) - log_ratio(int(steps[-1]), 1))
    beyond = _products(range(total - most + 1, total - correct + 1))
    upper, point, _ = _alternating((reverse[i] * beyond[i] for i in range(length - 1, -1, -1)), correct)
    return LogTail(log_ratio(upper, 1) + log_unit, log_ratio(point, 1) + log_unit)


def _alternating(weights: Iterable[Integer], correct: int) -> tuple[int, int, int]:
    """``sum_j (-1)^(j-t) w_j C(j-1, t-1)``, the same with ``C(j, t)``, and the size of the latter's last term."""
    from flint import fmpz

    upper = point = last = fmpz(0)
    upper_choose = point_choose = fmpz(1)
    for j, weight in enumerate(weights, start=correct):
        if j > correct:
            upper_choose = -upper_choose * (j - 1) // (j - correct)
            point_choose = -point_choose * j // (j - correct)
        last = weight * point_choose
        upper += weight * upper_choose
        point += last
    return int(upper), int(point), abs(int(last))


def rook_coefficients(classes: Classes, length: int) -> list[Integer]:
    """Return the first `length` coefficients of the rook polynomial."""
    from flint import fmpz, fmpz_poly

    factors = [fmpz_poly([1])]
    for (r, c), times in classes.items():
        factor = [fmpz(1)]
        for j in range(min(r, c, length - 1)):
            factor.append(factor[-1] * (r - j) * (c - j) // (j + 1))
        factors.append(fmpz_poly(factor).pow_trunc(times, length))
    product = _balanced_product(factors, length)
    return [product[j] for j in range(length)]


def _balanced_product(factors: list[Any], length: int) -> Any:
    """Return the first `length` coefficients of the product of polynomials, multiplied from the shortest on.

    Multiplying each of many unequal classes by all before it would cost as much each time as the last product.
    """
    waiting = deque(sorted(factors, key=lambda factor: factor.degree()))
    while len(waiting) > 1:
        waiting.append(waiting.popleft().mul_low(waiting.popleft(), length))
    return waiting[0]


def _products(numbers: Iterable[int]) -> list[Integer]:
    """1, then the running products of `numbers`."""
    from flint import fmpz

    return list(accumulate(numbers, lambda product, n: product * n, initial=fmpz(1)))
