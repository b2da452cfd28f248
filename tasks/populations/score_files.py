"""Scored rows of Parquet files, read row group by row group and checked, and tests of scores on test sets of them.

Areas under the ROC curve are tested by DeLong, losses by Student's t.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.validation import shown
from sigstats.measures.table import MEASURES
from sigstats.scores.auc import auc_test
from sigstats.scores.mean_score import mean_score_test
from sigstats.scores.result import ScoreResult

from ..input_files import reason
from ..input_files.limit import Budget
from ..tables.arrow_files import require_columns
from ..work import AppliedTest
from .counts import Label
from .parquet_files import open_parquet
from .tests import Answers, attempts, numbers


@dataclass(frozen=True)
class Rows:
    """Scored rows: whether each is positive, its scores by A and B, and its group, in arrays of one shape."""

    positive: NDArray[np.bool_]
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    group: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.positive)

    @property
    def lacking(self) -> NDArray[np.bool_]:
        """Which test sets, one a row, have no row that is truly positive."""
        return np.asarray(~self.positive.any(axis=1), dtype=np.bool_)

    def part(self, which: Any) -> "Rows":
        """Some of the rows."""
        group = None if self.group is None else self.group[which]
        return Rows(self.positive[which], self.a[which], self.b[which], group)


def concatenate(parts: Sequence[Rows]) -> Rows:
    """All rows of several parts, in their order."""
    group = None if parts[0].group is None else np.concatenate([part.group for part in parts if part.group is not None])
    positive, a, b = (np.concatenate([getattr(part, name) for part in parts]) for name in ("positive", "a", "b"))
    return Rows(positive, a, b, group)


def read_group(system: Any, file: str, group: int, columns: Mapping[str, str], positive: Label) -> Rows:
    """The rows of one row group of a file, within the limit of what is read."""
    where = f"{file}, row group {group}"
    opened, wanted = open_parquet(system, file), list(dict.fromkeys(columns.values()))
    try:
        require_columns(partial(open_parquet, system, file), opened, wanted, Budget(file), group=group)
        table = opened.read_row_group(group, columns=wanted, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{where}: cannot be read ({reason(error)})") from None
    for name in columns.values():
        if table.column(name).null_count:
            raise ValueError(f"{where}: column {shown(name)}: a value is missing (null); expected one in every row")
    a, b = (_numbers(where, columns[side], table.column(columns[side])) for side in ("a", "b"))
    labels = table.column(columns["label"])
    try:
        known = labels.cast(labels.type.value_type) if pa.types.is_dictionary(labels.type) else labels
        told = np.asarray(pc.equal(known, pa.scalar(positive, type=known.type)))
    except (pa.ArrowException, TypeError) as error:
        like = f"labels like {shown(positive)} ({reason(error)})"
        raise ValueError(
            f"{where}: column {shown(columns['label'])}: {labels.type} is not valid; expected {like}"
        ) from None
    if "group" not in columns:
        return Rows(told, a, b)
    names = table.column(columns["group"]).to_pylist()
    return Rows(told, a, b, np.array([_code(name) for name in names], dtype=np.int64))


def _code(name: object) -> int:
    """A number for a group, the same in every file and process."""
    return int.from_bytes(hashlib.blake2b(repr(name).encode(), digest_size=8).digest(), "big", signed=True)


def _numbers(where: str, name: str, values: Any) -> NDArray[np.float64]:
    kind = values.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        raise ValueError(f"{where}: column {shown(name)}: {kind} is not valid; expected numbers")
    found = np.asarray(values.to_numpy(), dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError(
            f"{where}: column {shown(name)}: {found[~np.isfinite(found)][0]} is not valid; expected finite numbers"
        )
    return found


def require_probabilities(where: str, columns: Mapping[str, str], rows: Rows) -> None:
    """Refuse scores that are not probabilities."""
    for side, values in (("a", rows.a), ("b", rows.b)):
        outside = (values < 0) | (values > 1)
        if outside.any():
            raise ValueError(
                f"{where}: column {shown(columns[side])}: {values[outside][0]} is not valid; expected probabilities "
                "of the positive class, for a loss"
            )


def difference(measure: str, rows: Rows) -> float:
    """The difference B - A of a measure over all rows."""
    spec = MEASURES[measure]
    return spec.of(rows.positive, rows.b) - spec.of(rows.positive, rows.a)


def run_score_test(test: AppliedTest, sets: Rows, truth: float) -> tuple[Answers, NDArray[np.float64]]:
    """Run a test of scores on each test set; return its answers and the difference B - A on each.

    A test set without two rows (of both classes for an area; of two groups, if rows have groups) is no evidence: its
    p-value is 1, and its interval holds every value.
    """
    found, problem = attempts(partial(_answer, test, sets.part(index), truth) for index in range(len(sets)))
    answers = Answers(
        numbers(None if each is None else each[0] for each in found),
        np.array([None if each is None else each[1] for each in found], object),
        problem,
    )
    return answers, np.array([0.0 if each is None else each[2] for each in found])


def _answer(test: AppliedTest, rows: Rows, truth: float) -> tuple[float, bool, float]:
    """The p-value, whether the interval holds the truth B - A, and this difference."""
    result = _result(test, rows)
    if result is None:
        return 1.0, True, 0.0
    interval = result.confidence_interval
    return result.pvalue, bool(interval.low <= -truth <= interval.high), 0.0 - result.estimate


def _result(test: AppliedTest, rows: Rows) -> ScoreResult | None:
    options = {
        "alternative": test.options["alternative"],
        "confidence_level": test.options["confidence"],
        "groups": rows.group,
    }
    if len(rows) < 2 or (rows.group is not None and len(np.unique(rows.group)) < 2):
        return None
    spec = MEASURES[test.compared]
    if spec.of_rows is None:
        # The units are rows or groups: two with a positive and two with a negative are needed.
        units = np.arange(len(rows)) if rows.group is None else rows.group
        if min(len(np.unique(units[rows.positive])), len(np.unique(units[~rows.positive]))) < 2:
            return None
        return auc_test(rows.positive, rows.a, rows.b, method=test.options.get("method", "asymptotic"), **options)
    return mean_score_test(*(spec.of_rows(rows.positive, score) for score in (rows.a, rows.b)), **options)
