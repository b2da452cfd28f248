"""McNemar's test: which of two classifiers is better on a data set."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import join_words
from ..evidence import Evidence, distinct
from ..section import Column, Section, Verdict
from . import _columns, _pairs

_BETTER = {"greater": "A is better", "less": "B is better"}
_EVEN = "of a split at least as uneven as the observed one"
_METHODS = {
    "exact": f"the exact {{sides}}binomial probability {_EVEN}",
    "mid-p": "the {sides}binomial mid-p-value (splits as uneven as the observed one count half, more uneven ones full)",
    "sign flips of groups": (
        "where rows come in groups, the exact probability of a difference as large as the observed one if the two are "
        "exchanged in each group with probability 1/2"
    ),
    "chi2": f"the {{sides}}chi-square approximation of the probability {_EVEN}",
}


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """How many pairs differ, then who is better than whom on each data set."""
    return _pairs.verdict(rows, evidence, by="McNemar")


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both classifiers and the difference of their accuracies."""
    one_sided = any(row.alternative in _BETTER for row in rows)
    sides = [Column("Alternative", lambda row: _BETTER.get(row.alternative, row.alternative))] if one_sided else []
    return [
        *_columns.subject_columns(rows),
        *sides,
        _columns.ROWS,
        *_pairs.in_points("95% interval of the difference (Tango)"),
        *_columns.closing_columns(rows),
    ]


def method(rows: Sequence[Hypothesis]) -> str:
    """What p is, by the methods and against the alternatives of the rows."""
    one_sided = {row.alternative in _BETTER for row in rows}
    sides = "" if len(one_sided) > 1 else "one-sided " if any(one_sided) else "two-sided "
    used = distinct(row.method for row in rows)
    found = ("by method " if len(used) > 1 else "") + join_words([_METHODS[name].format(sides=sides) for name in used])
    toward = "Where the alternative is that A or that B is better, unevenness in its favour alone counts. "
    return (
        f"Only rows that one of two classifiers got right and the other wrong can tell them apart: p is {found}. "
        f"{toward if any(one_sided) else ''}The null hypothesis is that both are equally likely to be right. It is "
        "about these predictions; it does not account for the choice of the training rows."
    )


SECTION = Section(
    order=40,
    test="mcnemar",
    name="McNemar",
    question="Which of two classifiers is better?",
    verdict=verdict,
    columns=columns,
    method=method,
    source=(
        "McNemar, Note on the sampling error of the difference between correlated proportions or percentages, "
        "Psychometrika 12 (1947); for classifiers, Sturm, Comparing two classifiers using a contingency table"
    ),
    terms=(
        "McNemar's test compares the rows that only one of two classifiers got right. Necessity says, from 0 to 1, how "
        "far the data rule out that they are equally good: 1 − 2p of the p before adjustment."
    ),
)
