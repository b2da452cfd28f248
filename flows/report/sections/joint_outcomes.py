"""Two classifiers of one positive class, by error rate, cost or a measure such as F1."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from .. import usual_columns as usual
from ..evidence import Evidence
from ..section import Column, Verdict, section_of
from . import _tables


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """In which tables the two differ."""
    return _tables.verdict(rows, evidence, by=rows[0].method)


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both classifiers, what is compared, and the difference."""
    interval = usual.interval("95% percentile interval of the difference")
    difference = usual.estimate("B − A", "measure of B minus measure of A")
    return _tables.columns(rows, usual.MEASURE, usual.OBJECTS, difference, interval)


SECTIONS = (section_of("joint-outcomes", verdict=verdict, columns=columns),)
