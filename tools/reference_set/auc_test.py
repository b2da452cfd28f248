"""DeLong's and Obuchowski's tests of two areas under the ROC curve."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from ._cases import ALTERNATIVES, Case
from ._tails import broken_t, interval, normal, root, towards

SOURCE = (
    "DeLong, DeLong and Clarke-Pearson (1988), equations (3) to (5); of groups: Obuchowski (1997), and degrees of "
    "freedom of Brunner and Munzel (2000)."
)
METHODS = (
    "placements of every row in fractions, and the complementary error or incomplete beta function in balls",
    "all pairs of rows by their ranks in whole numbers, and the series of the normal law or an integral in balls",
)


def wins(higher: int, lower: int) -> Fraction:
    """What a positive's score is worth against a negative's."""
    return Fraction((higher > lower) - (higher < lower) + 1, 2)


def by_placements(y: list[int], a: list[int], b: list[int]) -> tuple[Fraction, Fraction]:
    """The difference A - B of the areas and its variance."""
    positives, negatives = ([i for i, each in enumerate(y) if each == kind] for kind in (1, 0))
    m, n = len(positives), len(negatives)
    gain = {(i, j): wins(a[i], a[j]) - wins(b[i], b[j]) for i in positives for j in negatives}
    area = sum(gain.values(), Fraction(0)) / (m * n)
    above = [sum((gain[i, j] for j in negatives), Fraction(0)) / n - area for i in positives]
    below = [sum((gain[i, j] for i in positives), Fraction(0)) / m - area for j in negatives]
    return area, sum(sum((x * x for x in own), Fraction(0)) / (len(own) - 1) / len(own) for own in (above, below))


def by_ranks(y: list[int], a: list[int], b: list[int]) -> tuple[Fraction, Fraction]:
    """The same from twice the mid-ranks among all rows and among the rows of a class."""

    def placed(scores: list[int], kind: int) -> list[int]:
        def doubled(x: int, among: list[int]) -> int:
            return 2 * sum(each < x for each in among) + sum(each == x for each in among) + 1

        own = [x for x, each in zip(scores, y, strict=True) if each == kind]
        return [doubled(x, scores) - doubled(x, own) for x in own]

    m, n = sum(y), len(y) - sum(y)
    ahead = [x - z for x, z in zip(placed(a, 1), placed(b, 1), strict=True)]
    behind = [x - z for x, z in zip(placed(a, 0), placed(b, 0), strict=True)]

    def variance(values: list[int], others: int) -> Fraction:
        size = len(values)
        spread = Fraction(size * sum(each**2 for each in values) - sum(values) ** 2, size * (size - 1))
        return spread / size / (2 * others) ** 2

    return Fraction(sum(ahead), 2 * m * n), variance(ahead, n) + variance(behind, m)


def of_groups(
    y: list[int], a: list[int], b: list[int], groups: list[int]
) -> tuple[Fraction, Fraction, Fraction | None]:
    """The difference, Obuchowski's variance, and degrees of freedom, by placements of the differences."""
    positives, negatives = ([i for i, each in enumerate(y) if each == kind] for kind in (1, 0))
    m, n = len(positives), len(negatives)
    gain = {(i, j): wins(a[i], a[j]) - wins(b[i], b[j]) for i in positives for j in negatives}
    area = sum(gain.values(), Fraction(0)) / (m * n)
    above, below = ({each: Fraction(0) for each in groups} for _ in range(2))
    for i in positives:
        above[groups[i]] += (sum((gain[i, j] for j in negatives), Fraction(0)) / n - area) / m
    for j in negatives:
        below[groups[j]] += (sum((gain[i, j] for i in positives), Fraction(0)) / m - area) / n
    with_one, with_other = ({groups[i] for i in own} for own in (positives, negatives))
    factors = [Fraction(len(own), len(own) - 1) for own in (with_one, with_other, above)]
    variance = sum(
        (factors[0] * above[g] ** 2 + factors[1] * below[g] ** 2 + 2 * factors[2] * above[g] * below[g] for g in above),
        Fraction(0),
    )
    parts = []
    rarer = min(len(with_one), len(with_other))
    for own, count in (
        (with_one - with_other, len(with_one)),
        (with_other - with_one, len(with_other)),
        (with_one & with_other, rarer),
    ):
        left = 1 - Fraction(1, count)
        parts.append((sum(((above[g] + below[g]) ** 2 for g in own), Fraction(0)) / left, len(own) * left))
    return area, variance, welch(parts)


def of_groups_by_ranks(y: list[int], a: list[int], b: list[int], groups: list[int]) -> tuple[Fraction, Fraction]:
    """The difference and the variance from both areas' own sums of ranks: var A + var B - 2 cov (A, B)."""
    m, n = sum(y), len(y) - sum(y)

    def sums(scores: list[int], kind: int) -> dict[int, Fraction]:
        """Of each group: how many rows of the other class its rows are ahead of, less what is expected, as shares."""

        def doubled(x: int, among: list[int]) -> int:
            return 2 * sum(each < x for each in among) + sum(each == x for each in among) + 1

        own = [x for x, each in zip(scores, y, strict=True) if each == kind]
        placed = {i: doubled(scores[i], scores) - doubled(scores[i], own) for i, each in enumerate(y) if each == kind}
        others = len(y) - len(own)
        mean = Fraction(sum(placed.values()), len(own))
        found = {each: Fraction(0) for each in groups}
        for i, each in placed.items():
            found[groups[i]] += (each - mean) / (2 * others * len(own))
        return found

    def area(scores: list[int]) -> Fraction:
        twice = sum(
            2 * sum(z < x for z in scores) + sum(z == x for z in scores) + 1
            for x, k in zip(scores, y, strict=True)
            if k
        )
        return Fraction(twice - m * (m + 1), 2 * m * n)

    # Less wins of negatives is more area: their sums count with the other sign.
    up = [sums(scores, 1) for scores in (a, b)]
    down = [{group: -value for group, value in sums(scores, 0).items()} for scores in (a, b)]
    counts = [len({g for g, each in zip(groups, y, strict=True) if each == kind}) for kind in (1, 0)]

    def covariance(x: int, z: int) -> Fraction:
        one = sum((up[x][g] * up[z][g] for g in up[0]), Fraction(0)) * counts[0] / (counts[0] - 1)
        other = sum((down[x][g] * down[z][g] for g in up[0]), Fraction(0)) * counts[1] / (counts[1] - 1)
        mixed = sum((up[x][g] * down[z][g] + up[z][g] * down[x][g] for g in up[0]), Fraction(0))
        return one + other + mixed * len(up[0]) / (len(up[0]) - 1)

    return area(a) - area(b), covariance(0, 0) + covariance(1, 1) - 2 * covariance(0, 1)


def welch(parts: list[tuple[Fraction, Fraction]]) -> Fraction | None:
    """Welch and Satterthwaite's degrees of freedom of a sum of variances; None where it is 0."""
    total = sum((variance for variance, _ in parts), Fraction(0))
    if not total:
        return None
    return total**2 / sum((variance**2 / freedom for variance, freedom in parts if variance), Fraction(0))


def drawn(seed: int, m: int, n: int, levels: int, better: int) -> tuple[list[int], list[int], list[int]]:
    """Whole scores of m positives and n negatives; those of A are the better ones."""
    draw = random.Random(seed)
    y = [1] * m + [0] * n
    draw.shuffle(y)
    a = [draw.randint(0, levels) + better * each for each in y]
    return y, a, [draw.randint(0, levels) + each for each in y]


def cases() -> Iterator[Case]:
    """Ties, few rows of a class, far tails."""
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    examples = {
        "easy": [(y, [1, 4, 6, 3, 5, 2, 8, 7], [1, 2, 3, 5, 4, 6, 8, 9]), drawn(1, 4, 5, 3, 2), drawn(2, 6, 6, 9, 3)],
        "average": [drawn(3, 15, 25, 20, 9), drawn(4, 30, 12, 4, 2), drawn(5, 25, 25, 100, 70), drawn(6, 8, 50, 30, 3)],
        "hard": [
            drawn(7, 2, 40, 50, 30),
            drawn(8, 60, 60, 12, 12),
            drawn(9, 45, 3, 2, 1),
            drawn(10, 80, 60, 1000, 900),
        ],
    }
    for difficulty, data in examples.items():
        for y, a, b in data:
            area, variance = by_placements(y, a, b)
            if (area, variance) != by_ranks(y, a, b):
                raise ValueError(f"areas of {y}, {a}, {b} differ")
            for alternative in ALTERNATIVES:
                given = {"y": y, "score_a": a, "score_b": b, "alternative": alternative}
                yield Case(difficulty, given, _values(y, a, b, area, variance, alternative))
    yield from in_groups()


def _values(
    y: list[int], a: list[int], b: list[int], area: Fraction, variance: Fraction, alternative: str
) -> dict[str, tuple[Any, Any]]:
    """All that is known of a test by the normal law; ends of the interval beyond -1 or 1 are cut."""
    areas = []
    for scores in (a, b):
        ahead, pairs = Fraction(0), 0
        for (k, x), (other, z) in product(zip(y, scores, strict=True), repeat=2):
            if k > other:
                ahead, pairs = ahead + wins(x, z), pairs + 1
        areas.append(ahead / pairs)
    ends = {
        name: each
        for name, each in interval(area, variance, None, alternative).items()
        if all(abs(value) < 1 for value in each)
    }
    return {
        "pvalue": normal(area, variance, alternative),
        "estimate": (area, areas[0] - areas[1]),
        "standard_error": root(variance),
        **ends,
    }


def in_groups() -> Iterator[Case]:
    """Groups of unequal size, of one class each or of both; the normal law and Student's."""
    settings = {
        "easy": [(21, 6, 8, 4, 9, 4), (22, 10, 10, 7, 5, 3)],
        "average": [(23, 20, 30, 12, 20, 9), (24, 25, 15, 8, 3, 1), (25, 30, 30, 15, 100, 60)],
        "hard": [(26, 5, 40, 20, 50, 20), (27, 50, 50, 30, 1000, 700)],
    }
    for difficulty, each in settings.items():
        for seed, m, n, count, levels, better in each:
            y, a, b = drawn(seed, m, n, levels, better)
            draw = random.Random(seed)
            groups = [draw.randrange(count) if seed % 2 else (draw.randrange(count) * 2 + each) for each in y]
            area, variance, degrees = of_groups(y, a, b, groups)
            if (area, variance) != of_groups_by_ranks(y, a, b, groups) or degrees is None:
                raise ValueError(f"areas of {y}, {a}, {b} in {groups} differ")
            given = {"y": y, "score_a": a, "score_b": b, "groups": groups}
            for alternative in ALTERNATIVES:
                yield Case(
                    difficulty, {**given, "alternative": alternative}, _values(y, a, b, area, variance, alternative)
                )
            for alternative in ALTERNATIVES[:2]:
                both = broken_t(area**2 / variance, degrees)
                value = towards(both, (area > 0) - (area < 0), alternative)
                yield Case(difficulty, {**given, "alternative": alternative, "method": "t"}, {"pvalue": value})
