"""Two independent samples of fuzzy classes."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from . import _fuzzy
from ._cases import Case
from ._fuzzy import METHODS as METHODS
from ._fuzzy import SOURCE as SOURCE
from .homogeneity_test import merged, one_by_one


def over(test: Callable[[list[int], list[int]], Fraction], ones: Any, others: Any) -> tuple[Fraction, Fraction]:
    """The ends of the p-value over pairs of counts; of one class alone it is 1."""

    def p(a: tuple[int, ...], b: tuple[int, ...]) -> Fraction:
        seen = [(x, y) for x, y in zip(a, b, strict=True) if x + y]
        return test([x for x, _ in seen], [y for _, y in seen]) if len(seen) > 1 else Fraction(1)

    return _fuzzy.extremes(p(a, b) for a in ones for b in others)


def cases() -> Iterator[Case]:
    """Two to four classes; the two samples are alike, or lean to different classes."""
    for seed, (difficulty, n, k, unsure) in enumerate(_fuzzy.shapes()):
        both = _fuzzy.drawn(seed, n, k, min(unsure, 4)), _fuzzy.drawn(seed + 100, n // 2 + 2, k, 2, lean=seed % k)

        def first(degree: Fraction, both: Any = both, k: int = k) -> tuple[Any, Any]:
            return over(one_by_one, *(_fuzzy.listed(_fuzzy.choices(each, degree), k) for each in both))

        def second(degree: Fraction, both: Any = both, k: int = k) -> tuple[Any, Any]:
            return over(merged, *(_fuzzy.grown(_fuzzy.choices(each, degree), k) for each in both))

        given = {"first": both[0], "second": both[1]}
        yield Case(difficulty, given, _fuzzy.ends(_fuzzy.degrees(*both), first, second))
