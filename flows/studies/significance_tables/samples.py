"""``[[samples]]``: are the class counts of two independent samples alike."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from sigstats._common.messages import shown

from . import _entry
from ._entry import read_table


class Entry(_entry.Entry):
    """How often each class was counted in two samples of different objects; or a file with a row for each class."""

    TEST: ClassVar[str] = "homogeneity"
    ORDER: ClassVar[int] = 30

    a: Annotated[_entry.Name, Field(description="The first sample; with a path, the column of its counts")]
    b: Annotated[_entry.Name, Field(description="The second sample, likewise")]
    counts_a: Annotated[_entry.Counts | None, Field(description="The first sample's count of each class")] = None
    counts_b: Annotated[_entry.Counts | None, Field(description="The second sample's, in the same order")] = None
    path: Annotated[str | None, Field(description="A CSV or Parquet file instead, a row for each class")] = None

    @model_validator(mode="after")
    def _given(self) -> Self:
        if (self.counts_a is None) != (self.counts_b is None):
            raise ValueError("counts_a and counts_b: one of them is missing; expected both")
        self.require_exactly_one(counts_a=self.counts_a is not None, path=self.path is not None)
        if self.a == self.b:
            raise ValueError(f"b: {shown(self.b)} is not valid; expected another name than a")
        return self

    def cases(self, base: Path) -> Iterator[_entry.Case]:
        """The two samples."""
        counts_a, counts_b = self.counts_a, self.counts_b
        if self.path is not None:
            table = read_table(self.path, base, [self.a, self.b])
            counts_a, counts_b = (table.whole_numbers(name) for name in (self.a, self.b))
        yield self.case({"counts_a": counts_a, "counts_b": counts_b}, a=self.a, b=self.b)
