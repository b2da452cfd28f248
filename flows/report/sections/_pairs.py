"""Verdicts on pairs of classifiers: which of two is better on a data set."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import NBSP, adjusted_p, index_number, join_words, points, points_range
from .. import usual_columns as usual
from ..evidence import Evidence, advantage_of_b, group_by, necessity, not_rejected, primary_rows, rejected
from ..section import Column, Verdict
from . import _cases


def verdict(rows: Sequence[Hypothesis], evidence: Evidence, *, by: str) -> Verdict:
    """How many pairs differ, then who is better than whom on each data set."""
    rows = primary_rows(rows)
    different, alike = rejected(rows), not_rejected(rows)
    total, name = len(different) + len(alike), adjusted_p(evidence.adjust)
    if not total:
        return Verdict(f"There is no result: every comparison ({by}) is missing.")
    if not different:
        subject = f"Not one of {total:,} pairs of classifiers was" if total > 1 else "The two classifiers were not"
        return Verdict(f"{subject} shown to differ ({by}, {_cases.smallest_p(alike, name)}).")
    if total == 1:
        found = f"The two classifiers differ ({by}, {_cases.largest_p(different, name)})."
    else:
        verb = "differs" if len(different) == 1 else "differ"
        share = f"{len(different):,} {verb}" if alike else f"all {total:,} differ"
        found = f"Of {total:,} pairs of classifiers, {share} ({by}, {_cases.largest_p(different, name)})."
    groups = _cases.by_dataset([row for row in rows if row.decision != "missing"])
    return Verdict(found, tuple(_on(dataset, group, _cases.p_name(evidence)) for dataset, group in groups.items()))


def _on(dataset: str, rows: Sequence[Hypothesis], name: str) -> str:
    different, alike = rejected(rows), not_rejected(rows)
    if not different:
        same = "the two classifiers cannot be told apart" if len(alike) == 1 else "no two classifiers can be told apart"
        return f"On {dataset}, {same} ({_cases.smallest_p(alike, name)})."
    clauses = []
    for better, group in group_by(different, lambda row: better_and_worse(row)[0]).items():
        clauses.append(f"{better} is better than {join_words([_loser(row, name) for row in group])}")
    if alike:
        others = "the other pair" if len(alike) == 1 else f"the other {len(alike)} pairs"
        clauses.append(f"{others} cannot be told apart")
    return f"On {dataset}, {'; '.join(clauses)}."


def _loser(row: Hypothesis, name: str) -> str:
    certain = necessity(row)
    parts = [_cases.decision_p_in_words(row, name)]
    if certain is not None:
        parts.append(f"necessity{NBSP}{index_number(certain)}")
    return f"{better_and_worse(row)[1]} ({', '.join(parts)})"


def better_and_worse(row: Hypothesis) -> tuple[str, str]:
    """The better and the worse of two classifiers."""
    a, b = row.a or "?", row.b or "?"
    return (b, a) if (advantage_of_b(row) or 0) > 0 else (a, b)


def in_points(interval: str) -> list[Column]:
    """The columns of a difference of accuracies and of its interval, in percentage points."""
    return [
        Column(
            "B − A, points",
            lambda row: usual.ABSENT if row.estimate is None else points(row.estimate, row.n),
            lambda row: row.estimate,
            "accuracy of B minus accuracy of A in percentage points",
        ),
        Column(
            "95% interval",
            lambda row: usual.ABSENT if row.estimate_low is None else _between(row),
            lambda row: row.estimate_low,
            interval,
        ),
    ]


def _between(row: Hypothesis) -> str:
    return points_range(row.estimate_low or 0, row.estimate_high or 0, row.n)
