"""Goodness of fit of fuzzy classes."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from . import _fuzzy
from ._cases import Case
from ._fuzzy import METHODS as METHODS
from ._fuzzy import SOURCE as SOURCE
from .goodness_of_fit_test import merged, one_by_one


def cases() -> Iterator[Case]:
    """Two to four classes of dyadic probabilities."""
    for seed, (difficulty, n, k, unsure) in enumerate(_fuzzy.shapes()):
        assigned = _fuzzy.drawn(seed, n, k, unsure, lean=seed % k)
        p = [Fraction(part, 4) for part in {2: [1, 3], 3: [1, 1, 2], 4: [1, 1, 1, 1]}[k]]

        def first(degree: Fraction, objects: Any = assigned, p: Any = p) -> tuple[Any, Any]:
            counts = _fuzzy.listed(_fuzzy.choices(objects, degree), len(p))
            return _fuzzy.extremes(one_by_one(list(each), p) for each in counts)

        def second(degree: Fraction, objects: Any = assigned, p: Any = p) -> tuple[Any, Any]:
            counts = _fuzzy.grown(_fuzzy.choices(objects, degree), len(p))
            return _fuzzy.extremes(merged(list(each), p) for each in counts)

        given = {"assigned": assigned, "probabilities": [float(each) for each in p]}
        yield Case(difficulty, given, _fuzzy.ends(_fuzzy.degrees(assigned), first, second))
