"""Dates in texts: the usual forms, those that sort by time, and the order of texts with numbers or dates."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from .messages import refuse
from .numerals import natural

_MONTH = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
_DAY = "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
#: Words and numbers of dates that do not sort by time.
_UNORDERED = re.compile(
    rf"(?i)(?<![a-z])(?:{_MONTH}|nov(?:ember)?|dec(?:ember)?|{_DAY})(?![a-z])"
    r"|(?<!\d)\d\d?([-._/ ])\d\d?\1(?:19|20)\d\d(?!\d)"
)
#: A text that begins with a date of ISO 8601; a value that begins with a date, and has no more than a time after it.
_ISO_DATE = re.compile(r"\d{4}-?\d\d-?\d\d(?!\d)")
DATE = re.compile(r"\d{4}-?\d\d-?\d\d([T ]|$)|\d\d?[./-]\d\d?[./-]\d{4}\b")
#: Whole texts that sort by time, for Arrow: dates of ISO 8601, with or without hyphens, or of weeks; and a year.
SORTED_DATE = (
    r"^((19|20)[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])$|[0-9]{4}-([0-9]{2}-[0-9]{2}([T ]|$)|W[0-9]{2}(-[1-7])?$))"
)
YEAR = r"\b(19|20)[0-9]{2}\b"
_DECIMAL = re.compile(r"-?\d+\.\d+")


def unordered_dates(texts: Iterable[str]) -> list[str]:
    """Parts of texts that look like dates and do not sort by time; empty if the texts have at most one of them.

    >>> unordered_dates(["31.01.2023", "01.02.2023"]), unordered_dates(["2023-01-31", "2023-02-01"])
    (['31.01.2023', '01.02.2023'], [])
    """
    parts = dict.fromkeys(match[0] for text in texts for match in _UNORDERED.finditer(text))
    return [*parts] if len({part.casefold() for part in parts}) > 1 else []


def refuse_other_order(name: str, texts: Sequence[str]) -> None:
    """Refuse sorted texts if their numbers or dates are not in the same order."""
    if all(map(_ISO_DATE.match, texts)):
        return
    decimals = all(map(_DECIMAL.fullmatch, texts))
    if sorted(texts, key=float if decimals else natural) != texts or unordered_dates(texts):
        wanted = "numbers, ISO dates, or text whose order is that of its numbers (01, 02, ..., 10)"
        raise refuse(name, [*texts][:5], wanted)


def as_iso_date(name: str, text: str) -> datetime:
    """A date of ISO 8601; ValueError, which calls the argument `name`, if the text is not one."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise refuse(name, text, "numbers, or ISO dates such as 2026-11-28 23:00") from None
