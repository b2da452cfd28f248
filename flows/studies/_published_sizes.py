"""Published numbers of rows that a test needs, which the report shows beside those of a calibration study."""

from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import Field

from sigstats._common.validation import refuse
from sigstats.tasks.analyses import sample_size
from sigstats.tasks.plan import Cell
from sigstats.tasks.summary.published import Reference

from ..config.model import Strict
from ._printed import PrintedNumber


class PublishedSize(Strict):
    """The published number of rows from which on a test rejects more often than not in a population."""

    population: Annotated[str, Field(description="The population's name")]
    slice: Annotated[str | None, Field(description="Which of the source's populations, as results name it")] = None
    test: Annotated[str, Field(description="The test, as results name it; one of McNemar's")]
    rows: Annotated[PrintedNumber, Field(description="The printed number of rows, in quotes")]
    remark: Annotated[str, Field(description="A remark, shown if the numbers do not agree")] = ""


def published_sizes(published: Iterable[PublishedSize], cells: Iterable[Cell]) -> Iterator[Reference]:
    """The printed numbers, each with the cells of its population and test.

    Raises
    ------
    ValueError
        If the study applies no such test of McNemar's to such a population.
    """
    groups = {
        (group[0].subject["dataset"], group[0].subject.get("slice"), group[0].subject["test"]): group
        for group in sample_size.one_test(cells)
        if group[0].work["test"]["test"] == "mcnemar"
    }
    for number, size in enumerate(published):
        wanted = (size.population, size.slice, size.test)
        if wanted not in groups:
            known = "; ".join(", ".join(part for part in key if part) for key in list(groups)[:10])
            raise refuse(
                f"published[{number}]", ", ".join(part for part in wanted if part), f"one of {known or 'none'}"
            )
        yield Reference(
            cell=sample_size.joined(groups[wanted]), column="estimate", printed=size.rows, remark=size.remark
        )
