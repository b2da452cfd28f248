"""Rows in time: dates in strings, the order of strings with numbers or dates, and autocorrelation."""

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

import numpy as np

from .class_spelling import is_finite_number, refuse_thousands
from .numerals import natural
from .validation import FloatArray, IntArray, as_array, as_labels, refuse

_MONTH = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
_DAY = "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
#: Words and numbers in dates that do not sort by time.
_UNORDERED = re.compile(
    rf"(?i)(?<![a-z])(?:{_MONTH}|nov(?:ember)?|dec(?:ember)?|{_DAY})(?![a-z])"
    r"|(?<!\d)\d\d?([-._/ ])\d\d?\1(?:19|20)\d\d(?!\d)"
    r"|(?<!\d)(?:(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])(?:[12]\d|3[01]))(?:19|20)\d\d(?!\d)"
    r"|(?<![a-z])(?:q[1-4]|w(?:0?[1-9]|[1-4]\d|5[0-3]))[-._/ ]?(?:19|20)\d\d(?!\d)"  # a quarter or week before its year
    r"|(?<!\d)(?:0?\d|1[0-2])(?:[-._:h ]?[0-5]\d){0,2}[-._ ]?[ap]\.?m(?![a-z])"
)
#: A string that begins with an ISO 8601 date; and a value that is such a date, perhaps with a time after it.
_ISO_DATE = re.compile(r"\d{4}-?\d\d-?\d\d(?!\d)")
_ISO_MONTH = re.compile(r"\d{4}-\d\d")
DATE = re.compile(r"\d{4}-?\d\d-?\d\d([T ]|$)|\d\d?[./-]\d\d?[./-]\d{4}\b")
#: Strings that sort by time, as a pattern for Arrow: ISO 8601 dates, with or without hyphens, weeks, and years.
SORTED_DATE = (
    r"^((19|20)[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])$|[0-9]{4}-([0-9]{2}-[0-9]{2}([T ]|$)|W[0-9]{2}(-[1-7])?$))"
)
YEAR = r"\b(19|20)[0-9]{2}\b"
_NUMBER, _YEAR_FIRST = re.compile(r"\d+"), re.compile(r"(?:19|20)\d\d(?!\d)")
#: Layouts of dates by the number of their digits; numbers in the first layout sort by time.
_LAYOUTS = {
    2: ("week",),
    4: ("%m%d", "%d%m"),
    6: ("%y%m%d", "%Y%m", "%d%m%y", "%m%d%y", "%m%Y"),
    8: ("%Y%m%d", "%d%m%Y", "%m%d%Y", "%Y%d%m"),
}
#: With fewer dates than this, dates that end with two digits of a year (311025) must be from 2020 or later.
_MANY_DATES = 8
#: Numbers after words such as `step`, weeks, and dates with or without separators.
_DATES_IN_NAMES = re.compile(
    r"(?i)(?<![a-z])(?:step|epoch|iter(?:ation)?|ckpt|checkpoint|build|seed|v|version)s?[-_ =.]?\d+"
    r"|(?<![a-z])run[-_ ]?\d{4}(?!\d)|(?<![a-z])(?:week|wk|kw|cw)[-_ ]?(?P<week>\d\d?)(?!\d)"
    r"|(?<![\d.])(?P<date>\d\d[-_.]\d\d|\d\d?\.(?:19|20)\d\d|\d\d([-_.])\d\d\3(?:\d\d){1,2}|\d{4}([-_.])\d\d\4\d\d|\d{4}(?:\d{4}|\d\d)?)"
    r"(?![-_.]?\d)"
)

#: Texts that may count back from an event, such as T-5 and "5 days ago", unlike T-2026.
_BACKWARDS = re.compile(
    r"(?i)(?<![^\W_])[td][ _]?[-\u2212] ?(?!(?:19|20)\d\d)\d|[ =(:][-\u2212]\d|(?<![a-z])(?:minus|ago|lag)(?![a-z])"
)


def unordered_dates(texts: Iterable[str]) -> list[str]:
    """Return the parts of strings that look like dates and do not sort by time, if there are two or more.

    >>> unordered_dates(["31.01.2023", "01.02.2023"]), unordered_dates(["2023-01-31", "2023-02-01"])
    (['31.01.2023', '01.02.2023'], [])
    """
    parts = dict.fromkeys(match[0] for text in texts for match in _UNORDERED.finditer(text))
    return [*parts] if len({part.casefold() for part in parts}) > 1 else []


def refuse_other_order(name: str, texts: Sequence[str]) -> None:
    """Refuse sorted strings unless their order is that of their numbers or ISO dates, or of the number they differ in.

    Texts that begin with a year may contain further numbers, as in 2026-11 and 2026-W05.
    """
    if all(map(is_finite_number, texts)) or all(map(_ISO_DATE.match, texts)):
        times = as_times(texts, name)
        sorts = times == sorted({*times})
    elif odd := next(filter(_BACKWARDS.search, texts[1:]), None):
        raise refuse(name, odd, "numbers or ISO dates (-5, or 2026-11-28), since it may count back from an event")
    else:
        in_numbers_only = len({_NUMBER.sub("0", text) for text in texts}) == 1
        distinct = len({_NUMBER.sub(lambda number: str(int(number[0])), text) for text in texts}) == len(texts)
        one_or_year = all(len(_NUMBER.findall(text)) == 1 or _YEAR_FIRST.match(text) for text in texts)
        in_order = distinct and sorted(texts, key=natural) == texts and not dates_in_doubt(texts)
        sorts = in_numbers_only and one_or_year and in_order
    if not sorts:
        wanted = "numbers, ISO dates, or text whose order is that of its numbers (01, 02, ..., 10)"
        raise refuse(name, [*texts][:5], wanted)


def dates_in_doubt(names: Sequence[str]) -> list[str]:
    """Return the parts of names that look like dates and do not sort by time; empty if there are none.

    >>> dates_in_doubt(["a-311025", "a-011125"]), dates_in_doubt(["a-251031", "a-251101"])
    (['311025', '011125'], [])
    """
    matches = [[*_DATES_IN_NAMES.finditer(name)] for name in names]
    dates = [[match["date"] or f"{match['week']:0>2}" for match in of if match.lastgroup] for of in matches]
    columns = zip(*dates, strict=True) if len({*map(len, dates)}) == 1 else []
    return next(([*dict.fromkeys(of)] for of in columns if _sort_unlike_dates(of) and not _may_be_versions(of)), [])


def _may_be_versions(texts: Sequence[str]) -> bool:
    """Return True for texts such as 24.10 and 25.04, of which none begins with 0."""
    return all(re.fullmatch(r"[1-9]\d\.\d\d", text) for text in texts)


def _sort_unlike_dates(texts: Sequence[str]) -> bool:
    """Return True if all texts look like dates, such as 311025, 1231 or 20263101, that do not sort by time as numbers.

    If several layouts fit, the one in which the dates span the shortest time is used; ISO dates come first. Dates
    without a year, and weeks, are taken to begin after the longest gap between them.
    """
    digits = [re.sub(r"\D", "", text) for text in texts]
    width = max(map(len, digits))
    numbers = sorted({text.zfill(width) for text in digits})
    readings = {layout: days for layout in _LAYOUTS.get(width, ()) if (days := _days(numbers, layout))}
    if len(numbers) < 2 or not readings or "%Y%m%d" in readings or all(map(_YEAR_FIRST.fullmatch, numbers)):
        return False

    def span(days: Sequence[int]) -> int:
        whole = max(days) - min(days)
        return whole if width > 4 else min(whole, 366 - max(b - a for a, b in pairwise(sorted(days))))

    days = min(readings.values(), key=span)
    return days != sorted(days) or span(days) < days[-1] - days[0]


def _sort_unlike_dates_or_versions(numbers: Sequence[str]) -> bool:
    """Return True if numbers such as 311025, 12.2025, 30.11 or 2026.10 all look like dates that do not sort by time."""
    parts = [text.split(".") for text in numbers]
    if len({*map(len, parts)}) > 1 or not all(part.isdecimal() for of in parts for part in of):
        return False
    if len(parts[0]) == 1:
        return len(max(numbers, key=len)) > 2 and _sort_unlike_dates(numbers)
    dates = {text: "".join(part.zfill(2) for part in of) for text, of in zip(numbers, parts, strict=True)}
    by_date, width = sorted(dates.values()), max(map(len, dates.values()))
    if [dates[text] for text in sorted(dates, key=float)] == by_date:
        return _sort_unlike_dates(by_date)
    return any(_days(by_date, layout) for layout in _LAYOUTS.get(width, ()))


def _days(texts: Sequence[str], layout: str) -> list[int]:
    """Return dates in a layout as day numbers, with 2000 for a missing year; empty if one is not such a date."""
    if layout == "week":
        return [7 * int(text) for text in texts] if all("01" <= text <= "53" for text in texts) else []
    try:
        dates = [datetime.strptime(f"2000 {text}", f"{'%Y' if len(text) == 4 else '2000'} {layout}") for text in texts]  # noqa: DTZ007 - days only
    except ValueError:
        return []
    first = 2020 if len(texts) < _MANY_DATES and layout in ("%d%m%y", "%m%d%y") else 1900
    return [date.toordinal() for date in dates] if all(first <= date.year < 2100 for date in dates) else []


def as_iso_date(name: str, text: str) -> datetime:
    """Return an ISO 8601 date. Raise ValueError, in which the argument is called `name`, for other strings."""
    try:
        return datetime.fromisoformat(f"{text}-01" if _ISO_MONTH.fullmatch(text) else text)
    except ValueError:
        raise refuse(name, text, "numbers, or ISO dates such as 2026-11-28 23:00") from None


#: Fewest and most blocks, and the information in a block if there are enough rows, as a number of independent rows.
FEWEST, _MOST, _IN_BLOCK = 4, 16, 6
#: How many random orders an autocorrelation is compared with, and how many of the rows they use at most.
_ORDERS, _MOST_ROWS = 999, 2**11


def blocks_in_time(differences: FloatArray, order: Any) -> tuple[IntArray, str]:
    """Return the block of each row, from 0, and a warning if rows are too few for their autocorrelation.

    The number of blocks, 4 to 16, leaves each block the information of six independent rows. It is four if
    autocorrelations outlast that of neighbours. Rows of the same time are in the same block. Raises ValueError if there
    are fewer than four times, or if the numbers of times and rows differ.
    """
    times = as_labels(_without_dates(order), "order")
    if len(times) != len(differences):
        raise refuse("order", len(times), f"{len(differences)}, one time for each row", quantity="length")
    distinct, of_time = np.unique(times, return_inverse=True)
    if times.dtype.kind == "U":
        refuse_other_order("order", distinct.tolist())
    rows = np.bincount(of_time)
    n = len(rows)
    if n < FEWEST:
        raise refuse("order", f"{n} time(s)", f"{FEWEST} times or more")
    sums = np.bincount(of_time, differences - differences.mean()).astype(np.float64)
    r = lag_one(sums)
    r = float(np.clip(r + (1 + 3 * r) / n, 0, 0.99))  # without the bias that the mean of few rows brings
    independent = n * (1 - r) / (1 + r)
    outlasts = _outlasts(sums, r)
    many = FEWEST if outlasts else int(np.clip(independent / _IN_BLOCK, FEWEST, min(_MOST, n)))
    middle = np.cumsum(rows) - rows / 2
    block = np.unique((many * middle / rows.sum()).astype(np.int64), return_inverse=True)[1]
    least, warning = FEWEST * _IN_BLOCK, ""
    if independent < least:
        worth = f"{n} times with an autocorrelation of {r:.2f} are worth {independent:.0f} independent ones"
        warning = f"{worth}: the test wants {least} or more"
    elif outlasts:
        warning = (
            f"autocorrelations outlast that of neighbours ({r:.2f}): the test assumes independent quarters of the rows"
        )
    return block[of_time], warning


def _without_dates(order: Any) -> Any:
    """Return dates of any library as whole numbers in their order, and any other order unchanged."""
    times = as_array(order, "order", "times of rows")
    if times.ndim != 1 or times.dtype.kind not in "MO":
        return order
    dates = [True] * len(times)
    if times.dtype.kind == "O":
        dates = [isinstance(one, date | np.datetime64) or type(one).__name__ == "Period" for one in times]
    if not any(dates):
        return order
    try:
        if all(dates) and not (times != times).any():
            return np.unique(times, return_inverse=True)[1]
    except TypeError:  # with and without a zone, or dates among times
        pass
    odd = (
        one
        for one, known in zip(times, dates, strict=True)
        if not known or one != one or type(one) is not type(times[0])
    )
    raise refuse("order", next(odd, times[0]), "times of one kind that can be sorted, none of them missing")


def _outlasts(values: FloatArray, r: float) -> bool:
    """Return True if autocorrelations at lags up to a tenth of the rows exceed those of an autoregression.

    Their sum then exceeds the sum of the powers of `r` by two standard errors. A slow component may be hidden by noise.
    """
    n, lags = len(values), len(values) // 10
    total = sum(float(values[lag:] @ values[:-lag]) for lag in range(1, lags + 1)) / (float(values @ values) or 1.0)
    expected = r * (1 - r**lags) / (1 - r) - lags / n
    return total - expected > 2 * math.sqrt(lags / n) * (1 + r) / (1 - r)


def as_times(names: Sequence[str], name: str = "order") -> list[float]:
    """Return the names of times as numbers. Raise ValueError unless all are numbers, or all are ISO dates.

    `name`: the argument in messages.
    """
    refuse_thousands(name, names)
    if all(map(is_finite_number, names)):
        if _sort_unlike_dates_or_versions(names):
            wanted = "ISO dates such as 2026-11-28, since these may be dates that do not sort by time"
            raise refuse(name, [*names][:5], wanted)
        return [float(text) for text in names]
    dates = [as_iso_date(name, text) for text in names]
    bare = next((text for text, date in zip(names, dates, strict=True) if not date.tzinfo), None)
    if bare is not None and any(date.tzinfo for date in dates):
        raise refuse(name, bare, "a time with a zone, as other times have")
    return [(date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() for date in dates]


def lag_one(values: FloatArray) -> float:
    """Return the correlation of neighbours among values with mean 0, or 0 if all values are 0."""
    return float(values[1:] @ values[:-1]) / (float(values @ values) or 1.0)


def neighbours_alike(values: FloatArray, classes: IntArray, seed: int = 0) -> float | None:
    """Return the lag-one autocorrelation of values minus class means if it exceeds 999 random orders, else None.

    Under the null hypothesis that all orders of the values within their classes are equally likely, a number is
    returned with probability at most 0.001. `classes`: codes from 0. Only the first 2,048 rows are used.
    """
    values, classes = values[:_MOST_ROWS], classes[:_MOST_ROWS]
    if not len(values):
        return None
    values = values - (np.bincount(classes, values) / np.maximum(np.bincount(classes), 1))[classes]
    observed, rng = lag_one(values), np.random.default_rng(seed)
    if observed <= 0:
        return None
    places, drawn = np.argsort(classes, kind="stable"), np.empty_like(values)
    for _ in range(_ORDERS):
        drawn[places] = values[np.lexsort((rng.random(len(values)), classes))]
        if lag_one(drawn) >= observed * (1 - 1e-9):
            return None
    return observed


def without_trend(values: FloatArray, codes: IntArray) -> FloatArray:
    """Return values minus the increasing or decreasing function of the codes that fits them best."""
    from scipy.optimize import isotonic_regression  # takes long to import, and few comparisons need it

    sizes = np.bincount(codes)
    means = np.bincount(codes, values) / sizes
    trends = [isotonic_regression(means, weights=sizes, increasing=rising).x for rising in (True, False)]
    trend = min(trends, key=lambda fitted: float(sizes @ (means - fitted) ** 2))
    return np.asarray(values - trend[codes])
