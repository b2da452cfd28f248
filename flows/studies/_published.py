"""Published numbers of a benchmark, which the report shows beside its results."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sigstats.tasks.plan import Cell
from sigstats.tasks.summary.published import Reference

from ..config.model import Strict
from ._printed import PrintedNumber

Null = Literal["labels", "features"]


class Published(Strict):
    """Published numbers of a classifier on the study's data sets."""

    classifier: Annotated[str, Field(description="The classifier's name")]
    null: Annotated[Null, Field(description="The permutation test")]
    columns: Annotated[
        tuple[Literal["estimate", "null_mean", "p_value"], ...],
        Field(strict=False, min_length=1, description="What is printed: observed error, mean permuted error, p"),
    ]
    values: Annotated[
        dict[str, list[PrintedNumber]],
        Field(description="For each data set its printed numbers, in quotes, in the order of columns"),
    ]
    within: Annotated[
        dict[str, float],
        Field(default_factory=dict, description="By column: the greatest difference that counts as agreement"),
    ]
    side: Annotated[
        dict[str, float],
        Field(default_factory=dict, description="By column: what both should be at most, or both above"),
    ]
    remarks: Annotated[
        dict[str, str],
        Field(default_factory=dict, description="By data set: a remark, shown if the numbers do not agree"),
    ]

    @model_validator(mode="after")
    def _complete(self) -> "Published":
        for dataset, values in self.values.items():
            if len(values) != len(self.columns):
                wanted = f"expected {len(self.columns)}, one for each of columns"
                raise ValueError(f"values: {dataset}: {len(values)} numbers are not valid; {wanted}")
        for key in [*self.within, *self.side]:
            if key not in self.columns:
                raise ValueError(f"{key!r} is not valid; expected one of {', '.join(self.columns)}")
        return self


def published_references(published: Iterable[Published], cells: Iterable[Cell]) -> Iterator[Reference]:
    """The printed numbers, each with the cell whose results it stands beside."""
    cells = tuple(cells)
    for table in published:
        wanted = {"classifier": table.classifier, "null": table.null}
        found = {
            cell.subject["dataset"]: cell
            for cell in cells
            if all(cell.subject.get(key) == value for key, value in wanted.items())
        }
        for dataset, values in table.values.items():
            if dataset not in found:  # a study may leave some of the publication's data sets out
                continue
            for name, printed in zip(table.columns, values, strict=True):
                yield Reference(
                    cell=found[dataset].name,
                    column=name,
                    printed=printed,
                    within=table.within.get(name),
                    side=table.side.get(name),
                    remark=table.remarks.get(dataset, ""),
                )
