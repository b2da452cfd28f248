"""Published numbers of rows, which the report of a calibration shows next to the exact ones."""

from collections.abc import Iterable, Iterator

from pydantic import Field

from sigstats._common.validation import refuse
from sigstats.tasks.calibration import sample_size
from sigstats.tasks.calibration.work import Tested
from sigstats.tasks.plan import Cell
from sigstats.tasks.summary.published import Reference

from ..config.model import Strict
from ..config.settings import PrintedNumber


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
        cell = " ".join(group.name for group in groups[wanted])
        yield Reference(cell=cell, name="estimate", printed=size.rows, remark=size.remark)
