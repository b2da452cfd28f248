"""The signed-rank test: which of two models is better on data sets like these."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import NBSP, signed, told_apart
from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _columns, _pairs


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """How many pairs differ, then who is better than whom."""
    return _pairs.verdict(rows, evidence, by="signed ranks")


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both models, and by how much the second is better."""
    difference = Column(
        f"B{NBSP}−{NBSP}A",
        lambda row: _columns.ABSENT if row.estimate is None else signed(row.estimate, 4),
        lambda row: row.estimate,
        "Hodges and Lehmann's estimate of the score of B minus that of A; turned where less is better",
    )
    interval = Column(
        "95% interval", _between, lambda row: row.estimate_low, "of this difference, by the signed-rank test"
    )
    sizes = Column("Data sets", _columns.ROWS.text, _columns.ROWS.sort, "data sets with a score of both")
    return [*_columns.subject_columns(rows), sizes, difference, interval, *_columns.closing_columns(rows)]


def _between(row: Hypothesis) -> str:
    if row.estimate_low is None or row.estimate_high is None:
        return _columns.ABSENT
    return " to ".join(told_apart(row.estimate_low, row.estimate_high, signed, 4)).replace("inf", "∞")


SECTION = Section(
    order=12,
    test="signed-rank",
    name="Signed ranks",
    question="Which of two models is better on data sets like these?",
    verdict=verdict,
    columns=columns,
    method=(
        "The differences of two models' scores are ranked by their size, and the ranks of those in favour of one are "
        "added up. p is the share of all assignments of signs whose sum is at least as far from its mean: exact also "
        "with equal scores, which are left out, and with equal differences, which share their ranks. The null "
        "hypothesis is that differences are symmetric about zero."
    ),
    source=(
        "Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1 (1945); for models over data sets, "
        "Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006)"
    ),
)
