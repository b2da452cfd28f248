r"""The law of a sum of magnitudes, each included or excluded by a fair coin.

With magnitudes :math:`m_1, \dots, m_n` and independent fair coins :math:`B_i`, this module gives
:math:`P(\sum_i B_i m_i \ge s)`, the one-sided p-value of a sign-flip test. Its generating function is
:math:`2^{-n} \prod_i (1 + x^{m_i})`, a product of integer polynomials (Pagano and Tritchler 1983, Journal of the
American Statistical Association 78, 435-440, use its Fourier transform).

The method is chosen by cost, and none takes more than half a second below a hundred thousand magnitudes. Whole
magnitudes are summed exactly if their sums are few, however far apart (`tail_count`), if the product is short, or if
they are few enough to be enumerated. Wider distributions come from their characteristic function, to thirty digits,
or from sums of doubles, to thirteen (`sigstats.sign_flips.whole_sums`).
Real magnitudes, or whole ones whose sums spread too widely, are enumerated if there are few and otherwise bounded
(`sigstats.sign_flips.bounds`).
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import TIE_TOLERANCE
from .._common.validation import FloatArray, IntArray
from ..mcnemar.binomial_tails import log_tail, tail, tail_error
from .bounds import Tail, tail_bounds
from .whole_sums import tail_by_frequencies, tail_in_doubles

#: The most sums of half of the sizes.
MOST_SUMS = 2**16
#: The most bits of an exact product (the number of its coefficients times their length) that is summed; a longer one
#: is summed too if its spread times the number of sizes is at most `MOST_TERMS`.
MOST_BITS, MOST_TERMS = 10**9, 2**28
#: The largest exact product that is multiplied out, and the longest lists of few sums, in bits.
MOST_MULTIPLIED, MOST_LISTED = 2 * 10**7, 10**8
#: Cost of one sum of a short list, in bits of the exact product.
_WORK_OF_A_SUM = 250
#: Up to this many magnitudes, all sums are enumerated, as sums of two halves.
MOST_ENUMERATED = 40
#: The logarithm of a probability above this is computed from its double; far smaller doubles lose digits.
_LEAST_DOUBLE = 1e-300
#: The width of bounds where a law is too wide to be summed, as a share of the tail.
_WIDTH = 2e-3
#: The most large magnitudes that are enumerated; the square of each must be this many times the squares of all others.
_MOST_APART, _APART = 10, 9.0
#: The number of standard deviations beyond which a tilted law has almost no mass.
_REACH = 14


def tail_of_sum(magnitudes: Sequence[int] | FloatArray, threshold: Any) -> Tail:
    """``P(sum of B_i m_i >= threshold)`` for fair coins B and magnitudes m, all positive.

    Whole numbers are exact; for floats, sums that differ from the threshold by less than
    `sigstats._common.extreme.TIE_TOLERANCE`, relative, count as equal to it.

    >>> tail_of_sum([1, 2, 5], 6).high  # 1 + 5, 2 + 5 and 1 + 2 + 5 of 8 sums
    0.375
    """
    given = np.asarray(magnitudes)
    if given.dtype.kind == "f":
        if len(given) <= MOST_ENUMERATED:
            return _enumerated(given, threshold)
        return _bounded(*np.unique(given, return_counts=True), float(threshold), _WIDTH)
    n, total = len(given), int(given.sum(dtype=object))
    if threshold <= 0:
        return Tail(1.0, 1.0, 0.0)
    if threshold > total:
        return Tail(0.0, 0.0, -math.inf)
    sizes, times = np.unique(given, return_counts=True)
    if len(sizes) == 1:
        k = -(-threshold // int(sizes[0]))
        p = tail(k, n)
        log = log_tail(k, n)
        return Tail(p, p, log, tail_error(n, log))
    exact = _exact_tail(sizes, times, threshold, total)
    if exact is not None:
        return exact
    if n <= MOST_ENUMERATED and total < 2**62:
        return _enumerated(given.astype(np.int64), threshold)
    is_short = n * total <= MOST_BITS
    if is_short or 2 * _REACH * _spread(sizes, times) * len(sizes) <= MOST_TERMS:
        summed = tail_by_frequencies(sizes.astype(np.int64), times, int(threshold))
        if summed is not None:
            rounded = is_short and summed.low == summed.high > _LEAST_DOUBLE
            return summed._replace(log=math.log(summed.high)) if rounded else summed
    if is_short:
        low, high = tail_in_doubles(given.tolist(), int(threshold))
        if low > 0:
            return Tail(low, high, math.log(high))
    return _bounded(sizes, times, threshold, _WIDTH)


def pvalue_of_sum(magnitudes: Sequence[int] | FloatArray, positive: Any, negative: Any, alternative: str) -> Tail:
    """Return the p-value of a sum of randomly signed differences, from the sums of positive and negative ones."""
    if len(magnitudes) == 0:
        return Tail(1.0, 1.0, 0.0)
    if alternative != "two-sided":
        return tail_of_sum(magnitudes, positive if alternative == "greater" else negative)
    if positive == negative:
        return Tail(1.0, 1.0, 0.0)
    one = tail_of_sum(magnitudes, max(positive, negative))
    return Tail(min(1.0, 2 * one.low), min(1.0, 2 * one.high), min(0.0, one.log + math.log(2)), one.rounding)


def _exact_tail(sizes: NDArray[Any], times: IntArray, threshold: int, total: int) -> Tail | None:
    """Return the tail of whole magnitudes of several sizes, by the shorter exact method; None if both are too long."""
    n = int(times.sum())
    # The counts of sums are symmetric, so that those below the threshold or its mirror image will do.
    length = min(threshold, total - threshold + 1)
    # Each size at least doubles the sums of its half: of so many, one half exceeds MOST_SUMS, so do not divide.
    few = len(sizes) < 2 * MOST_SUMS.bit_length()
    if not few and n * length > MOST_MULTIPLIED:
        return None
    distinct = dict(zip(sizes.tolist(), times.tolist(), strict=True))
    one, other, sums = halves(distinct) if few else ({}, {}, MOST_SUMS + 1)
    if sums <= MOST_SUMS and n * sums <= MOST_LISTED and _WORK_OF_A_SUM * sums < n * total:
        count = tail_count(one, other, threshold)
    elif n * length <= MOST_MULTIPLIED:
        coefficients = _counts(distinct, length).coeffs()
        below = sum(coefficients[:length])
        count = 2**n - below if 2 * threshold <= total else below
    else:
        return None
    return exact_ratio(count, 2**n)


def exact_ratio(favourable: Any, outcomes: int) -> Tail:
    """Return a tail of equally likely outcomes that are counted."""
    count = int(favourable)
    p = count / outcomes
    log = math.log(p) if p > _LEAST_DOUBLE else (math.log(count) - math.log(outcomes) if count else -math.inf)
    return Tail(p, p, log)


def _counts(distinct: dict[int, int], length: int) -> Any:
    """Return the first coefficients of the product of ``(1 + x^m)^t``, by a tree of factors of like length."""
    from flint import fmpz_poly

    factors = []
    for size, times in distinct.items():
        in_units = fmpz_poly([1, 1]).pow_trunc(times, -(-length // size))
        factors.append(in_units.inflate(size) if in_units.degree() > 0 else in_units)
    while len(factors) > 1:
        odd = factors[len(factors) - len(factors) % 2 :]
        factors = [one.mul_low(other, length) for one, other in zip(factors[::2], factors[1::2], strict=False)] + odd
    return factors[0]


def _spread(sizes: NDArray[Any], times: IntArray) -> float:
    """Return the standard deviation of the sum, half the root of the sum of squares."""
    largest = int(sizes[-1])
    return largest * math.sqrt(float(times @ (sizes / largest).astype(np.float64) ** 2)) / 2


def _enumerated(magnitudes: "FloatArray | IntArray", threshold: Any) -> Tail:
    """Return all sums, as sums over the two halves of the magnitudes."""
    whole = magnitudes.dtype.kind == "i"
    least = threshold if whole else threshold - TIE_TOLERANCE * abs(float(threshold))
    one, other = np.sort(_all_sums(magnitudes[::2])), np.sort(_all_sums(magnitudes[1::2]))
    count = int((len(other) - np.searchsorted(other, least - one, side="left")).sum())
    return exact_ratio(count, 2 ** len(magnitudes))


def _all_sums(magnitudes: Any) -> Any:
    sums = np.zeros(1, dtype=magnitudes.dtype)
    for magnitude in magnitudes:
        sums = np.concatenate([sums, sums + magnitude])
    return sums


def _bounded(sizes: NDArray[Any], times: IntArray, threshold: Any, width: float) -> Tail:
    """Return certified bounds, by Selberg's polynomials.

    A few magnitudes that are far larger than all others would need as many more frequencies: they are enumerated, and
    the bounds are means of those of the other magnitudes over all sums of the large ones.
    """
    whole, largest = sizes.dtype.kind != "f", sizes[-1]
    scaled = (sizes / largest).astype(np.float64)  # whole numbers may exceed any float
    place = float(threshold / largest)
    tie = TIE_TOLERANCE * abs(place)
    # Real sums within the tolerance count as equal. Whole numbers were rounded: `slack` widens their bounds instead.
    place, slack = (place, tie) if whole else (place - tie, 0.0)
    squares = np.cumsum(times * scaled**2)
    apart = [k for k in range(1, min(len(sizes), _MOST_APART + 1)) if scaled[-k] ** 2 > _APART * squares[-k - 1]]
    n_large = max((k for k in apart if times[-k:].sum() <= _MOST_APART), default=0)
    rest = len(sizes) - n_large
    sums_of_large = _all_sums(np.repeat(scaled[rest:], times[rest:]))
    thresholds_of_rest, ways = np.unique(place - sums_of_large, return_counts=True)
    slack += 2.0**-51 * place if n_large else 0.0
    counts = times[:rest].astype(np.float64)
    tails = [_tail_of_rest(scaled[:rest], counts, value, slack, width) for value in thresholds_of_rest.tolist()]
    low, high, log, _ = (np.array(value) for value in zip(*tails, strict=True))
    shares = ways / ways.sum()
    return Tail(float(shares @ low), float(shares @ high), float(np.logaddexp.reduce(log + np.log(shares))))


def _tail_of_rest(sizes: FloatArray, times: FloatArray, threshold: float, slack: float, width: float) -> Tail:
    """Return the bounds of `tail_bounds`, on either side of the mean."""
    total, largest = float(times @ sizes), float(sizes[-1])
    if threshold + slack <= 0:
        return Tail(1.0, 1.0, 0.0)
    if threshold - slack > total * (1 + 2.0**-50):
        return Tail(0.0, 0.0, -math.inf)
    above = threshold >= total / 2
    threshold = (threshold if above else total - threshold) / largest
    tail = tail_bounds(sizes / largest, times, threshold, slack=slack / largest, width=width)
    return tail if above else Tail(1 - tail.high, 1 - tail.low, math.log1p(-tail.low))


def halves(distinct: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int], int]:
    """Divide the sizes, with their counts, into two parts; also return the larger number of sums of a part."""
    parts: tuple[dict[int, int], dict[int, int]] = ({}, {})
    sums = [1, 1]
    for size, times in sorted(distinct.items(), key=lambda item: (-item[1], item[0])):
        fewer = int(sums[1] < sums[0])
        parts[fewer][size] = times
        sums[fewer] *= times + 1
    return *parts, max(sums)


def tail_count(one: Mapping[int, int], other: Mapping[int, int], threshold: int) -> int:
    """Return how many choices of signs give at least the threshold, from the two parts of `halves`."""
    first, second = _counts_of_sums(one), sorted(_counts_of_sums(other).items())
    sums = [total for total, _ in second]
    from_here_on = [*accumulate((count for _, count in reversed(second)), initial=0)][::-1]
    return sum(count * from_here_on[bisect_left(sums, threshold - total)] for total, count in first.items())


def _counts_of_sums(distinct: Mapping[int, int]) -> dict[int, int]:
    """Return the number of choices of signs that give each sum."""
    counts = {0: 1}
    for size, times in distinct.items():
        grown: dict[int, int] = {}
        ways = 1
        for j in range(times + 1):
            added = j * size
            for total, count in counts.items():
                grown[total + added] = grown.get(total + added, 0) + ways * count
            ways = ways * (times - j) // (j + 1)
        counts = grown
    return counts
