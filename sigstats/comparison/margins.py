"""Smallest drops and margins: shares, of points or bare, and numbers of a score's own unit."""

import contextlib
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .._common.numerals import significant
from .._common.scores import unit_of
from .._common.validation import as_real, refuse
from ..measures.table import MEASURES

#: A share without a unit from here on is refused: 0.5 is said of points and of shares.
_LARGE_SHARE = 0.2
_NUMBER_AND_UNIT = re.compile(r"([-+.\d]+(?:[eE][-+]?\d+)?)\s*([A-Za-z]+)")


class SaidShare(float):
    """A share whose unit was said, which may be large."""


class Amount(float):
    """A number of a score's own unit, which was said."""

    unit: str


def as_share(value: Any, name: str) -> Any:
    """A share of points (``"0.5pt"``), of per cent (``"0.5%"``) or bare; other values as they are.

    A large bare number is ValueError: 0.5 is said of points and of shares.
    """
    text = value.strip() if isinstance(value, str) else ""
    number = text.removesuffix("%").removesuffix("points").removesuffix("pt").rstrip()
    try:
        found = float(number) if text else value
    except ValueError:
        raise refuse(name, value, "a number of points such as 0.5pt or 0.5%, or a share such as 0.005") from None
    if number != text:
        return SaidShare(found / 100)
    bare = isinstance(found, (int, float)) and not isinstance(found, (bool, SaidShare))
    if bare and _LARGE_SHARE <= found <= 100:
        share = f" or {100 * found:g}pt (a share of {found:g})" if found <= 1 else ""
        raise refuse(name, found, f"{found:g}pt (a share of {found / 100:g}){share}")
    return found


def as_margin(value: Any, name: str) -> Any:
    """A margin: a share as of `as_share`, or a number of a score's own unit, bare or with it; or ValueError.

    >>> as_margin("1pt", "margins"), as_margin("20 ms", "margins"), as_margin(20, "margins")
    (0.01, 20.0, 20)
    """
    said = _NUMBER_AND_UNIT.fullmatch(value.strip()) if isinstance(value, str) else None
    if said is not None and said[2] not in ("pt", "points"):
        with contextlib.suppress(ValueError):
            value = Amount(said[1])
            value.unit = said[2]
    elif isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = float(value)
    share = isinstance(value, (str, SaidShare))
    found = as_share(value, name) if share else value
    if not share and isinstance(found, (int, float)) and not found >= 0:
        raise refuse(name, found, "0 or more")
    as_real(found, name, low=0, high=1 if share else math.inf)
    return found


def names_of(row: Any) -> tuple[str, ...]:
    """The names by which a margin may be that of a row of a comparison, the first before the others."""
    return row.slice, row.name, row.score, row.measure


def require_margins(margins: Mapping[str, float], rows: Sequence[Any]) -> None:
    """Refuse a margin of what is not compared, or in another unit than its own."""
    for name, margin in margins.items():
        named = [row for row in rows if name in names_of(row)]
        if not named:
            known = min(each for row in rows for each in names_of(row) if each)
            raise refuse("margins", name, f"a slice or a measure of the comparison, such as {known}")
        unit = margin.unit if isinstance(margin, Amount) else ""
        said, own = f"{name}={margin:g}{unit}", named[0].unit
        if any(MEASURES[row.measure].in_points for row in named):
            if unit:
                raise refuse("margins", said, f"points, such as {name}=1pt")
            as_real(as_share(margin, "margins"), "margins", low=0, high=1)
        elif unit and any(row.unit != (unit_of(unit) or unit) for row in named):
            raise refuse("margins", said, f"a number of {own}" if own else "a number without a unit")


def require_limits_used(score_range: Sequence[float] | None, names: Collection[str]) -> None:
    """Refuse limits of scores that none of the measures has."""
    if score_range is not None and not any(
        MEASURES[name].needs in ("marks", "numbers") or name == "neg-log-loss" for name in names
    ):
        raise ValueError(
            f"score_range: {score_range[0]:g} to {score_range[1]:g} says nothing of {', '.join(names)}; "
            "expected a measure of marks or numbers, neg-log-loss, or no limits"
        )


def margin_in_words(name: str, margin: float, rows: Iterable[Any], of_points: str) -> str:
    """The margin of a slice, measure or score with its sign, in points or in its own unit."""
    row = next((row for row in rows if name in names_of(row)), None)
    if row is None or MEASURES[row.measure].in_points:
        return f"{of_points} of {name}"
    return f"{'+' if row.lower_is_better else '−'}{significant(margin)}{f' {row.unit}' if row.unit else ''} of {name}"
