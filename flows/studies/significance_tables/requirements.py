"""``[[requirements]]``: do class counts agree with probabilities that were required beforehand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from sigstats.flows.config.model import Strict
from sigstats.goodness_of_fit.test import relax_probabilities

from . import _entry
from ._entry import read_table

Ordering = Literal["probability", "chi2", "likelihood-ratio"]


class Relaxation(Strict):
    """A share of misclassified objects that is allowed: the last class, which the probabilities do not name."""

    share: Annotated[float, Field(gt=0, lt=1, description="The share of all objects")]
    classes: Annotated[
        list[Annotated[int, Field(ge=0)]] | None,
        Field(description="Positions, from 0, of the classes it is taken from; all by default"),
    ] = None


class Entry(_entry.Entry):
    """Counts of classes and their required probabilities; or a file with a row for each class."""

    TEST: ClassVar[str] = "goodness-of-fit"
    ORDER: ClassVar[int] = 40

    counts: Annotated[_entry.Counts | None, Field(description="The count of each class")] = None
    probabilities: Annotated[list[float] | None, Field(description="The required probability of each class")] = None
    path: Annotated[str | None, Field(description="A CSV or Parquet file instead, a row for each class")] = None
    count: Annotated[str, Field(description="The file's column of counts")] = "count"
    probability: Annotated[str, Field(description="The file's column of probabilities")] = "probability"
    relax: Annotated[Relaxation | None, Field(description="Misclassified objects that are allowed")] = None
    ordering: Annotated[
        Ordering, Field(description="What makes an outcome extreme, for the methods exact and monte-carlo")
    ] = "probability"

    @model_validator(mode="after")
    def _given(self) -> Self:
        if (self.counts is None) != (self.probabilities is None):
            raise ValueError("counts and probabilities: one of them is missing; expected both")
        self.require_exactly_one(counts=self.counts is not None, path=self.path is not None)
        return self

    def cases(self, base: Path) -> Iterator[_entry.Case]:
        """The counts with what is required of them."""
        counts, probabilities = self.counts, self.probabilities
        if self.path is not None:
            table = read_table(self.path, base, [self.count, self.probability])
            counts = table.whole_numbers(self.count)
            probabilities = table.numbers(self.probability).to_numpy().tolist()
        if self.relax is not None:
            probabilities = list(relax_probabilities(probabilities, self.relax.share, classes=self.relax.classes))
        yield self.case({"counts": counts, "probabilities": probabilities, "ordering": self.ordering})
