"""``[[tables]]``: is the accuracy of a confusion matrix better than chance."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sigstats._common.messages import shown
from sigstats.tasks.tables.table import Table

from . import _entry
from ._entry import codes, read_table


class Entry(_entry.Entry):
    """A confusion matrix, true classes in rows; or a file of predictions or counts."""

    TEST: ClassVar[str] = "efficiency"
    ORDER: ClassVar[int] = 10

    methods: Annotated[
        tuple[str, ...], Field(strict=False, min_length=1, description="auto, exact, mid-p, monte-carlo, chi2")
    ] = ("auto",)
    counts: Annotated[
        list[_entry.Counts] | None, Field(description="The matrix: counts, true classes in rows, assigned in columns")
    ] = None
    path: Annotated[
        str | None,
        Field(description="A CSV or Parquet file instead: a row for each object, or for each cell of counts"),
    ] = None
    label: Annotated[str, Field(description="The file's column of true classes")] = "label"
    prediction: Annotated[str, Field(description="The file's column of assigned classes")] = "prediction"
    count: Annotated[str | None, Field(description="The file's column of counts, where a row is not one object")] = None
    by: Annotated[str | None, Field(description="The file's column that tells several matrices apart")] = None

    @model_validator(mode="after")
    def _given(self) -> Self:
        self.require_exactly_one(counts=self.counts is not None, path=self.path is not None)
        if self.by is not None and (self.printed or self.path is None):
            raise ValueError(f"by: {shown(self.by)} is not valid; expected only with a path, and without printed")
        return self

    def cases(self, base: Path) -> Iterator[_entry.Case]:
        """The matrix, or every matrix of the file."""
        if self.path is None:
            yield self._case(self.name, self.counts)
            return
        extra = [name for name in (self.count, self.by) if name is not None]
        table = read_table(self.path, base, [self.label, self.prediction, *extra])
        label, prediction = table.texts(self.label), table.texts(self.prediction)
        counts = None if self.count is None else np.array(self._counts(table), dtype=np.int64)
        if self.by is None:
            yield self._case(self.name, _matrix(label, prediction, counts))
            return
        (group,), names = codes(table.texts(self.by))
        for position, name in enumerate(names):
            rows = np.flatnonzero(group == position)
            part = None if counts is None else counts[rows]
            yield self._case(f"{self.name}: {name}", _matrix(label.take(rows), prediction.take(rows), part))

    def _case(self, name: str, counts: Any) -> _entry.Case:
        return _entry.Case(subject={"dataset": name}, test=self.TEST, data={"table": counts}, printed=self)

    def _counts(self, table: Table) -> list[int]:
        counts = table.whole_numbers(str(self.count))
        if min(counts) < 0:
            row = next(row for row, count in enumerate(counts) if count < 0)
            raise table.error(str(self.count), f": {counts[row]} is not valid; expected 0 or more", row)
        return counts


def _matrix(label: Any, prediction: Any, counts: NDArray[np.int64] | None) -> list[list[int]]:
    """The matrix of true and assigned classes, each row counted once or as often as `counts` says."""
    (true, assigned), classes = codes(label, prediction)
    matrix = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(matrix, (true, assigned), 1 if counts is None else counts)
    cells: list[list[int]] = matrix.tolist()
    return cells
