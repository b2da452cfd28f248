"""The exact multinomial test."""

from collections.abc import Iterator
from fractions import Fraction
from math import comb, factorial, prod

from ._cases import Case

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
