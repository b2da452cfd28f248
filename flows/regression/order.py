"""The order of the files that match a pattern of a regression study: by dates in their names, numbers, or a column.

`Order` sorts the candidates and finds the baseline of each. Times of modification do not order files, since a copy, a
checkout or `touch` alters them; they only show where the order is in doubt.
"""

import contextlib
import datetime as dt
import glob
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sigstats._common.credentials import refuse_credentials
from sigstats._common.messages import join_words, rephrased, some_of
from sigstats._common.numerals import natural
from sigstats._common.time_order import DATE, as_times, dates_in_doubt, unordered_dates
from sigstats._common.validation import shown
from sigstats.files.inputs import files_of, place
from sigstats.files.inputs.opening import open_remote
from sigstats.files.predictions import Columns, read
from sigstats.files.tables.spelling import is_number

from ..config.toml_files import fetched_by
from ..errors import BadInput, file_errors
from .study import RegressionStudy

#: A date, and a time of day (not another date) after it: 2026-11-21, 20261121T0615, 2026-11-21_06-15-02.
_TIME = re.compile(
    r"(?<!\d)(\d{4})(-?)(\d\d)\2(\d\d)"
    r"(?:(?![_ -](?:19|20)\d\d(-?)[01]\d\5[0-3]\d(?!\d))[T_ -]"
    r"(\d\d)[-:.]?(\d\d)(?:[-:.]?(\d\d)(?!:))?(Z|[+-]\d\d:?(?:00|30|45))?)?(?!\d)"
)
#: AM, PM or a time zone after a time of day.
_UNREAD = re.compile(r"[ _.-]?(?:[AP]\.?M\b|(?!Z|UTC|GMT)[A-Z]{2,4}T\b|[+-]\d\d(?!\d))")
#: A date with hyphens or the like or a time of day after it, an ISO week, a quarter or a month; these sort by time.
_SORTED = re.compile(
    r"(?i)(?<!\d)(?:19|20)\d\d(?:-?(?:W\d\d?(?:-[1-7])?|Q[1-4])|([-_.])\d\d(?:\1\d\d)?|\d{4}(?=[T_ -]\d\d))"
    r"(?:[T_ -]\d\d[-:.]?\d\d(?:[-:.]?\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?(?!\d)"
)
#: The number of a further file of the same date, as in 20261121-2.
_REPETITION = re.compile(r"(?:(?<=\0)|(?<=20\d\d[01]\d[0-3]\d))[-_. ]\(?\d+\)?$")
#: A number with an exponent, as in lr1e-4, unlike phase1e-01; or a whole number or version.
_NUMBERS = re.compile(r"(?i)(?<![0-9A-Z.])(?:lr)?\d+(?:\.\d+)?e-\d+|v?\d+(?:\.\d+)*")
#: A time of day without a date.
_CLOCK = re.compile(r"\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?")
_ENDING = re.compile(r"(\.[A-Za-z]\w*)?(\.(?:gz|bz2|xz|zst))?$")


def stem(name: str) -> str:
    """Return a name without its ending, so that `v2` is before `v2.1` and `v2-fixed`."""
    return _ENDING.sub("", name, count=1)


def unclear_order(names: Sequence[str]) -> str:
    """Return a complaint about names that differ in more than dates and numbers that rise together; else empty."""
    names = sorted(names, key=natural)
    are_times = len({time_in(name) for name in names} - {None}) == len(names)
    if parts := unordered_dates(names) or ([] if are_times else dates_in_doubt(names)):
        return f"{join_words([*map(shown, parts[:3])])} look like dates"
    if are_times:
        return ""
    texts = [_REPETITION.sub("", _SORTED.sub("\0", stem(name))) for name in names]
    others = [_NUMBERS.sub("#", text) for text in texts]
    odd = next((name for name, text in zip(names, others, strict=True) if text != others[0]), "")
    if not odd:
        varied = [column for column in zip(*map(_NUMBERS.findall, texts), strict=True) if len({*column}) > 1]
        rise = all(natural(a) <= natural(b) for column in varied for a, b in pairwise(column))
        if all(map(_is_in_order, varied)) and (rise or len(varied) == 1):
            return ""
    return f"{shown(names[0])} and {shown(odd or names[1])} do not state which is later"


def _is_in_order(numbers: Sequence[str]) -> bool:
    """Return True for whole numbers, versions, and decimals that sort alike as numbers and as versions."""
    if not all(re.fullmatch(r"v?[\d.]+", number, re.IGNORECASE) for number in numbers):
        return False
    decimals = any("." in number for number in numbers) and all(map(is_number, numbers))
    return not decimals or sorted(numbers, key=float) == sorted(numbers, key=natural)


def time_in(name: str) -> dt.datetime | None:
    """Return the latest time in a name, in UTC; None if the name has no time."""
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
    """Return the times in a name, in UTC, and the text after the time of day."""
    times, name = [], name.upper()
    for match in _TIME.finditer(name):
        year, _, month, day, _, hour, minute, second, _ = (part or "00" for part in match.groups())
        with contextlib.suppress(ValueError, OverflowError):  # 2026-13-45 is not a date
            time = dt.datetime.fromisoformat(f"{year}-{month}-{day}T{hour}:{minute}:{second}{match[9] or 'Z'}")
            times.append((time.astimezone(dt.UTC), name[match.end() :] if match[6] else ""))
    return times


#: The time of evaluation of a file that was never evaluated: later than all others.
_NEVER = dt.datetime.max.replace(tzinfo=dt.UTC)


@dataclass(frozen=True)
class Order:
    """The candidates of a study in their order, and the baseline of each."""

    study: RegressionStudy
    base: Path
    #: The columns of the baseline's files and of the candidates'.
    columns: Columns
    of_candidate: Columns

    def candidates(self, seen: Mapping[str, dt.datetime]) -> Sequence[str]:
        """Return the files that match the pattern of the candidate, the newest last.

        Files with the same time or value of the column are in the order of evaluation; those not in `seen` are last.
        """
        return self._ranked("candidate", self.matches("candidate"), seen)

    def baseline(self, candidate: str) -> str:
        """Return the newest file that matches the pattern of the baseline and is not later than the candidate.

        By the dates of both it is not later or, if the patterns are the same, by their order.
        """
        # Two models may lie in one file, which is then both.
        both = self.columns != self.of_candidate
        ranked = self._ranked("baseline", self.matches("baseline"))
        others = [path for path in ranked if both or path != candidate]
        if not others:
            raise self._none("baseline", f" besides {candidate}")
        if glob.has_magic(self.study.baseline):
            if candidate in ranked:
                others = [path for path in ranked[: ranked.index(candidate) + 1] if path in others]
            if (dated := self.date(candidate)) is not None:
                others = [path for path in others if (date := self.date(path)) is None or date <= dated]
            if not others:
                raise self._none("baseline", f" and is earlier than {candidate}")
        return others[-1]

    def date(self, path: str) -> dt.datetime | None:
        """Return the date of a model, by the name of its file or by the study's column; None if neither states it."""
        if self.study.newest.by != "column":
            return time_in(name_of(path))
        try:
            made = dt.datetime.fromisoformat(self._value(path, self.of_candidate))
        except ValueError:
            return None
        return made.replace(tzinfo=made.tzinfo or dt.UTC).astimezone(dt.UTC)

    def may_be_later(self, path: str, newest: str, since: dt.datetime | None) -> bool:
        """Return True if a file changed after `since` and the newest, unless dates in both names state their order."""
        dates = {self.date(path), self.date(newest)}
        if None not in dates and len(dates) == 2:
            return False  # names that are not in the order of their dates are refused before
        at, other = changed_at(path), changed_at(newest)
        return since is not None and (at is None or (at > since and (other is None or at > other)))

    def require_recent(self, newest: str, now: dt.datetime) -> None:
        """Raise BadInput if the newest candidate is older than the study allows, or dated more than a day ahead."""
        most, dated = self.study.newest.max_age, self.date(newest)
        is_ahead = dated is not None and dated - now > dt.timedelta(days=1)
        if is_ahead and (most is not None or self.study.newest.by != "name"):
            problem = f"the newest candidate, {name_of(newest)}, is dated {dated:%Y-%m-%d %H:%M} UTC, in the future"
            raise BadInput(f"newest: {problem}; correct its date, or move the file away")
        if most is None:
            return
        limit = float(most[:-1]) * dt.timedelta(hours=1 if most[-1] == "h" else 24)
        if dated is None:
            raise BadInput(f"newest.max_age: {newest} has no date; expected one in its name, or in newest.column")
        if now - dated > limit:
            raise BadInput(
                f"newest.max_age: the newest candidate, {name_of(newest)}, is of {dated:%Y-%m-%d %H:%M} UTC, more than "
                f"{self.study.newest.max_age} ago; expected a newer file"
            )

    def matches(self, name: str) -> list[str]:
        """Return the files that match the pattern of the baseline or candidate, in any order; BadInput if none does."""
        pattern: str = getattr(self.study, name)
        with rephrased(f"{self.study.source}: {name}: ", BadInput):
            if "://" in pattern:
                refuse_credentials({name: pattern})
                return files_of(place(pattern, self.base)) or [pattern]
            paths = [place(match, self.base) for match in glob.glob(pattern, root_dir=self.base, recursive=True)]  # noqa: PTH207 - the pattern may be absolute
        files = [path for path in paths if Path(path).is_file()]
        if not files:
            of_folder = f"; only a folder does; name its files, as in {pattern.rstrip('/') + '/*'!r}"
            raise self._none(name, of_folder if paths else fetched_by(self.study, self.base))
        return files

    def _none(self, name: str, more: str) -> BadInput:
        pattern: str = getattr(self.study, name)
        return BadInput(
            f"{self.study.source}: {name}: {pattern!r} is not valid; no file in {self.base} matches it{more}"
        )

    def _ranked(
        self, name: str, files: Sequence[str], seen: Mapping[str, dt.datetime] = MappingProxyType({})
    ) -> Sequence[str]:
        """Return the files of the baseline or the candidate in their order, the newest last."""
        if len(files) == 1:
            return files
        if self.study.newest.by == "name":
            return self._ranked_by_name(name, files)
        dates: Mapping[str, Any] = {path: time_in(name_of(path)) for path in files}
        if self.study.newest.by == "column":
            columns = self.columns if name == "baseline" else self.of_candidate
            dates = _places({path: self._value(path, columns) for path in files})
        elif odd := next((path for path in files if dates[path] is None), None):
            raise BadInput(f"{name}: {odd} has no time in its name; expected one such as 2026-11-21T06:15")
        elif unread := unread_time([name_of(path) for path in files]):
            raise BadInput(f"{name}: {unread}; expected one time such as 2026-11-21T06:15+01:00 in each name")
        ranked = sorted(files, key=lambda path: (dates[path], seen.get(path, _NEVER), natural(stem(path)), path))
        newest = [path for path in ranked if dates[path] == dates[ranked[-1]]]
        words = {path: re.sub(r"[\d\W_T]", "", stem(name_of(path))) for path in newest}
        unseen = [path for path in words if path not in seen and name == "candidate"]
        if other := next((path for path in unseen if words[path] != words[ranked[-1]]), ""):
            raise BadInput(f"{name}: {other} and {ranked[-1]} have the same time; narrow the pattern to one of them")
        return ranked

    def _ranked_by_name(self, name: str, files: Sequence[str]) -> Sequence[str]:
        """Return the files in the natural order of their names; refuse unclear names unless the study states `by`."""
        ranked = sorted(files, key=lambda path: (natural(stem(path)), path))
        if "by" in self.study.newest.model_fields_set:
            return ranked
        if unclear := unclear_order([name_of(path) for path in files]):
            raise BadInput(
                f"{name}: {unclear}; expected names that differ in ISO dates or one number, one file, or "
                'newest.by = "name" if the last name is the newest'
            )
        times = [(time, name_of(path)) for path in ranked if (time := time_in(name_of(path))) is not None]
        earliest = [*accumulate((time for time, _ in reversed(times)), min)][::-1]
        if later := [text for (time, text), first in zip(times, earliest, strict=True) if time > first]:
            problem = f"dated later than a name that follows: {some_of(later)}"
            raise BadInput(f'{name}: {problem}; set newest.by = "time" or "name"')
        return ranked

    def _value(self, path: str, columns: Columns) -> str:
        """Return the latest value of a file's column."""
        column = str(self.study.newest.column)
        with rephrased("", BadInput), file_errors(f"{path}: cannot be read"):
            others = read(path, columns.but(group=None, slices=(column,))).requested
        texts = others[column].unique().to_pylist() if column in others else []
        if not texts:
            raise BadInput(f"newest.column: {path} has no values in a column {column!r}; expected them in every match")
        places = _places({str(text): str(text) for text in texts})
        return max(places, key=lambda text: places[text])


def _places(values: Mapping[str, str]) -> dict[str, Any]:
    """Return sort keys of values: times for dates, otherwise natural order; BadInput if numbers sort differently."""
    texts = sorted({*values.values()}, key=natural)
    numbers = [float(text) for text in texts if is_number(text)]
    if len(numbers) == len(texts) and numbers != sorted(numbers):
        raise BadInput(f"newest.column: {numbers} have another order as versions; expected ISO dates")
    if len(texts) > 1 and (clock := next(filter(_CLOCK.fullmatch, texts), "")):
        raise BadInput(f"newest.column: {shown(clock)} is a time of day; expected its date too, as in 2026-11-28 23:00")
    if not any(map(DATE.match, texts)) and (unclear := unclear_order(texts)):
        raise BadInput(f"newest.column: {unclear}; expected ISO dates, or texts that differ in one number")
    with rephrased(lambda text: f"newest.column: {text.removeprefix('order: ')}", BadInput):
        keys = as_times(texts) if any(map(DATE.match, texts)) else [*map(natural, texts)]
    places = dict(zip(texts, keys, strict=True))
    return {name: places[text] for name, text in values.items()}


def name_of(path: str) -> str:
    """Return the name of a file, by its path or URL."""
    return path.rpartition("/")[2]


def digest_of_file(path: str) -> str:
    """Return the digest of the content of a file or URL; BadInput if it cannot be read."""
    with rephrased("", BadInput), file_errors(f"{path}: cannot be read"), contextlib.ExitStack() as opened:
        local = "://" not in path
        file: Any = opened.enter_context(Path(path).open("rb")) if local else open_remote(path, path, opened)
        # In pieces, since a Parquet file may be larger than memory.
        return hashlib.file_digest(file, "sha256").hexdigest()


def changed_at(path: str) -> dt.datetime | None:
    """Return the time of the last change of a file; None if its store does not state it."""
    if "://" not in path:
        return dt.datetime.fromtimestamp(Path(path).stat().st_mtime, dt.UTC)
    import fsspec

    with contextlib.suppress(Exception):  # a remote file system may raise anything
        system, root = fsspec.core.url_to_fs(path)
        changed: dt.datetime = system.modified(root)
        return changed if changed.tzinfo else changed.replace(tzinfo=dt.UTC)
    return None
