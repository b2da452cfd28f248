"""Dates and versions in the names of files, and names whose order is not that of their dates."""

import contextlib
import datetime as dt
import re
from collections.abc import Sequence

from sigstats._common.dates import unordered_dates
from sigstats._common.messages import join_words
from sigstats._common.validation import shown

#: A date, and a time of day (not another date) after it: 2026-11-21, 20261121T0615, 2026-11-21_06-15-02.
_TIME = re.compile(
    r"(?<!\d)(\d{4})(-?)(\d\d)\2(\d\d)"
    r"(?:(?![_ -](?:19|20)\d\d(-?)[01]\d\5[0-3]\d(?!\d))[T_ -]"
    r"(\d\d)[-:.]?(\d\d)(?:[-:.]?(\d\d)(?!:))?(Z|[+-]\d\d:?(?:00|30|45))?)?(?!\d)"
)
#: AM, PM or a time zone after a time of day.
_UNREAD = re.compile(r"[ _.-]?(?:[AP]\.?M\b|(?!Z|UTC|GMT)[A-Z]{2,4}T\b|[+-]\d\d(?!\d))")
#: The suffix of a pre-release.
_EARLIER = re.compile(r"(?i)[-._ ]?(?:rc|alpha|beta|dev|pre)[-._ ]?\d*$")
#: A commit hash, or a number with an exponent. The natural order of such names means nothing. A hash has a digit
#: between letters or a letter between digits, unlike decade7 and 260101a; an exponent may follow lr, unlike phase1e-01.
_ARBITRARY = re.compile(
    r"(?<![0-9A-Za-z])(?=\d+[a-f]+\d|[a-f]+\d+[a-f])[0-9a-f]{7,40}(?![0-9A-Za-z])"
    r"|(?<![0-9A-Za-z.])(?:lr)?\d+(?:\.\d+)?e-\d+"
)
_ENDING = re.compile(r"(\.[A-Za-z]\w*)?(\.(?:gz|bz2|xz|zst))?$")


def stem(name: str) -> str:
    """A name without its ending, so that `v2` is before `v2.1` and `v2-fixed`."""
    return _ENDING.sub("", name, count=1)


def unclear_order(names: Sequence[str]) -> str:
    """Return a complaint about names that do not sort by their dates or versions; empty if they do."""
    if parts := unordered_dates(names):
        return f"{join_words([*map(shown, parts[:3])])} look like dates"
    stems = [*map(stem, names)]
    for name in stems:
        if (token := _ARBITRARY.search(name)) and time_in(token[0]) is None:
            alike = (other for other in stems if other.startswith(name[: token.start()]))
            if other := next((other for other in alike if not other.startswith(name[: token.end()])), ""):
                return f"{shown(name)} and {shown(other)} do not state which is later"
    early = next((name for name in stems if (full := _EARLIER.sub("", name)) != name and full in stems), None)
    return "" if early is None else f"{shown(early)} is earlier than {shown(_EARLIER.sub('', early))}"


def time_in(name: str) -> dt.datetime | None:
    """The latest time in a name, in UTC; None if the name has no time."""
    return max((time for time, _ in _times_in(name)), default=None)


def unread_time(names: Sequence[str]) -> str:
    """Return a complaint about a name with several times or an unsupported time; empty for other names."""
    times = [{time for time, _ in _times_in(name)} for name in names]
    for name, times_of_name in zip(names, times, strict=True):
        if any(_UNREAD.match(rest) for _, rest in _times_in(name)):
            return f"{shown(name)} has AM, PM or a time zone that is not supported"
        if len(times_of_name - times[0].intersection(*times)) > 1:
            return f"{shown(name)} has several times"
    return ""


def _times_in(name: str) -> list[tuple[dt.datetime, str]]:
    """The times in a name, in UTC, and the text after the time of day."""
    times, name = [], name.upper()
    for match in _TIME.finditer(name):
        year, _, month, day, _, hour, minute, second, _ = (part or "00" for part in match.groups())
        with contextlib.suppress(ValueError, OverflowError):  # 2026-13-45 is not a date
            time = dt.datetime.fromisoformat(f"{year}-{month}-{day}T{hour}:{minute}:{second}{match[9] or 'Z'}")
            times.append((time.astimezone(dt.UTC), name[match.end() :] if match[6] else ""))
    return times
