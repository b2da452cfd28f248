"""The bootstrap percentile test: whether two classifiers differ in a measure that is no proportion."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _columns, _pairs


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """How many pairs differ, then who is better than whom on each data set."""
    return _pairs.verdict(rows, evidence, by="bootstrap")


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both classifiers and the difference of their measures."""
    interval = Column(
        "95% interval", _columns.INTERVAL.text, _columns.INTERVAL.sort, "95% percentile interval of the difference"
    )
    difference = _columns.estimate("B − A", "measure of B minus measure of A")
    return [*_columns.subject_columns(rows), _columns.ROWS, difference, interval, *_columns.closing_columns(rows)]


SECTION = Section(
    order=45,
    test="bootstrap",
    name="Bootstrap",
    question="Which of two classifiers has the better F1?",
    verdict=verdict,
    columns=columns,
    method=(
        "The rows are drawn again with replacement, 10,000 times, as counts of what happens jointly to label and both "
        "predictions; p is the smallest level at which the percentile interval of the difference of macro-averaged F1 "
        "leaves 0 out. The null hypothesis is that both have the same F1. It is approximate: too small where few rows "
        "tell the two apart."
    ),
    source=(
        "Keller, Mariethoz and Bengio, Significance tests for bizarre measures in 2-class classification tasks; Efron "
        "and Tibshirani, An introduction to the bootstrap (1993)"
    ),
    terms=(
        "Rows are drawn again at random, and F1 is found anew. Necessity says, from 0 to 1, how far the data rule out "
        "that the two are equally good: 1 − 2p of the p before adjustment."
    ),
)
