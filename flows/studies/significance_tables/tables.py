"""``[[tables]]``: is the accuracy of a confusion matrix better than chance."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from . import _entry
from ._files import codes, read_columns, whole_numbers


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
        self.one_of(counts=self.counts is not None, path=self.path is not None)
        if self.by is not None and (self.printed or self.path is None):
            raise ValueError(f"by: {self.by!r} is not valid; expected only with a path, and without printed")
        return self

    def cases(self, base: Path) -> Iterator[_entry.Case]:
        """The matrix, or every matrix of the file."""
        if self.path is None:
            yield self._case(self.name, self.counts)
            return
        extra = [name for name in (self.count, self.by) if name is not None]
        table = read_columns(self.path, base, [self.label, self.prediction, *extra])
        if self.by is None:
            yield self._case(self.name, self._matrix(table))
            return
        groups, names = codes(table.column(self.by))
        for position, name in enumerate(names):
            part = table.filter(pa.array(groups[0] == position))
            yield self._case(f"{self.name}: {name}", self._matrix(part))

    def _case(self, name: str, counts: Any) -> _entry.Case:
        return _entry.Case(subject={"dataset": name}, test=self.TEST, data={"table": counts}, printed=self)

    def _matrix(self, table: pa.Table) -> list[list[int]]:
        (label, prediction), classes = codes(table.column(self.label), table.column(self.prediction))
        k = len(classes)
        matrix = np.zeros((k, k), dtype=np.int64)
        each = [1] * len(label) if self.count is None else whole_numbers(table, self.count, str(self.path))
        if min(each) < 0:
            raise ValueError(f"{self.path}: column {self.count!r}: {min(each)} is not valid; expected 0 or more")
        np.add.at(matrix, (label, prediction), each)
        counts: list[list[int]] = matrix.tolist()
        return counts
