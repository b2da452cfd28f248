"""Published numbers of a benchmark, which the report shows next to its results."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from pydantic import Field, model_validator

from sigstats._common.validation import as_choice
from sigstats.tasks.plan import Cell
from sigstats.tasks.record import Null
from sigstats.tasks.summary import Reference

from ..config.model import Strict
from ..config.settings import PrintedNumber


class Published(Strict):
    """Published numbers of a classifier."""

    classifier: str = Field(description="Name of the classifier")
    null: Null = Field(description="Permutation test")
    columns: tuple[Literal["estimate", "null_mean", "p_value"], ...] = Field(
        strict=False, min_length=1, description="Printed columns: observed error, mean permuted error, p"
    )
    values: dict[str, list[PrintedNumber]] = Field(
        description="Printed numbers of each data set, as text, in the order of columns"
    )
    within: dict[str, float] = Field(
        default_factory=dict, description="Largest difference that counts as agreement, by column"
    )
    side: dict[str, float] = Field(
        default_factory=dict, description="Threshold, by column: agreement if both numbers are on one side"
    )
    remarks: dict[str, str] = Field(default_factory=dict, description="Remark by data set, shown if numbers disagree")

    @model_validator(mode="after")
    def _complete(self) -> "Published":
        for dataset, values in self.values.items():
            if len(values) != len(self.columns):
                wanted = f"expected {len(self.columns)}, one for each of columns"
                raise ValueError(f"values: {dataset}: {len(values)} numbers are not valid; {wanted}")
        for name in ("within", "side"):
            for key in getattr(self, name):
                as_choice(key, name, self.columns)
        return self


def published_references(published: Iterable[Published], cells: Sequence[Cell]) -> Iterator[Reference]:
    """Yield the printed numbers, each with the cell of the corresponding result."""
    for table in published:
        about = table.classifier, table.null
        entries = {
            cell.subject["dataset"]: cell
            for cell in cells
            if (cell.subject.get("classifier"), cell.subject.get("null")) == about
        }
        for dataset, values in table.values.items():
            if dataset not in entries:  # a study may leave some of the publication's data sets out
                continue
            for name, printed in zip(table.columns, values, strict=True):
                yield Reference(
                    cell=entries[dataset].name,
                    name=name,
                    printed=printed,
                    tolerance=table.within.get(name),
                    side=table.side.get(name),
                    remark=table.remarks.get(dataset, ""),
                )


def published_notes(published: Iterable[Published], cells: Iterable[Cell]) -> Iterator[str]:
    """Yield a note on each table of numbers without a corresponding result."""
    tested = {tuple(map(cell.subject.get, ("dataset", "classifier", "null"))) for cell in cells}
    for table in published:
        if tested.isdisjoint((dataset, table.classifier, table.null) for dataset in table.values):
            yield (
                f"the published numbers of {table.classifier} ({table.null}) are not shown: the study has no such "
                "test on their data sets"
            )
