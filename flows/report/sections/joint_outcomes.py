"""Two classifiers of one positive class, by error rate, cost or a measure such as F1."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence
from ..section import Column, Verdict, section_of
from . import _columns, _tables


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """In which tables the two differ."""
    return _tables.verdict(rows, evidence, by=rows[0].method)


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both classifiers, what is compared, and the difference."""
    interval = Column(
        "95% interval", _columns.INTERVAL.text, _columns.INTERVAL.sort, "95% percentile interval of the difference"
    )
    difference = _columns.estimate("B − A", "measure of B minus measure of A")
    return _tables.columns(rows, _columns.MEASURE, _columns.OBJECTS, difference, interval)


SECTION = section_of("joint-outcomes", verdict=verdict, columns=columns)
