"""Tests of benchmarks and significance studies: Nyssen's test of accuracy, and tests of models on data sets like these.

The latter are mean ranks, Friedman's test, and signed-rank tests of pairs.
"""

from collections.abc import Sequence
from functools import partial

from sigstats.tasks import statistical_tests
from sigstats.tasks.schema import Hypothesis

from ..pages.wording import NBSP, both_ends, join_words, number, signed
from . import sections, verdicts
from . import usual_columns as usual
from .evidence import Evidence, Section, Verdict
from .sections import caveat, section_of


def _efficiency_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    if all(row.classifier is None for row in rows):
        return sections.verdict(rows, evidence)
    claim = "agreed with the true classes better than chance"
    headline = verdicts.headline(rows, evidence, claim=claim, by=statistical_tests.named(rows[0].test).by)
    doubts = verdicts.sentences_on_retained(rows, "could not be distinguished from random assignment", evidence)
    return Verdict(headline, tuple(doubts), caveat("efficiency"))


_EFFICIENCY_COLUMNS = usual.case_columns(
    usual.estimate("Accuracy", "share of right predictions, observed"),
    usual.null_mean("Chance", "mean accuracy of random assignment with the same margins"),
)

_RANK = partial(number, decimals=2)
_DATA_SETS = usual.ROWS.named("Data sets", "data sets with a score of every model")


def _ranks_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    ranked = sorted((row.estimate, row.classifier or "?") for row in rows if row.estimate is not None)
    named = join_words([f"{name} {_RANK(rank)}" for rank, name in ranked])
    return Verdict(f"Mean ranks on {rows[0].n} data sets: {named}." if ranked else "There is no result.")


_RANK_COLUMNS = (usual.CLASSIFIER, _DATA_SETS, usual.value("Mean rank", "estimate", _RANK, "1 is the best"), usual.NOTE)
_FRIEDMAN_COLUMNS = (
    *usual.SUBJECT, _DATA_SETS, usual.value("F", "statistic", partial(number, decimals=4)), *usual.CLOSING,
)  # fmt: skip
SIGNED_RANK_INTERVAL = usual.interval_by(
    lambda row, low, high: " to ".join(both_ends(low, high, signed, 4)).replace("inf", "∞"),
    "of this difference, by the signed-rank test",
)
_SIGNED_RANK_COLUMNS = (
    *usual.SUBJECT,
    usual.ROWS.named("Data sets", "data sets with a score of both models"),
    usual.value(
        f"A{NBSP}−{NBSP}B",
        "estimate",
        partial(signed, decimals=4),
        "Hodges and Lehmann's estimate of the score of A minus that of B; with the opposite sign if less is better",
    ),
    SIGNED_RANK_INTERVAL,
    *usual.CLOSING,
)

SECTIONS = (
    section_of("efficiency", verdict=_efficiency_verdict, columns=_EFFICIENCY_COLUMNS),
    Section(
        order=9,
        test="mean-rank",
        name="Mean ranks",
        question="How do the classifiers rank over the data sets?",
        verdict=_ranks_verdict,
        columns=_RANK_COLUMNS,
        method="On each data set the classifiers are ranked by accuracy, 1 for the best; ties share their ranks.",
        source="Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006)",
    ),
    section_of("friedman", verdict=sections.verdict, columns=_FRIEDMAN_COLUMNS),
    section_of("signed-rank", verdict=partial(verdicts.verdict, by="signed ranks"), columns=_SIGNED_RANK_COLUMNS),
)
