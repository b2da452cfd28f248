"""Nyssen's test: whether the accuracy is better than that of a random classifier with the same margins."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from .. import usual_columns as usual
from ..evidence import Evidence
from ..section import Column, Verdict, caveat, section_of
from . import _cases, _tables


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """Who is better than chance, then every case that is not."""
    if all(row.classifier is None for row in rows):
        return _tables.verdict(rows, evidence)
    claim = "agreed with the true classes better than chance"
    found = _cases.headline(rows, evidence, claim=claim, by="Nyssen's exact test")
    doubts = _cases.sentences_on_retained(rows, "could not be told from random assignment", evidence)
    return Verdict(found, tuple(doubts), caveat("efficiency"))


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Observed beside expected accuracy."""
    value = usual.estimate("Accuracy", "share of right predictions, observed")
    return usual.case_columns(
        rows, value, usual.null_mean("Chance", "mean accuracy of random assignment with the same margins")
    )


SECTIONS = (section_of("efficiency", verdict=verdict, columns=columns),)
