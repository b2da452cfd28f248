"""The newest of several files of predictions: by name, by a time in the name, or by a column.

The time of modification is never used, since a copy, a checkout or `touch` alters it.
"""

import datetime as dt
import glob
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from sigstats.tasks.input_files import place
from sigstats.tasks.predictions import Columns, read

from ..errors import BadInput
from .study import RegressionStudy

#: The sort key of a name, in which numbers count as numbers.
NaturalKey: TypeAlias = tuple[tuple[int, int, str], ...]

_NUMBER = re.compile(r"(\d+)")
#: A date, and a time of day after it: 2026-11-21, 20261121T0615, 2026-11-21_06-15-02.
_TIME = re.compile(
    r"(?<!\d)(\d{4})(-?)(\d\d)\2(\d\d)(?:[T_ -](\d\d)[-:.]?(\d\d)(?:[-:.]?(\d\d))?Z?)?(?!\d)", re.IGNORECASE
)


def newest(study: RegressionStudy, base: Path, name: str, columns: Columns, *, other_than: Path | None = None) -> Path:
    """The newest file that matches a pattern of the study."""
    pattern: str = getattr(study, name)
    if "://" in pattern:
        raise BadInput(f"{name}: {pattern!r} is not valid; expected a path or a pattern of this machine")
    try:
        found = [Path(place(match, base)) for match in glob.glob(str(base / pattern), recursive=True)]  # noqa: PTH207 - `base` may be absolute
    except ValueError as error:
        raise BadInput(f"{name}: {error}") from None
    files = [path for path in found if path.is_file() and path != other_than]
    if not files:
        others = f" besides {other_than}" if other_than in found else ""
        raise BadInput(f"{name}: {pattern!r} is not valid; no file in {base} matches it{others}")
    if len(files) == 1:
        return files[0]
    ranks: dict[str, Callable[[Path], Any]] = {
        "name": lambda path: natural(str(path)),
        "time": lambda path: (_required_time(path, name), natural(str(path))),
        "column": lambda path: (natural(_value(path, str(study.newest.column), columns)), natural(str(path))),
    }
    return max(files, key=ranks[study.newest.by])


def own_date(study: RegressionStudy, path: Path, columns: Columns) -> dt.datetime | None:
    """When a candidate was made, by its name or by the study's column; None if neither states it."""
    if study.newest.by == "column":
        try:
            found = dt.datetime.fromisoformat(_value(path, str(study.newest.column), columns))
        except ValueError:
            return None
        return found.replace(tzinfo=found.tzinfo or dt.UTC).astimezone(dt.UTC)
    return time_in(path.name)


def natural(text: str) -> NaturalKey:
    """A name in natural order: ``candidate-9`` before ``candidate-10``.

    >>> sorted(["b10", "b9", "a11", "b9a"], key=natural)
    ['a11', 'b9', 'b9a', 'b10']
    """
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in _NUMBER.split(text) if part)


def time_in(name: str) -> dt.datetime | None:
    """The last time in a name, in UTC; None if there is none.

    >>> str(time_in("candidate-20261121T0615.parquet")), time_in("candidate-7.parquet")
    ('2026-11-21 06:15:00+00:00', None)
    """
    for found in reversed(list(_TIME.finditer(name))):
        year, _, month, day, hour, minute, second = (int(part or 0) if part != "-" else 0 for part in found.groups())
        try:
            return dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)
        except ValueError:  # 2026-13-45 is no date
            continue
    return None


def _required_time(path: Path, name: str) -> dt.datetime:
    found = time_in(path.name)
    if found is None:
        raise BadInput(f"{name}: {path} has no time in its name; expected one such as 2026-11-21 or 20261121T0615")
    return found


def _value(path: Path, column: str, columns: Columns) -> str:
    """The largest value of a file's column, in natural order."""
    try:
        others = read(str(path), replace(columns, group=None, slices=(column,))).others
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise BadInput(str(error)) from None
    texts = others[column].unique().to_pylist() if column in others else []
    if not texts:
        raise BadInput(f"newest.column: {path} has no values in a column {column!r}; expected them in every match")
    return max(map(str, texts), key=natural)
