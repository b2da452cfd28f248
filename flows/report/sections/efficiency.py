"""Nyssen's test: whether the accuracy is better than that of a random classifier with the same margins."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _cases, _columns, _tables

_POOLED = (
    "This is a use of the test that its assumptions do not cover: the predictions are pooled from folds whose "
    "classifiers share training rows, and the test takes them for independent. At a level of 5% it rejected 7.4% of "
    "the time where there was nothing to learn, and 27.6% with the folds of five repetitions (the ready study "
    "cross-validation: naive Bayes, 100 rows); PermClass kept its level."
)


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Who is better than chance, then every case that is not."""
    if all(row.classifier is None for row in rows):
        return _tables.verdict(rows, evidence, claim="the accuracy is better than chance", by="Nyssen's test")
    claim = "agreed with the true classes better than chance"
    found = _cases.headline(rows, evidence, claim=claim, by="Nyssen's exact test")
    doubts = _cases.sentences_on_retained(rows, "could not be told from random assignment", evidence)
    return Verdict(found, tuple(doubts), _POOLED)


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Observed beside expected accuracy."""
    value = _columns.estimate("Accuracy", "share of right predictions, observed")
    return _columns.case_columns(
        rows, value, _columns.null_mean("Chance", "mean accuracy of random assignment with the same margins")
    )


SECTION = Section(
    order=30,
    test="efficiency",
    name="Nyssen",
    question="Are the predictions better than chance?",
    verdict=verdict,
    columns=columns,
    method=(
        "The confusion matrix of the predictions is held against all matrices of the same row and "
        "column totals: p is the exact probability of as many right predictions or more if classes were assigned at "
        "random. The null hypothesis is that predicted and true classes are independent. Nothing is retrained, so the "
        "test speaks of these predictions alone."
    ),
    source="Nyssen, Comparison of different methods for testing the significance of classification efficiency",
    terms=(
        "Nyssen's test compares the number right with that of naming classes at random, each as often as it was named."
    ),
)
