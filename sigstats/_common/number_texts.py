"""Columns of strings that are, or seem to be, numbers."""

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?|[+-]?inf(?:inity)?", re.IGNORECASE | re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?", re.ASCII)


def is_number(text: str) -> bool:
    """Return True if a text is a decimal number, or infinity; for names of classes see `class_spelling`."""
    return _NUMBER.fullmatch(text) is not None


def number_problem(texts: Sequence[str], *, nominal: bool = False) -> tuple[list[str], str] | None:
    """Return the strings of a column that make its kind ambiguous, and why they do; None if there are none.

    `nominal`: strings are categories, even if all are numbers; numbers with decimals are then ambiguous, too.
    """
    others = [text for text in texts if not is_number(text)]
    if others and all(map(_DECIMAL_COMMA.fullmatch, others)):
        return others, "has a decimal comma"
    if others:
        return (others, "is not a number, but other values are") if len(others) < len(texts) else None
    decimals = [text for text in texts if nominal and not float(text).is_integer()]
    return (decimals, "is a number stored as text") if decimals else None
