"""Nyssen's test of classifiers, and of tables of counts."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from . import sections, verdicts
from . import usual_columns as usual
from .evidence import Column, Evidence, Verdict
from .sections import caveat, section_of


def _verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    if all(row.classifier is None for row in rows):
        return sections.verdict(rows, evidence)
    claim = "agreed with the true classes better than chance"
    headline = verdicts.headline(rows, evidence, claim=claim, by="Nyssen's exact test")
    doubts = verdicts.sentences_on_retained(rows, "could not be distinguished from random assignment", evidence)
    return Verdict(headline, tuple(doubts), caveat("efficiency"))


def _columns(rows: Sequence[Hypothesis]) -> list[Column]:
    value = usual.estimate("Accuracy", "share of right predictions, observed")
    return usual.case_columns(
        rows, value, usual.null_mean("Chance", "mean accuracy of random assignment with the same margins")
    )


SECTIONS = (section_of("efficiency", verdict=_verdict, columns=_columns),)
