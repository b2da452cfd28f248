"""The certified Fourier bounds against whole numbers, on tables of more outcomes than any list of this package holds.

The weights are powers of 2, or products of powers of 2 and 3, so that a plain recursion over the exponents counts all
outcomes of a sum in Python's integers: no floating number and no transform is in the truth.
"""

import math
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from sigstats.conditional.fourier_bounds import bounds, grouped
from sigstats.conditional.tail import STATE_LIMIT

#: Room for a number of outcomes in the whole numbers of `law`.
BITS = 256


@cache
def law(columns, total, bases):
    """The outcomes whose counts sum to `total`, exactly: sorted pairs of a weight and how many outcomes have it.

    A column is a tuple of the exponents of its counts 0, 1, ...; an exponent is one of each of the `bases`. The numbers
    of all exponents stand side by side in one long whole number, so that a count of a column shifts it.
    """
    powers = 1 + sum(max(first for first, *_ in column) for column in columns)
    states = {0: 1}
    room = sum(len(column) - 1 for column in columns)
    for column in columns:
        room -= len(column) - 1
        following = Counter()
        for count, packed in states.items():
            for x, exponents in enumerate(column):
                if count + x <= total <= count + x + room:
                    shift = sum(power * powers**place for place, power in enumerate(exponents))
                    following[count + x] += packed << (BITS * shift)
        states = following
    number, found = states[total], []
    digits = number.to_bytes(-(-number.bit_length() // 8), "little")
    for place in range(0, len(digits), BITS // 8):
        times = int.from_bytes(digits[place : place + BITS // 8], "little")
        if times:
            high, low = divmod(place * 8 // BITS, powers)
            found.append((math.prod(base**power for base, power in zip(bases, (low, high), strict=False)), times))
    return sorted(found)


def compared(columns, total, share, width, bases):
    """The bounds where about `share` of the probability lies at or below the observed score, and the truth."""
    found = law(columns, total, bases)
    everything = sum(each * number for each, number in found)
    below, at = Fraction(0), 0
    while below < Fraction(share) * everything:
        below += found[at][0] * found[at][1]
        at += 1
    # Between two weights, so that rounding decides nothing.
    observed = (_log(found[at - 1][0]) + _log(found[at][0])) / 2
    logs = np.array([_log(base) for base in bases])
    scores = [np.array(column) @ logs for column in columns]
    labels = [hash(column) for column in columns]
    gap = _log(found[at][0]) - _log(found[at - 1][0])
    low, high = bounds(
        grouped(scores, labels), total, observed, _log(everything), slack=min(1e-10, gap / 4), width=width
    )
    assert sum(number for _, number in found) > STATE_LIMIT**2
    return low, below / everything, high


def _log(number):
    number = Fraction(number)
    return math.log(number.numerator) - math.log(number.denominator)


def parabolas(rng, k, copies):
    """Columns of weights (1/2)^(a (x - c)^2), which are concave scores as those of all tests are."""
    made = []
    for _ in range(k):
        a, c, size = (int(rng.integers(low, high)) for low, high in ((1, 3), (1, 5), (6, 10)))
        made.append(tuple((a * (x - c) ** 2,) for x in range(size)))
    return tuple(made) * copies


#: The exponents of 2 and 3 in the binomial coefficients of 1, 2, 3, 4: the columns of a 2 x K table of such totals.
BINOMIAL = {
    1: ((0, 0), (0, 0)),
    2: ((0, 0), (1, 0), (0, 0)),
    3: ((0, 0), (0, 1), (0, 1), (0, 0)),
    4: ((0, 0), (2, 0), (1, 1), (2, 0), (0, 0)),
}


@pytest.mark.long
@pytest.mark.parametrize("share", ["0.5", "0.05", "1e-4", "1e-6"])
@pytest.mark.parametrize(("k", "copies"), [(5, 6), (3, 20)])
def test_the_truth_lies_between_the_bounds_of_powers_of_two(k, copies, share):
    columns = parabolas(np.random.default_rng(k), k, copies)
    total = sum(min(range(len(column)), key=lambda x: column[x]) for column in columns) + 2
    low, truth, high = compared(columns, total, share, 1e-2, (Fraction(1, 2),))
    assert low <= truth <= high
    assert high - low <= 1e-2 * high


@pytest.mark.parametrize("share", ["0.3", "1e-3"])
def test_and_of_a_table_of_small_columns(share):
    columns = tuple(BINOMIAL[size] for size in (1, 2, 3, 4) for _ in range(16))
    low, truth, high = compared(columns, 70, share, 5e-2, (Fraction(2), Fraction(3)))
    assert low <= truth <= high
    assert high - low <= 5e-2 * high
