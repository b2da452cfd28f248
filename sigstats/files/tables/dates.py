"""Columns of dates in usual forms."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

#: Dates that sort by time: of ISO 8601, with or without hyphens, or of weeks.
_SORTED = (
    r"^((19|20)[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])$|[0-9]{4}-([0-9]{2}-[0-9]{2}([T ]|$)|W[0-9]{2}(-[1-7])?$))"
)
#: Other dates, with and without a time of day.
_DAYS = "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y"
_FORMS = [day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")]
_YEAR = r"\b(19|20)[0-9]{2}\b"


def as_dates(values: Any) -> Any | None:
    """Return dates as values that sort by time; None if some are not dates, or may be in two forms, as 01/02/2026."""
    texts = values.cast(pa.string())
    if not pc.all(pc.match_substring_regex(texts[:1], "[0-9]{4}")).as_py():
        return None
    if pc.all(pc.match_substring_regex(texts, _SORTED)).as_py():
        return texts
    forms = _FORMS if pc.all(pc.match_substring_regex(texts[:1], _YEAR)).as_py() else ()
    options: Any = {"unit": "s", "error_is_null": True}
    tried = [form for form in forms if not pc.strptime(texts[:1], format=form, **options).null_count]
    read = [pc.strptime(texts, format=form, **options) for form in tried]
    whole = [dates for dates in read if not dates.null_count]
    return whole[0] if len(whole) == 1 else None
