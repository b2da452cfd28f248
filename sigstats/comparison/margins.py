"""Smallest drops and margins: shares (in points or bare), and numbers in a score's own unit."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from .._common.messages import some_of
from .._common.numerals import significant
from .._common.validation import as_real, refuse
from ..measures.metrics import unit_of
from ..measures.table import MEASURES

#: A share of this size or more needs a unit: 0.5 may mean points or a share.
_LARGE_SHARE = 0.2
_NUMBER_AND_UNIT = re.compile(r"([-+.\d]+(?:[eE][-+]?\d+)?)\s*([A-Za-z]+|%?)")


class StatedShare(float):
    """A share with an explicit unit, which may be large."""


class Amount(float):
    """A number with an explicit unit, that of the score."""

    unit: str

    def is_in(self, unit: str) -> bool:
        """Return True if the number has this unit of a score, in any spelling."""
        return (unit_of(self.unit) or self.unit) == unit


def number_of(unit: str) -> str:
    """Describe the number expected for a score with this unit, or without a unit."""
    return f"a number {f'of {unit}' if unit else 'without a unit'}"


class PartOfBaseline(float):
    """A part of the measured baseline, given in per cent."""


def _parsed(value: Any) -> Any:
    """Return a text such as 0.5, 0.5pt, 10% or 20ms as a number of the class of its unit; anything else as it is."""
    parts = _NUMBER_AND_UNIT.fullmatch(value.strip()) if isinstance(value, str) else None
    if parts is None:
        return value
    number, unit = parts.groups()
    try:
        if unit in ("pt", "points"):
            return StatedShare(float(number) / 100)
        if unit == "%":
            return PartOfBaseline(float(number) / 100)
        amount = Amount(number)
    except ValueError:
        return value
    amount.unit = unit
    return amount if unit else float(amount)


def as_share(value: Any, name: str) -> Any:
    """Return a share in points (``"0.5pt"``) or bare; other values as they are.

    A number in a text is a `StatedShare` too. A large bare number raises ValueError: 0.5 may mean points or a share.
    """
    result = _parsed(value)
    if isinstance(value, str) and isinstance(result, (str, Amount, PartOfBaseline)):
        raise refuse(name, value, "a number of points such as 0.5pt, or a share such as 0.005")
    bare = isinstance(result, (int, float)) and not isinstance(result, (bool, StatedShare))
    if bare and _LARGE_SHARE <= result <= 100:
        share = f" or {100 * result:g}pt (a share of {result:g})" if result <= 1 else ""
        marks = f", or NAME={result:g} for a score in its own unit" * (name == "margin")
        raise refuse(name, result, f"{result:g}pt (a share of {result / 100:g}){share}{marks}")
    return StatedShare(result) if isinstance(value, str) and bare else result


def as_bar(value: Any, name: str, *, units: bool = True) -> float:
    """Return a bar, possibly in per cent (``"90%"``) or, with `units`, in a unit (``"90ms"``), or raise ValueError."""
    bar = _parsed(value)
    if isinstance(bar, Amount) and units:
        return bar
    if isinstance(bar, PartOfBaseline):
        bar = StatedShare(bar)
    elif isinstance(value, str) and isinstance(bar, (Amount, StatedShare)):
        bar = value
    try:
        return bar if isinstance(bar, StatedShare) else as_real(bar, name)
    except ValueError:
        raise refuse(name, value, "a number such as 0.9 or 90%") from None


def as_margin(value: Any, name: str) -> Any:
    """Return a margin: a share, a part of the baseline or a number in a score's unit, or raise ValueError."""
    result = _parsed(value)
    share = isinstance(result, (str, StatedShare))
    if share:
        result = as_share(result, name)
    elif isinstance(result, (int, float)) and not result >= 0:
        raise refuse(name, result, "0 or more")
    as_real(result, name, low=0, high=1 if share else math.inf)
    return result


def names_of(row: Any) -> tuple[str, ...]:
    """Return the names under which a margin may be given for a row of a comparison, in order of precedence."""
    return row.slice, row.name, row.score, row.measure


def check_margins(rule: Any, rows: Sequence[Any], *, alone: bool = False) -> None:
    """Raise ValueError if a margin of a `ComparisonRule` has a wrong unit, or is for something that is not compared.

    `alone`: the rows are of one of several measures; the others may use a share or a part of the baseline.
    """
    for name, relative in () if alone else (("minimum_effect", "relative_effect"), ("margin", "relative_margin")):
        value, part = getattr(rule, name), getattr(rule, relative)
        if isinstance(part, PartOfBaseline) and not any(row.relative for row in rows):
            raise refuse(name, in_per_cent(part), f"points, such as {100 * part:g}pt; measures without limits take %")
        stated = value != getattr(type(rule), name) or isinstance(value, StatedShare)
        if stated and part == getattr(type(rule), relative) and rows and all(row.relative for row in rows):
            names = some_of(list(dict.fromkeys(row.name for row in rows)))
            marks = f", or {rows[0].score or rows[0].name}=1{rows[0].unit}" * (name == "margin")
            per_cent = f"{significant(100 * value)}% of the baseline ({relative}={value:g})"
            raise ValueError(
                f"{name}: {value:g} ({100 * value:g}pt) is not used by {names}; expected {per_cent}{marks}"
            )
    for name, margin in rule.margins.items():
        named = [row for row in rows if name in names_of(row)]
        if not named:
            known = min(text for row in rows for text in names_of(row) if text)
            raise refuse("margins", name, f"a slice or a measure of the comparison, such as {known}")
        unit, part = margin.unit if isinstance(margin, Amount) else "", in_per_cent(margin)
        points = f"{100 * margin:g}pt" if isinstance(margin, StatedShare) else ""
        stated, expected = f"{name}={part or points or f'{margin:g}{unit}'}", named[0].unit
        if any(MEASURES[row.measure].in_points for row in named):
            if unit or part:
                raise refuse("margins", stated, f"points, such as {name}=1pt")
            as_real(as_share(margin, "margins"), "margins", low=0, high=1)
        elif (isinstance(margin, Amount) and not all(margin.is_in(row.unit) for row in named)) or (
            points and any(row.unit or row.relative for row in named)
        ):
            raise refuse("margins", stated, number_of(expected))


def in_per_cent(margin: float) -> str:
    """Return a part of the baseline as it was given; empty for other margins."""
    return f"{significant(100 * margin)}%" if isinstance(margin, PartOfBaseline) else ""


def margin_in_words(name: str, margin: float, rows: Iterable[Any]) -> str:
    """Return the margin of a slice, measure or score with its sign: in points, its unit or a part of the baseline."""
    row = next((row for row in rows if name in names_of(row)), None)
    if row is None or MEASURES[row.measure].in_points:
        return f"−{significant(100 * margin)} points of {name}"
    size = margin * row.span if isinstance(margin, StatedShare) else margin
    amount = f"{in_per_cent(margin)} of the baseline" if in_per_cent(margin) else f"{significant(size)} {row.unit}"
    return f"{'+' if row.lower_is_better else '−'}{amount.rstrip()} of {name}"
