"""Integer keys by which partial outcomes are merged and compared without rounding.

A partial outcome has the counts of some columns (classes). Its key packs non-negative integers (fields) into 64-bit
words, wide enough for the sum over all columns; so keys of columns add up to the key of an outcome as plain integer
addition. The fields depend on the statistic:

- `binomial_keys`, of tables with given margins: the exponents of the primes in the product of binomial coefficients.
  Equal keys mean equal weights, so that outcomes may be merged; compact for small columns. Where the exponents would
  take too many words, the cell counts themselves: nothing merges, but the weight of a near tie is still exact.
- `chi_square_keys` and `multinomial_keys`, of counts of classes: sums over the classes of equal probability.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._common.validation import IntArray

Words: TypeAlias = NDArray[np.uint64]
#: If prime exponents take more words than this, the cell counts are packed in their place.
MAX_PRIME_WORDS = 3
#: From here on there are more primes than `MAX_PRIME_WORDS` words have bits.
_PRIME_LIMIT = 1181
#: Binomial coefficients of totals up to this often agree in their primes.
SMALL_TOTAL = 31


@dataclass(frozen=True)
class Packing:
    """The places of fields in words."""

    #: The word of each field, the position of its lowest bit, and its bits; arrays of shape (fields,).
    word: IntArray
    shift: IntArray
    width: IntArray
    #: The number of words.
    words: int

    @classmethod
    def of(cls, bounds: Sequence[int]) -> "Packing":
        """Return the places of fields from 0 to each of `bounds`."""
        places, word, used = [], 0, 0
        for bound in bounds:
            width = max(int(bound).bit_length(), 1)
            if used + width > 64:
                word, used = word + 1, 0
            places.append((word, used, width))
            used += width
        words, shifts, widths = np.array(places, dtype=np.int64).reshape(-1, 3).T
        return cls(words, shifts, widths, word + 1 if places else 0)

    def pack(self, fields: IntArray) -> Words:
        """Pack rows of fields into rows of words."""
        shifted = fields.astype(np.uint64) << self.shift.astype(np.uint64)
        out = np.zeros((len(fields), self.words), dtype=np.uint64)
        for word in range(self.words):
            out[:, word] = shifted[:, self.word == word].sum(axis=1, dtype=np.uint64)
        return out

    def unpack(self, key: Words) -> list[int]:
        """Unpack one row of words into its fields."""
        return [
            (int(key[w]) >> int(s)) & ((1 << int(b)) - 1)
            for w, s, b in zip(self.word, self.shift, self.width, strict=True)
        ]


@dataclass(frozen=True)
class Keys:
    """The keys of the outcomes of a problem."""

    packing: Packing
    #: ``fields(j, x)``: the fields of column j at the counts x, one row each.
    fields: Callable[[int, IntArray], IntArray]
    #: True if equal keys mean equal scores, so that partial outcomes may be merged by them.
    merging: bool
    #: ``weight(fields)``: the exact integer by which near ties are told apart.
    weight: Callable[[list[int]], int] | None = None

    def table(self, column: int, x: IntArray) -> Words:
        """Return the keys of one column at the counts `x`."""
        return self.packing.pack(self.fields(column, x))


def binomial_keys(totals: Sequence[int]) -> Keys:
    """Return keys of the weight ``prod_j C(totals[j], x[j])``."""
    counts = Packing.of(totals)
    # Products of binomials of large, different totals hardly ever agree: merging would cost more than it saves.
    may_merge = len(set(totals)) < len(totals) or min(totals) <= SMALL_TOTAL
    if may_merge and max(totals) < _PRIME_LIMIT:
        primes = primes_to(max(totals))
        packing = Packing.of([sum(_exponent_bound(c, p) for c in totals) for p in primes])
        if packing.words <= max(MAX_PRIME_WORDS, counts.words):
            return Keys(
                packing,
                lambda j, x: binomial_exponents(totals[j], x, primes),
                merging=True,
                weight=lambda fields: math.prod(p**e for p, e in zip(primes, fields, strict=True)),
            )

    def count_fields(j: int, x: IntArray) -> IntArray:
        out = np.zeros((len(x), len(totals)), dtype=np.int64)
        out[:, j] = x
        return out

    def weight(fields: list[int]) -> int:
        from flint import fmpz  # coefficients of 10^5 bits and more: milliseconds here, seconds in math.comb

        return int(math.prod((fmpz.bin_uiui(c, x) for c, x in zip(totals, fields, strict=True)), start=fmpz(1)))

    return Keys(counts, count_fields, merging=False, weight=weight)


def chi_square_keys(probabilities: Sequence[Fraction], total: int) -> Keys:
    """Return keys of the chi-square statistic; their exact `weight` decreases as the statistic increases."""
    distinct = list(dict.fromkeys(probabilities))
    common = math.lcm(*(fraction.numerator for fraction in distinct))
    units = [common // fraction.numerator * fraction.denominator for fraction in distinct]
    shared = math.gcd(*units)

    def weight(fields: list[int]) -> int:
        squares = fields[len(distinct) :]
        return -sum(square * (unit // shared) for square, unit in zip(squares, units, strict=True))

    return _squares_keys([distinct.index(probability) for probability in probabilities], total, weight)


def multinomial_keys(probabilities: Sequence[float], total: int, ordering: str) -> Keys | None:
    """Return keys of partial outcomes; None if no two classes have the same probability, or for likelihood ratios.

    Equal keys mean equal statistics: classes of equal probability share fields, the sum of their counts and that of the
    terms of the statistic (the exponents of primes in x!, or x squared).
    """
    distinct = list(dict.fromkeys(probabilities))
    if len(distinct) == len(probabilities) or ordering == "likelihood-ratio":
        return None
    group, size = [distinct.index(probability) for probability in probabilities], len(distinct)
    if ordering == "chi2":
        return _squares_keys(group, total, None)
    primes = primes_to(total)
    bounds = factorial_exponents(np.array([total]), primes)[0].tolist()
    packing = Packing.of([total] * size + bounds)
    if packing.words > 3 * MAX_PRIME_WORDS:
        return None

    def factorial_fields(j: int, x: IntArray) -> IntArray:
        out = np.zeros((len(x), size + len(primes)), dtype=np.int64)
        out[:, group[j]] = x
        out[:, size:] = factorial_exponents(x, primes)
        return out

    return Keys(packing, factorial_fields, merging=True)


def _squares_keys(group: Sequence[int], total: int, weight: Callable[[list[int]], int] | None) -> Keys:
    """Return keys of the sums of counts and of squared counts in each group. `group`: that of each class, from 0."""
    size = max(group) + 1

    def fields(j: int, x: IntArray) -> IntArray:
        out = np.zeros((len(x), 2 * size), dtype=np.int64)
        out[:, group[j]] = x
        out[:, size + group[j]] = x * x
        return out

    return Keys(Packing.of([total] * size + [total * total] * size), fields, merging=True, weight=weight)


def primes_to(n: int) -> list[int]:
    """Return the primes up to `n`."""
    sieve = np.ones(n + 1, dtype=bool)
    sieve[:2] = False
    for p in range(2, math.isqrt(n) + 1):
        if sieve[p]:
            sieve[p * p :: p] = False
    return [int(p) for p in np.flatnonzero(sieve)]


def factorial_exponents(x: IntArray, primes: Sequence[int]) -> IntArray:
    """Return the exponents of the primes in x!, one row for each x (Legendre's formula)."""
    out = np.zeros((len(x), len(primes)), dtype=np.int64)
    largest = int(x.max(initial=0))
    power = np.array(primes, dtype=np.int64)
    live = np.flatnonzero(power <= largest)
    while live.size:
        out[:, live] += x[:, None] // power[live]
        power[live] *= np.array(primes, dtype=np.int64)[live]
        live = live[power[live] <= largest]
    return out


def binomial_exponents(n: int, x: IntArray, primes: Sequence[int]) -> IntArray:
    """Return the exponents of the primes in C(n, x), one row for each x."""
    top = factorial_exponents(np.array([n]), primes)
    return top - factorial_exponents(x, primes) - factorial_exponents(n - x, primes)


def _exponent_bound(c: int, p: int) -> int:
    """Return the largest exponent of p in any C(c, x): floor(log_p c), by Kummer's theorem."""
    exponent = 0
    while c >= p:
        c //= p
        exponent += 1
    return exponent
