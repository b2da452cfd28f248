"""Texts that state an order of time, and texts whose sorted order is another one."""

import re
from collections.abc import Iterable, Sequence

from .numerals import natural
from .validation import refuse

_MONTH = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
_DAY = "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
#: Words and numbers of dates that do not sort by time.
_UNORDERED = re.compile(
    rf"(?i)(?<![a-z])(?:{_MONTH}|nov(?:ember)?|dec(?:ember)?|{_DAY})(?![a-z])"
    r"|(?<!\d)\d\d?([-._/ ])\d\d?\1(?:19|20)\d\d(?!\d)"
)
_ISO_DATE = re.compile(r"\d{4}-?\d\d-?\d\d(?!\d)")


def unordered_dates(texts: Iterable[str]) -> list[str]:
    """Parts of texts that look like dates and do not sort by time; empty if the texts have at most one of them.

    >>> unordered_dates(["31.01.2023", "01.02.2023"]), unordered_dates(["2023-01-31", "2023-02-01"])
    (['31.01.2023', '01.02.2023'], [])
    """
    parts = dict.fromkeys(match[0] for text in texts for match in _UNORDERED.finditer(text))
    return [*parts] if len({part.casefold() for part in parts}) > 1 else []


def refuse_other_order(name: str, texts: Sequence[str]) -> None:
    """Refuse sorted texts if the order of their numbers or dates is another one."""
    dated = all(map(_ISO_DATE.match, texts))
    if sorted(texts, key=natural) != texts or (not dated and unordered_dates(texts)):
        wanted = "numbers, ISO dates, or text whose order is that of its numbers (01, 02, ..., 10)"
        raise refuse(name, [*texts][:5], wanted)
