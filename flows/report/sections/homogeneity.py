"""The test of homogeneity: whether two independent samples fall into the classes alike."""

from collections.abc import Sequence
from dataclasses import replace

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _columns, _tables

_SAME_ROWS = (
    "This is a use of the test that its assumptions do not cover: both runs are of the same rows, which are counted "
    "twice as if they were two independent samples, and their predictions are pooled from folds. At a level of 5% it "
    "rejected two equal learners 3.0% of the time where something was learned and 9.2% where there was nothing to "
    "learn, and 33.4% and 51.0% with the folds of five repetitions (the ready study cross-validation: naive Bayes, 100 "
    "rows). McNemar's test is the one for two classifiers on the same rows, of one cross-validation."
)


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Which samples differ."""
    found = _tables.verdict(rows, evidence, claim="the two samples differ", by="Fisher, Freeman and Halton")
    same_rows = any(" " in row.cell for row in rows)  # two runs of one data set
    return replace(found, beside=_SAME_ROWS) if same_rows else found


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both samples and their size."""
    return _tables.columns(rows, _columns.OBJECTS)


SECTION = Section(
    order=50,
    test="homogeneity",
    name="Homogeneity",
    question="Are two independent samples alike?",
    verdict=verdict,
    columns=columns,
    method=(
        "Two samples of different objects, counted by class, are held against all tables of the same totals: exact "
        "sums the probabilities of all tables that are no likelier than the observed one; bounds enclose that sum; "
        "monte-carlo draws tables; chi2 is Pearson's approximation. The null hypothesis is that both samples fall into "
        "the classes with equal probabilities. Not for two classifiers on the same objects."
    ),
    source="Hryniewicz, Possibilistic methodology for the evaluation of classification algorithms, equations 4 to 11",
)
