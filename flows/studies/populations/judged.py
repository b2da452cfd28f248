"""The verdicts of a judge that errs, and labels by people of some rows."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from sigstats.tasks.record import record
from sigstats.tasks.work import JudgedRows

from ...running.options import Progress
from ._source import LoadedSource, PopulationSource, PopulationSpec, Tests

#: Of A and of B.
Both: TypeAlias = Annotated[list[Annotated[float, Field(gt=0, lt=1)]], Field(min_length=2, max_length=2)]


class Judged(PopulationSource):
    """Two models as a judge sees them on all rows, and people on so many rows as the sizes of the study say."""

    source: Literal["judged"]
    rows: Annotated[int, Field(ge=2, le=10**6, description="The rows that the judge sees")] = 2000
    accuracy: Annotated[Both, Field(description="Of A and of B, as people see it; of marks the mean")]
    sensitivity: Annotated[Both, Field(description="How often the judge calls right what people do, of A and of B")]
    specificity: Annotated[Both, Field(description="How often the judge calls wrong what people do, of A and of B")]
    answers: Annotated[int, Field(ge=1, le=1000, description="Answers to an item, which are not independent")] = 1
    marks: Annotated[
        int, Field(ge=1, le=1000, description="The highest mark, of marks from 0; 1 is right and wrong")
    ] = 1

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """One population."""
        values = record(JudgedRows, self.model_dump(exclude={"source", "name"}))
        return LoadedSource(populations=[PopulationSpec(slice=None, values=values, rows=self.rows)])
