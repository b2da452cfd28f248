"""The two files of predictions that a regression study compares now: the newest matches of its patterns, joined.

The time of modification is never used, since a copy, a checkout or `touch` alters it.
"""

import datetime as dt
import glob
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats.comparison.family import measures_meant
from sigstats.comparison.margins import require_limits_used
from sigstats.comparison.paired_predictions import as_score_range
from sigstats.comparison.requirements import default_measures, with_cost
from sigstats.files.inputs import place
from sigstats.files.predictions import (
    Columns,
    PairedPredictions,
    Predictions,
    ScoredFile,
    join_scores,
    read,
    scores_meant,
)
from sigstats.files.tables.spelling import without_points
from sigstats.tasks.record import digest
from sigstats.tasks.storage.history import Record

from ..config.fetch import fetched_by
from ..errors import BadInput
from .study import RegressionStudy, in_keys

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
        raise BadInput(
            f"{study.source}: {name}: {pattern!r} is not valid; expected a path or a pattern of this machine"
        )
    try:
        found = [Path(place(match, base)) for match in glob.glob(pattern, root_dir=base, recursive=True)]  # noqa: PTH207 - the pattern may be absolute
    except ValueError as error:
        raise BadInput(f"{study.source}: {name}: {error}") from None
    files = [path for path in found if path.is_file() and path != other_than]
    if not files:
        others = f" besides {other_than}" if other_than in found else fetched_by(study, base)
        raise BadInput(f"{study.source}: {name}: {pattern!r} is not valid; no file in {base} matches it{others}")
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
    """A name in natural order: ``candidate-9`` before ``candidate-10``."""
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in _NUMBER.split(text) if part)


def time_in(name: str) -> dt.datetime | None:
    """The last time in a name, in UTC; None if there is none."""
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


#: The keys of a study that affect neither what is compared nor the rules.
NO_RULES = ("kind", "name", "baseline", "candidate", "newest", "fail_on")


@dataclass(frozen=True)
class Pair:
    """Two files of predictions side by side."""

    baseline: Path
    candidate: Path
    #: The digests of the contents of both files.
    digests: tuple[str, str]
    #: One for each score that the study names; a single one if it names none.
    by_score: tuple[PairedPredictions, ...]
    #: The digest of the rows, by which looks at the same rows are counted, and one of each id, ascending.
    held_out: str
    rows: NDArray[np.int64]
    #: When the candidate was made, by its name or a column; None if unknown.
    dated: dt.datetime | None


def read_pair(study: RegressionStudy, base: Path) -> Pair:
    """The newest files that match the patterns of the study, joined by id."""
    names = study.columns
    columns = Columns(
        **names.model_dump(
            exclude={"score", "candidate_model", "lower_is_better", "higher_is_better", "missing", "classes"}
        ),
        missing=tuple(names.missing),
        classes=tuple(names.classes),
        score=names.scores[0] if len(names.scores) == 1 else None,
        lower=frozenset(names.lower_is_better),
        higher=frozenset(names.higher_is_better),
        group=study.group,
        weights=study.weights,
        slices=tuple(study.slices),
        unscored=study.unscored,
        duplicates=study.duplicates,
        named=frozenset(names.model_fields_set & {"id", "label", "prediction"}),
    )
    of_candidate = columns if names.candidate_model is None else replace(columns, model=names.candidate_model)
    candidate = newest(study, base, "candidate", of_candidate)
    # Two models may lie in one file, which is then both.
    baseline = newest(study, base, "baseline", columns, other_than=candidate if columns == of_candidate else None)
    try:
        digests = tuple(_digest_of_file(path) for path in (baseline, candidate))
        sides = ScoredFile(str(baseline), columns), ScoredFile(str(candidate), of_candidate)
        scores = scores_meant(sides, names.scores)
        pairs = join_scores(
            *sides, scores, unmatched=study.unmatched, allow_different_tasks=study.allow_different_tasks, with_ids=True
        )
        limits = as_score_range(study.score_range)
        identical = digests[0] == digests[1] and columns == of_candidate
        found = tuple(replace(pair, identical=identical, score_range=limits) for pair in pairs)
    except OSError as error:
        raise BadInput(f"{error.filename}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise BadInput(f"{study.source}: {in_keys(str(error))}") from None
    dated = own_date(study, candidate, of_candidate)
    of_baseline = sides[0].by(scores[0]).decoded()
    rows = np.unique(digests_of_ids(of_baseline.ids))
    return Pair(baseline, candidate, (digests[0], digests[1]), found, _digest_of_rows(of_baseline), rows, dated)


def with_measures_meant(study: RegressionStudy, pair: Pair) -> RegressionStudy:
    """The study; with None for the measures that it does not name where those of its scores are not the accuracy."""
    try:
        if "measures" not in study.model_fields_set and any(
            default_measures(each) != with_cost(each, ("accuracy",)) for each in pair.by_score
        ):
            study = study.model_copy(update={"measures": None})
        require_limits_used(study.score_range, measures_of(study, pair))
    except ValueError as error:
        raise BadInput(f"{study.source}: {in_keys(str(error))}") from None
    return study


def measures_of(study: RegressionStudy, pair: Pair) -> dict[str, None]:
    """The measures that are compared, each once."""
    return dict.fromkeys(name for each in pair.by_score for name in measures_meant(each, study.measures))


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:  # in pieces: of a Parquet file, only the columns that are wanted fit into memory
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity_of(study: RegressionStudy, pair: Pair) -> str:
    """The digest of what is compared and of the rules; places and times of the files are no part of it."""
    return _identity(study, *pair.digests)


def _identity(study: RegressionStudy, baseline: str, candidate: str) -> str:
    rules = study.model_dump(mode="json", exclude={*NO_RULES})
    # An evaluation that was stored before there were these keys is that of a study that does not use them.
    for table, keys in (
        (rules, ("unscored", "duplicates", "allow_different_tasks", "score_range", "weights")),
        (
            rules["columns"],
            (
                *("filter", "model", "candidate_model", "epoch", "rows", "lower_is_better", "higher_is_better"),
                *("missing", "classes"),
            ),
        ),
        (rules["rule"], ("margins", "simultaneous", "relative_effect", "relative_margin", "unseen_group")),
    ):
        for key in keys:
            if table[key] in (None, False, {}, [], "refuse", 0.05, "auto"):
                del table[key]
    if rules["looks"]["rows"] == "same":
        del rules["looks"]["rows"]
    return digest("evaluation", rules=rules, baseline=baseline, candidate=candidate)


def made_by(study: RegressionStudy, record: Record) -> bool:
    """True if an evaluation was made by the rules of a study, which the evaluation's own identity tells."""
    about = record.evaluation
    return about.evaluation == _identity(study, about.baseline_digest, about.candidate_digest)


def digests_of_ids(ids: Any) -> NDArray[np.int64]:
    """A number of 64 bits for each id: that of ``1`` where all are written as ``1.0``."""
    texts = without_points(ids).to_pylist()
    joined = b"".join(hashlib.blake2b(each.encode(), digest_size=8).digest() for each in texts)
    return np.frombuffer(joined, dtype=np.int64)


def _digest_of_rows(baseline: Predictions) -> str:
    """A digest of ids and labels of all rows of the baseline, in any order.

    A candidate that lacks some of the rows, which may be dropped, is another look at the same rows.
    """
    order = pc.sort_indices(baseline.ids)
    content = hashlib.sha256()
    for column in (baseline.ids.take(order), baseline.label.take(order)):
        for text in column.to_pylist():
            content.update(f"{len(text)}:{text}".encode())
    return content.hexdigest()
