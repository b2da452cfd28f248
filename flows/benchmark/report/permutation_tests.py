"""Both permutation tests of each classifier side by side in one table, as Ojala and Garriga print them."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from markupsafe import Markup

from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.summary.published import Reference, read_references

from ...pages.heat_table import (
    data_table,
)
from ...pages.wording import (
    join_words,
    p_at_most,
    significant,
)
from ...report.evidence import Evidence, Figure
from ...report.rows import at_smallest_p, group_by
from ...report.usual_columns import measured

_PERMUTATION_TESTS = ("permutation-labels", "permutation-features")

#: A classifier on a data set, by both permutation tests.
Case: TypeAlias = tuple[Hypothesis, Hypothesis]


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One table of every classifier on every data set with both tests."""
    by_case = [{(row.dataset, row.classifier): row for row in evidence.of(test)} for test in _PERMUTATION_TESTS]
    cases = [(row, by_case[1][key]) for key, row in by_case[0].items() if key in by_case[1]]
    done = [case for case in cases if all(row.p_value is not None for row in case)]
    if not done:
        return
    shown = {row.cell for case in done for row in case}
    references = [reference for reference in read_references(evidence.results.store) if reference.cell in shown]
    printed = {(reference.cell, reference.name): reference.printed for reference in references}
    beside = f" Printed numbers are in parentheses; ≠ marks {_not_allowed(references)}." if references else ""
    measure = done[0][0].measure or "error"
    improves = f"lowers the {measure}" if measure == "error" else f"raises the {measure}"
    yield Figure(
        title="Both permutation tests",
        caption=(
            f"The {measure} on the data, its mean with permuted labels (PermClass) and with features permuted inside "
            "each class (PermFeats), and p before adjustment. The first data sets of a classifier are those where the "
            f"joint structure of the features {improves} (PermFeats p ≤ {significant(evidence.alpha)}).{beside}"
        ),
        body=_table(done, printed, evidence.alpha, measure, improves),
    )


def _not_allowed(references: Sequence[Reference]) -> str:
    """The study's criterion of disagreement with printed numbers, in words."""
    by_rule: dict[str, list[str]] = {}
    for reference in references:
        if reference.side is not None:
            rule, limit = "a p on the other side of", significant(reference.side)
        elif reference.tolerance is not None:
            what = {"estimate": "an error", "null_mean": "a permuted error"}.get(reference.name, "a p")
            rule, limit = f"{what} further away than", f"{significant(reference.tolerance)}"
        else:
            rule, limit = "what does not round to it, Monte-Carlo error allowed for", ""
        if limit not in by_rule.setdefault(rule, []):
            by_rule[rule].append(limit)
    return join_words([f"{rule} {' or '.join(sorted(limits))}".strip() for rule, limits in by_rule.items()])


def _table(
    cases: Sequence[Case], printed: Mapping[tuple[str, str], str], alpha: float, measure: str, improves: str
) -> Markup:
    of_tests = (f"PermClass {measure}", "PermClass p", f"PermFeats {measure}", "PermFeats p")
    kinds = dict.fromkeys((measure[0].upper() + measure[1:], *of_tests), "number")
    groups = group_by(cases, lambda case: case[0].classifier)
    ordered = [case for group in groups.values() for case in sorted(group, key=lambda case: not _depends(case, alpha))]
    rows = [_line(case, printed, improves if _depends(case, alpha) else "not shown") for case in ordered]
    heads = {"Classifier": "row", "Data set": "", **kinds, "Joint structure": ""}
    return data_table("Both permutation tests", heads, rows)


def _depends(case: Case, alpha: float) -> bool:
    return (case[1].p_value or 0) <= alpha


def _line(case: Case, printed: Mapping[tuple[str, str], str], said: str) -> list[str]:
    labels = case[0]
    cells = [
        labels.classifier or "",
        labels.dataset or "",
        _cell(measured(labels, labels.estimate or 0), labels, "estimate", printed),
    ]
    for row in case:
        cells.append(_cell(measured(row, row.null_mean or 0), row, "null_mean", printed))
        cells.append(_cell(p_at_most(row.p_value or 0, at_most=at_smallest_p(row)), row, "p_value", printed))
    return [*cells, said]


def _cell(text: str, row: Hypothesis, column: str, printed: Mapping[tuple[str, str], str]) -> str:
    theirs = printed.get((row.cell, column))
    if theirs is None:
        return text
    differs = "≠" if f"{column} {theirs} is printed" in row.disagrees else ""
    # A share in percent, with no more digits than are printed.
    return f"{text} ({differs}{theirs if column == 'p_value' else f'{Decimal(theirs).scaleb(2):f}%'})"
