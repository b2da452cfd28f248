"""The number correct of objects whose true and assigned classes are fuzzy."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from . import _fuzzy
from ._cases import Case
from ._fuzzy import METHODS as METHODS
from ._fuzzy import SOURCE as SOURCE
from .efficiency_test import by_rooks, by_tables

Table = tuple[tuple[int, ...], ...]


def listed(true: list[list[int]], assigned: list[list[int]], k: int) -> set[Table]:
    """The tables of all pairs of readings, one by one."""
    found = set()
    for rows, columns in product(product(*true), product(*assigned)):
        pairs = list(zip(rows, columns, strict=True))
        found.add(tuple(tuple(pairs.count((i, j)) for j in range(k)) for i in range(k)))
    return found


def grown(true: list[list[int]], assigned: list[list[int]], k: int) -> set[Table]:
    """The same, object by object."""
    found: set[Table] = {((0,) * k,) * k}
    for own, named in zip(true, assigned, strict=True):
        cells = [(i, j) for i in own for j in named]
        found = {
            tuple(tuple(x + ((r, c) == cell) for c, x in enumerate(row)) for r, row in enumerate(table))
            for table in found
            for cell in cells
        }
    return found


def cases() -> Iterator[Case]:
    """Two to four classes; as many objects are unsure in truth as in name, up to six in all."""
    for seed, (difficulty, n, k, unsure) in enumerate(_fuzzy.shapes()):
        true = _fuzzy.drawn(seed, n, k, min(unsure, 3))
        assigned = [list(row) for row in true[::-1][: n // 3]] + _fuzzy.drawn(seed + 50, n - n // 3, k, min(unsure, 2))
        both = true, assigned

        def first(degree: Fraction, both: Any = both, k: int = k) -> tuple[Any, Any]:
            tables = listed(*(_fuzzy.choices(each, degree) for each in both), k)
            return _fuzzy.extremes(by_tables([list(row) for row in table]) for table in tables)

        def second(degree: Fraction, both: Any = both, k: int = k) -> tuple[Any, Any]:
            tables = grown(*(_fuzzy.choices(each, degree) for each in both), k)
            return _fuzzy.extremes(by_rooks([list(row) for row in table]) for table in tables)

        yield Case(difficulty, {"y": true, "assigned": assigned}, _fuzzy.ends(_fuzzy.degrees(*both), first, second))
