"""McNemar's test: which of two classifiers is better on a data set."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence, distinct, gain, grouped, kept, necessity, rejected
from ..wording import NBSP, adjusted_p, index_number, listed, points
from . import Column, Section, Verdict, _cases, _columns, _tables

_BETTER = {"greater": "A is better", "less": "B is better"}
_EVEN = "of a split at least as uneven as the observed one"
_METHODS = {
    "exact": f"the exact {{sides}}binomial probability {_EVEN}",
    "mid-p": "the {sides}binomial mid-p-value (splits as uneven as the observed one count half, more uneven ones full)",
    "chi2": f"the {{sides}}chi-square approximation of the probability {_EVEN}",
}


def verdict(rows: Sequence[Hypothesis], evidence: Evidence, *, by: str = "McNemar") -> Verdict:
    """How many pairs differ, then who is better than whom on each data set."""
    rows = _tables.primary(rows)
    different, alike = rejected(rows), kept(rows)
    total, name = len(different) + len(alike), adjusted_p(evidence.adjust)
    if not total:
        return Verdict(f"There is no result: every comparison ({by}) is missing.")
    if not different:
        subject = f"Not one of {total} pairs of classifiers was" if total > 1 else "The two classifiers were not"
        return Verdict(f"{subject} shown to differ ({by}, {_cases.smallest(alike, name)}).")
    if total == 1:
        found = f"The two classifiers differ ({by}, {_cases.largest(different, name)})."
    else:
        share = (
            f"all {total} differ" if not alike else f"{len(different)} {'differs' if len(different) == 1 else 'differ'}"
        )
        found = f"Of {total} pairs of classifiers, {share} ({by}, {_cases.largest(different, name)})."
    groups = _cases.by_dataset([row for row in rows if row.decision != "missing"])
    return Verdict(found, tuple(_on(dataset, group) for dataset, group in groups.items()))


def _on(dataset: str, rows: Sequence[Hypothesis]) -> str:
    different, alike = rejected(rows), kept(rows)
    if not different:
        same = "the two classifiers cannot be told apart" if len(alike) == 1 else "no two classifiers can be told apart"
        return f"On {dataset}, {same} ({_cases.smallest(alike)})."
    clauses = []
    for better, group in grouped(different, lambda row: ordered(row)[0]).items():
        clauses.append(f"{better} is better than {listed([_loser(row) for row in group])}")
    if alike:
        others = "the other pair" if len(alike) == 1 else f"the other {len(alike)} pairs"
        clauses.append(f"{others} cannot be told apart")
    return f"On {dataset}, {'; '.join(clauses)}."


def _loser(row: Hypothesis) -> str:
    certain = necessity(row)
    parts = [_cases.decisive_p(row)]
    if certain is not None:
        parts.append(f"necessity{NBSP}{index_number(certain)}")
    return f"{ordered(row)[1]} ({', '.join(parts)})"


def ordered(row: Hypothesis) -> tuple[str, str]:
    """The better and the worse of two classifiers."""
    a, b = row.a or "?", row.b or "?"
    return (b, a) if (gain(row) or 0) > 0 else (a, b)


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both classifiers and the difference of their accuracies."""
    difference = Column(
        "B − A, points",
        lambda row: _columns.ABSENT if row.estimate is None else points(row.estimate, row.n),
        lambda row: row.estimate,
        "accuracy of B minus accuracy of A in percentage points",
    )
    interval = Column(
        "95% interval",
        lambda row: _columns.ABSENT if row.estimate_low is None else _between(row),
        lambda row: row.estimate_low,
        "95% interval of the difference (Tango)",
    )
    one_sided = any(row.alternative in _BETTER for row in rows)
    sides = [Column("Alternative", lambda row: _BETTER.get(row.alternative, row.alternative))] if one_sided else []
    return [*_columns.subject(rows), *sides, _columns.ROWS, difference, interval, *_columns.tail(rows)]


def _between(row: Hypothesis) -> str:
    low, high = (points(value or 0, row.n) for value in (row.estimate_low, row.estimate_high))
    return f"{low} to {high}"


def method(rows: Sequence[Hypothesis]) -> str:
    """What p is, by the methods and against the alternatives of the rows."""
    one_sided = {row.alternative in _BETTER for row in rows}
    sides = "" if len(one_sided) > 1 else "one-sided " if any(one_sided) else "two-sided "
    used = distinct(row.method for row in rows)
    found = ("by method " if len(used) > 1 else "") + listed([_METHODS[name].format(sides=sides) for name in used])
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
)
