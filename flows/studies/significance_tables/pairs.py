"""``[[pairs]]``: is one of two classifiers better on the same objects."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from sigstats._common.messages import shown

from . import _entry
from ._entry import codes, read_table


class Entry(_entry.Entry):
    """How many objects only one of two classifiers got right; or a file of both classifiers' predictions."""

    TEST: ClassVar[str] = "mcnemar"
    ORDER: ClassVar[int] = 20

    a: Annotated[_entry.Name, Field(description="The first classifier; with a path, the column of its predictions")]
    b: Annotated[_entry.Name, Field(description="The second classifier, likewise")]
    only_a: Annotated[int | None, Field(ge=0, description="Objects that only a got right")] = None
    only_b: Annotated[int | None, Field(ge=0, description="Objects that only b got right")] = None
    n: Annotated[int | None, Field(ge=1, description="All objects, for the difference of accuracies")] = None
    path: Annotated[str | None, Field(description="A CSV or Parquet file instead, a row for each object")] = None
    label: Annotated[str, Field(description="The file's column of true classes")] = "label"
    alternative: Annotated[
        Literal["two-sided", "greater", "less"], Field(description="greater: a is better; less: b is better")
    ] = "two-sided"

    @model_validator(mode="after")
    def _given(self) -> Self:
        if (self.only_a is None) != (self.only_b is None):
            raise ValueError("only_a and only_b: one of them is missing; expected both")
        self.require_exactly_one(only_a=self.only_a is not None, path=self.path is not None)
        if self.a == self.b:
            raise ValueError(f"b: {shown(self.b)} is not valid; expected another name than a")
        return self

    def cases(self, base: Path) -> Iterator[_entry.Case]:
        """The pair."""
        only_a, only_b, n = self.only_a, self.only_b, self.n
        if self.path is not None:
            wanted = [self.label, self.a, self.b]
            table = read_table(self.path, base, wanted)
            (label, of_a, of_b), _ = codes(*map(table.texts, wanted))
            right_a, right_b = label == of_a, label == of_b
            only_a, only_b, n = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum()), len(label)
        data = {"only_a": only_a, "only_b": only_b, "n": n, "alternative": self.alternative}
        yield self.case(data, a=self.a, b=self.b)
