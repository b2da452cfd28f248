"""Two classifiers of one positive class, by error rate, cost or a measure such as F1."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _columns, _tables


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """In which tables the two differ."""
    return _tables.verdict(rows, evidence, claim="the two classifiers differ", by=rows[0].method)


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both classifiers, what is compared, and the difference."""
    interval = Column(
        "95% interval", _columns.INTERVAL.text, _columns.INTERVAL.sort, "95% percentile interval of the difference"
    )
    difference = _columns.estimate("B − A", "measure of B minus measure of A")
    return _tables.columns(rows, _columns.MEASURE, _columns.OBJECTS, difference, interval)


SECTION = Section(
    order=47,
    test="joint-outcomes",
    name="Joint outcomes",
    question="Do two classifiers of one positive class differ?",
    verdict=verdict,
    columns=columns,
    method=(
        "What happens jointly to label and both predictions is counted in eight events. proportion compares error "
        "rates and dcf detection costs, as normal approximations: from the disagreements alone, or, independent, as if "
        "the two were measured on different objects. bootstrap draws the objects again with replacement, as counts of "
        "the events. The null hypothesis is that both are equally good."
    ),
    source=(
        "Keller, Mariethoz and Bengio, Significance tests for bizarre measures in 2-class classification tasks, "
        "equations 4 to 15"
    ),
)
