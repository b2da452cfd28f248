"""The test of fit: whether class counts agree with required probabilities."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _columns, _tables


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Which counts are not as required."""
    claim = "the counts do not agree with the required probabilities"
    return _tables.verdict(rows, evidence, claim=claim, by="multinomial test")


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The table and its size."""
    return _tables.columns(rows, _columns.OBJECTS)


SECTION = Section(
    order=60,
    test="goodness-of-fit",
    name="Goodness of fit",
    question="Are the counts as required?",
    verdict=verdict,
    columns=columns,
    method=(
        "Counts of classes are held against probabilities that were given beforehand: exact sums the probabilities of "
        "all outcomes that are no likelier than the observed one; monte-carlo draws outcomes; chi2 (Pearson) and "
        "likelihood-ratio are approximations. The null hypothesis is that the required probabilities hold."
    ),
    source="Hryniewicz, Possibilistic methodology for the evaluation of classification algorithms, equations 12 to 19",
)
