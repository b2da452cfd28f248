"""Columns of dates in usual forms."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.time_order import SORTED_DATE, YEAR

#: Dates that do not sort by time, with and without a time of day.
_DAYS = "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y"
_FORMS = [day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")]


def as_dates(values: Any) -> Any | None:
    """Return dates as values that sort by time; None if some are not dates, or may be in two forms, as 01/02/2026."""
    texts = values.cast(pa.string())
    if not pc.all(pc.match_substring_regex(texts[:1], "[0-9]{4}")).as_py():
        return None
    if pc.all(pc.match_substring_regex(texts, SORTED_DATE)).as_py():
        return texts
    forms = _FORMS if pc.all(pc.match_substring_regex(texts[:1], YEAR)).as_py() else ()
    options: Any = {"unit": "s", "error_is_null": True}
    tried = [form for form in forms if not pc.strptime(texts[:1], format=form, **options).null_count]
    read = [pc.strptime(texts, format=form, **options) for form in tried]
    whole = [dates for dates in read if not dates.null_count]
    return whole[0] if len(whole) == 1 else None
