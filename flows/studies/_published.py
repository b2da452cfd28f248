"""Published numbers of a benchmark, which the report shows beside its results."""

from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from sigstats._common.validation import as_choice, refuse
from sigstats.tasks.calibration import sample_size
from sigstats.tasks.plan import Cell
from sigstats.tasks.record import Null
from sigstats.tasks.summary.published import Reference
from sigstats.tasks.work import Tested

from ..config.model import Strict


def _number(text: str) -> str:
    try:
        finite = Decimal(text).is_finite()
    except InvalidOperation:
        finite = False
    if not finite:
        raise ValueError(f"{text[:60]!r} is not valid; expected a number in quotes, with the digits that are printed")
    return text


PrintedNumber = Annotated[str, AfterValidator(_number)]


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


def published_notes(published: Iterable[Published], cells: Iterable[Cell]) -> Iterator[str]:
    """A note of each table of numbers that stand beside no result."""
    tested = {tuple(map(cell.subject.get, ("dataset", "classifier", "null"))) for cell in cells}
    for table in published:
        if tested.isdisjoint((dataset, table.classifier, table.null) for dataset in table.values):
            yield (
                f"the published numbers of {table.classifier} ({table.null}) are not shown: the study has no such test "
                "on a data set of theirs"
            )


class PublishedSize(Strict):
    """Published number of rows from which a test rejects more often than not."""

    population: str = Field(description="Name of the population")
    slice: str | None = Field(None, description="Slice of the population, as in the results")
    test: str = Field(description="Name of the McNemar test in the results")
    rows: PrintedNumber = Field(description="Printed number of rows, as text")
    remark: str = Field("", description="Remark, shown if the numbers disagree")


def published_sizes(published: Iterable[PublishedSize], cells: Iterable[Cell]) -> Iterator[Reference]:
    """The printed numbers, each with the cells of its population and test."""
    groups = {
        (group[0].subject["dataset"], group[0].subject.get("slice"), group[0].subject["test"]): group
        for group in sample_size.one_test(cells)
        if group[0].work_of(Tested).test.test == "mcnemar"
    }
    for number, size in enumerate(published):
        wanted = (size.population, size.slice, size.test)
        if wanted not in groups:
            known = "; ".join(", ".join(part for part in key if part) for key in list(groups)[:10])
            raise refuse(
                f"published[{number}]", ", ".join(part for part in wanted if part), f"one of {known or 'none'}"
            )
        cell = " ".join(each.name for each in groups[wanted])
        yield Reference(cell=cell, column="estimate", printed=size.rows, remark=size.remark)
