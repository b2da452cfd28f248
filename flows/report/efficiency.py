"""Nyssen's test of classifiers, and of tables of counts."""

from collections.abc import Sequence

from sigstats.tasks import statistical_tests
from sigstats.tasks.schema import Hypothesis

from . import sections, verdicts
from . import usual_columns as usual
from .evidence import Evidence, Verdict
from .sections import caveat, section_of


def _verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    if all(row.classifier is None for row in rows):
        return sections.verdict(rows, evidence)
    claim = "agreed with the true classes better than chance"
    headline = verdicts.headline(rows, evidence, claim=claim, by=statistical_tests.named(rows[0].test).by)
    doubts = verdicts.sentences_on_retained(rows, "could not be distinguished from random assignment", evidence)
    return Verdict(headline, tuple(doubts), caveat("efficiency"))


_COLUMNS = usual.case_columns(
    usual.estimate("Accuracy", "share of right predictions, observed"),
    usual.null_mean("Chance", "mean accuracy of random assignment with the same margins"),
)

SECTIONS = (section_of("efficiency", verdict=_verdict, columns=_COLUMNS),)
