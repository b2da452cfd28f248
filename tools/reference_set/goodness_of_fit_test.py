"""The exact multinomial test."""

from collections.abc import Iterator
from fractions import Fraction
from math import comb, factorial, prod

from ._cases import Case
from ._tails import upper_chi2

SOURCE = "Hryniewicz, equations (14) and (15): all outcomes that are no likelier than the observed one."
METHODS = (
    "all outcomes, one by one, by multinomial probabilities",
    "classes merged one by one, by binomial probabilities",
)


def outcomes(total: int, classes: int) -> Iterator[tuple[int, ...]]:
    """All counts of `total` objects in so many classes."""
    if classes == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in outcomes(total - first, classes - 1):
            yield (first, *rest)


def one_by_one(counts: list[int], p: list[Fraction]) -> Fraction:
    """The probability of all outcomes no likelier than the observed one."""
    n = sum(counts)

    def probability(x: tuple[int, ...]) -> Fraction:
        return Fraction(factorial(n), prod(map(factorial, x))) * prod(q**k for q, k in zip(p, x, strict=True))

    observed = probability(tuple(counts))
    return sum((value for x in outcomes(n, len(p)) if (value := probability(x)) <= observed), Fraction(0))


def merged(counts: list[int], p: list[Fraction]) -> Fraction:
    """The same by conditional binomials, with outcomes of equal probability merged."""
    n = sum(counts)
    states: dict[int, dict[Fraction, int]] = {0: {Fraction(1): 1}}
    gone = Fraction(0)
    for q in p[:-1]:
        share = q / (1 - gone)
        grown: dict[int, dict[Fraction, int]] = {}
        for used, laws in states.items():
            left = n - used
            for k in range(left + 1):
                factor = comb(left, k) * share**k * (1 - share) ** (left - k)
                place = grown.setdefault(used + k, {})
                for value, count in laws.items():
                    place[value * factor] = place.get(value * factor, 0) + count
        states, gone = grown, gone + q
    used, observed, gone = 0, Fraction(1), Fraction(0)
    for k, q in zip(counts[:-1], p[:-1], strict=True):
        share = q / (1 - gone)
        observed *= comb(n - used, k) * share**k * (1 - share) ** (n - used - k)
        used, gone = used + k, gone + q
    found = (value * count for laws in states.values() for value, count in laws.items() if value <= observed)
    return sum(found, Fraction(0))


def in_whole_numbers(counts: list[int], parts: list[int]) -> tuple[Fraction, Fraction]:
    """The same for probabilities that are parts of a whole number, both ways: for a hundred objects."""
    n, numerators = sum(counts), [[part**x for x in range(sum(counts) + 1)] for part in parts]
    arrangements = [factorial(n) // factorial(x) for x in range(n + 1)]

    def weight(x: tuple[int, ...]) -> int:
        ways = arrangements[x[0]] // prod(map(factorial, x[1:]))
        return ways * prod(powers[k] for powers, k in zip(numerators, x, strict=True))

    observed = weight(tuple(counts))
    first = sum(value for x in outcomes(n, len(parts)) if (value := weight(x)) <= observed)
    states: dict[int, dict[int, int]] = {0: {1: 1}}
    for j, powers in enumerate(numerators):
        grown: dict[int, dict[int, int]] = {}
        for used, laws in states.items():
            for k in range(n - used + 1) if j < len(parts) - 1 else (n - used,):
                factor, place = comb(n - used, k) * powers[k], grown.setdefault(used + k, {})
                for value, count in laws.items():
                    place[value * factor] = place.get(value * factor, 0) + count
        states = grown
    second = sum(value * count for value, count in states[n].items() if value <= observed)
    return Fraction(first, sum(parts) ** n), Fraction(second, sum(parts) ** n)


def published() -> Iterator[Case]:
    """Tables 10 and section 4 of Hryniewicz, whose figures are partly misprinted."""
    for parts, printed in (([20, 30, 49, 1], "0.0011, a misprint of 0.0107"), ([20, 30, 48, 2], "0.132")):
        given = {"counts": [15, 30, 50, 5], "probabilities": [part / 100 for part in parts], "method": "exact"}
        note = f"Hryniewicz, Table 10, which prints {printed}"
        yield Case("hard", given, {"pvalue": in_whole_numbers(given["counts"], parts)}, note)
    kernels = [29, 29, 32, 15]
    for parts, printed in (
        ([300, 324, 310, 66], "0.018, a misprint of 0.0158"),
        ([319, 310, 314, 57], "0.002"),
    ):
        expected = [Fraction(sum(kernels) * part, 1000) for part in parts]
        statistic = sum(((x - e) ** 2 / e for x, e in zip(kernels, expected, strict=True)), Fraction(0))
        given = {"counts": kernels, "probabilities": [part / 1000 for part in parts], "method": "chi2"}
        note = f"Hryniewicz, section 4, wheat kernels, which prints {printed}"
        yield Case("average", given, {"pvalue": upper_chi2(statistic, 3)}, note)


def cases() -> Iterator[Case]:
    """Dyadic probabilities, which floats hold exactly, so that ties are ties."""
    samples = {
        "easy": [
            ([3, 1], [1, 1]), ([5, 0], [1, 1]), ([2, 6], [1, 3]), ([0, 4], [3, 1]), ([1, 1], [1, 1]), ([7, 3], [1, 1]),
            ([2, 1, 1], [2, 1, 1]), ([0, 3, 3], [2, 1, 1]), ([4, 0, 0], [1, 1, 2]), ([1, 2, 5], [4, 2, 2]),
        ],
        "average": [
            ([20, 10], [1, 1]), ([30, 5], [3, 1]), ([10, 4, 6], [2, 1, 1]), ([3, 9, 8], [8, 4, 4]),
            ([2, 5, 1, 4], [1, 1, 1, 1]), ([6, 1, 1, 0], [4, 2, 1, 1]), ([0, 0, 6, 6], [1, 1, 1, 1]),
            ([12, 3, 1], [9, 4, 3]), ([5, 5, 5], [4, 8, 4]), ([9, 3, 3, 1], [9, 3, 3, 1]),
        ],
        "hard": [
            ([60, 0], [1, 1]), ([150, 130], [1, 1]), ([0, 40], [15, 1]), ([15, 0, 0], [1, 1, 14]),
            ([2, 1, 8], [1, 1, 1022]), ([8, 0, 0, 0], [1, 1, 1, 5]), ([3, 2, 2, 1, 4], [1, 1, 2, 2, 2]),
            ([30, 28, 2], [512, 480, 32]), ([9, 3, 3, 1], [4, 4, 4, 4]), ([1, 25, 0], [1, 62, 1]),
        ],
    }  # fmt: skip
    for difficulty, pairs in samples.items():
        for counts, parts in pairs:
            p = [Fraction(part, sum(parts)) for part in parts]
            given = {"counts": counts, "probabilities": [float(q) for q in p], "method": "exact"}
            yield Case(difficulty, given, {"pvalue": (one_by_one(counts, p), merged(counts, p))})
    yield from published()
