"""The mean of scores: Student's t of rows, and of groups of rows."""

import random
from collections.abc import Iterator
from fractions import Fraction

from ._cases import ALTERNATIVES, Case
from ._tails import METHODS as METHODS
from ._tails import interval, one_sided, root

SOURCE = "Student's t of paired differences; of groups: Liang and Zeger (1986), times G / (G - 1). Scores are doubles."


def _of_one(values: list[Fraction], groups: list[int]) -> tuple[Fraction, Fraction]:
    """The mean of a column, and its variance by groups."""
    rows, units = len(values), len(set(groups))
    mean, sums = sum(values, Fraction(0)) / rows, dict.fromkeys(groups, Fraction(0))
    for group, value in zip(groups, values, strict=True):
        sums[group] += (value - mean) / rows
    return mean, sum((each**2 for each in sums.values()), Fraction(0)) * units / (units - 1)


def cases() -> Iterator[Case]:
    """Marks in quarters, of rows and of groups of unequal size."""
    draw = random.Random(6)
    settings = {
        "easy": [(12, 0, 0), (20, 0, 1), (30, 0, -1), (24, 8, 0), (40, 10, 1)],
        "average": [(100, 0, 1), (200, 0, 0), (150, 40, 1), (90, 12, -1)],
        "hard": [(400, 0, 3), (300, 50, 3), (60, 2, 0)],
    }
    for difficulty, listed in settings.items():
        for rows, count, shift in listed:
            score_a = [draw.randint(0, 8) / 4 for _ in range(rows)]
            score_b = [draw.randint(0, 8) / 4 + shift / 4 for _ in range(rows)]
            # As the test is told: A better is a difference A - B above 0.
            values = [Fraction(a) - Fraction(b) for a, b in zip(score_a, score_b, strict=True)]
            mean = sum(values, Fraction(0)) / rows
            groups = (
                [draw.randrange(count) if row >= count else row for row in range(rows)] if count else list(range(rows))
            )
            units, variance = len(set(groups)), _of_one(values, groups)[1]
            sign = (mean > 0) - (mean < 0)
            for alternative in ALTERNATIVES:
                given: dict[str, object] = {"score_a": score_a, "score_b": score_b, "alternative": alternative}
                if count:
                    given["groups"] = groups
                means = [sum(map(Fraction, scores), Fraction(0)) / rows for scores in (score_a, score_b)]
                values_of = {
                    "pvalue": one_sided(mean**2 / variance, sign, units - 1, alternative),
                    "estimate": (mean, means[0] - means[1]),
                    "standard_error": root(variance),
                    **interval(mean, variance, units - 1, alternative),
                }
                for name, scores in (("interval_a", score_a), ("interval_b", score_b)):
                    both = interval(*_of_one(list(map(Fraction, scores)), groups), units - 1, "two-sided")
                    values_of |= {name + end.removeprefix("confidence_interval"): each for end, each in both.items()}
                yield Case(difficulty, given, values_of)
