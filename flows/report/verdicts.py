"""Verdicts in words: `headline` on a classifier on each data set (a case), `verdict` on a pair of classifiers."""

import math
from collections.abc import Sequence

from sigstats._common.messages import join_words
from sigstats._common.numerals import (
    NBSP,
    adjusted_p,
    count_of,
    index_number,
    p_equation,
    points_range,
    signed_points,
    significant,
)
from sigstats.multiplicity import fewest_resamples
from sigstats.tasks.schema import Hypothesis

from . import usual_columns as usual
from .evidence import Column, Evidence, Verdict
from .rows import (
    advantage_of_a,
    at_smallest_p,
    distinct,
    group_by,
    hypotheses,
    necessity,
    not_rejected,
    primary_rows,
    rejected,
    undecided_rows,
)

_CASES = "cases (a classifier on a data set)"
#: At most this many models or cases are named; more are counted.
_MOST_NAMED = 6


def decision_p(row: Hypothesis) -> float:
    """Return the p-value that decides."""
    return next((p for p in (row.p_adjusted, row.p_value) if p is not None), 1.0)


def decision_p_in_words(row: Hypothesis, name: str = "p") -> str:
    """Return the p-value that decides, with its name: ``p = 0.032``."""
    return p_equation(decision_p(row), at_most=at_smallest_p(row), name=name, log10_p=_log10_of_0(row))


def _log10_of_0(row: Hypothesis) -> float | None:
    """Minus infinity if p is exactly 0, which no adjustment changes."""
    return row.log10_p if row.log10_p == -math.inf else None


def largest_p(rows: Sequence[Hypothesis], name: str = "p") -> str:
    """Return the largest of the p-values that decide: ``p ≤ 0.032``."""
    most = max(rows, key=decision_p)
    at_most = len(rows) > 1 or at_smallest_p(most)
    return p_equation(decision_p(most), at_most=at_most, name=name, log10_p=_log10_of_0(most))


def p_name(evidence: Evidence) -> str:
    """Return the name of the deciding p-values if the adjustment was named before."""
    return "p" if evidence.adjust == "none" else "adjusted p"


def smallest_p(rows: Sequence[Hypothesis], name: str = "p") -> str:
    """Return the smallest of the p-values that decide: ``smallest p = 0.21``."""
    return ("smallest " if len(rows) > 1 else "") + decision_p_in_words(min(rows, key=decision_p), name)


def headline(rows: Sequence[Hypothesis], evidence: Evidence, *, claim: str, by: str) -> str:
    """Return the number of cases in which the null hypothesis is rejected.

    `rows`: of one test, a classifier and a data set each.
    `claim`: what a rejection means, after its subject and in the past tense: ``learned real class structure``.
    `by`: the name of the test.
    """
    sure, unsure, undecided = rejected(rows), not_rejected(rows), undecided_rows(rows)
    total, name = len(sure) + len(unsure), adjusted_p(evidence.adjust)
    if not total and _cannot_reject(rows):
        return f"Too few arrangements: the test ({by}) cannot reject for any classifier."
    if not total:
        return f"There is no result: every hypothesis of this test ({by}) is missing."
    if not sure and undecided:
        smallest = f", {smallest_p(undecided, name)}" if decision_p(undecided[0]) < 1 else ""
        return (
            f"Too few permutations to decide: in {len(undecided)} of {count_of(total, 'case')} (a classifier "
            f"on a data set) no permutation was as extreme as the observed result ({by}{smallest})."
        )
    if not sure:
        subject = "The classifier was not" if total == 1 else f"In none of {total} {_CASES} was the classifier"
        return f"{subject} shown to have {claim} ({by}, {smallest_p(unsure, name)})."
    sentence = f"({by}, {largest_p(sure, name)})"
    if unsure:
        remark = f"; {len(undecided)} cannot be decided yet" if undecided else ""
        return f"In {len(sure)} of {total} {_CASES} the classifier {claim} {sentence}{remark}."
    classifiers, datasets = distinct(row.classifier for row in sure), distinct(row.dataset for row in sure)
    if total == len(classifiers) * len(datasets) == len(rows):
        several = "Both" if len(classifiers) == 2 else f"All {len(classifiers)}"
        who = classifiers[0] if len(classifiers) == 1 else f"{several} classifiers"
        where = datasets[0] if len(datasets) == 1 else f"all {len(datasets)} data sets"
        return f"{who} {claim} on {where} {sentence}."
    cases = f"all {total} complete {_CASES}" if total > 1 else "the only complete case (a classifier on a data set)"
    return f"In {cases} the classifier {claim} {sentence}."


def _cannot_reject(rows: Sequence[Hypothesis]) -> tuple[str, ...]:
    """Return a sentence for each data set whose groups allow too few permutations."""
    groups = by_dataset([row for row in rows if row.decision == "none"])
    return tuple(f"On {dataset}, the test cannot reject: {group[0].note}." for dataset, group in groups.items())


def retained_rows(rows: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return the rows that are not rejected because replicates were as extreme as observed."""
    return [row for row in not_rejected(rows) if not at_smallest_p(row)]


def permutations_needed(rows: Sequence[Hypothesis], evidence: Evidence) -> tuple[str, ...]:
    """State how many permutations the undecided rows need, and the data sets on which no number is enough."""
    undecided = undecided_rows(rows)
    if not undecided:
        return _cannot_reject(rows)
    adjusted = [row for row in hypotheses(rows) if row.p_value is not None]
    families = group_by(adjusted, lambda row: row.method).values()
    wanted = 0
    for tested in families:
        if stuck := undecided_rows(tested):
            others = [row.p_value for row in tested if row not in stuck and row.p_value is not None]
            wanted = max(wanted, fewest_resamples(len(stuck), others, method=evidence.adjust, alpha=evidence.alpha))
    most = max(row.replicates or 0 for row in undecided)
    family = count_of(len(adjusted), "hypothesis", "hypotheses")
    names = [f"{row.classifier} on {row.dataset}" for row in undecided]
    named = join_words(names) if len(names) <= _MOST_NAMED else f"{len(names)} cases"
    sentence = (
        f"With {most:,} permutations, adjusting for {family} leaves p above {significant(evidence.alpha)} "
        f"even if none is as extreme as the observed result: {named}. At least {wanted:,} permutations are needed."
    )
    return (*_cannot_reject(rows), sentence)


def classifiers_with_p(rows: Sequence[Hypothesis], of: int, name: str = "p") -> str:
    """Name the classifiers of the rows with their p-values: ``1-nn (p = 0.2) and tree (p = 0.4)``."""
    if len(rows) <= 3:
        return join_words([f"{row.classifier} ({decision_p_in_words(row, name)})" for row in rows])
    extreme = f"each {largest_p(rows, name)}" if rejected(rows) else smallest_p(rows, name)
    names = f"all {of} classifiers" if len(rows) == of else join_words([row.classifier or "?" for row in rows])
    return f"{names} ({extreme})"


def by_dataset(rows: Sequence[Hypothesis]) -> dict[str, list[Hypothesis]]:
    """Return the rows by data set."""
    return group_by(rows, lambda row: row.dataset or "the data")


def sentences_on_retained(rows: Sequence[Hypothesis], phrase: str, evidence: Evidence) -> list[str]:
    """Return a sentence for each data set with classifiers without a significant result."""
    groups = {dataset: (retained_rows(group), len(group)) for dataset, group in by_dataset(rows).items()}
    name = p_name(evidence)
    return [
        f"On {dataset}, {classifiers_with_p(group, of, name)} {phrase}."
        for dataset, (group, of) in groups.items()
        if group
    ]


def in_words_of_the_measure(text: str, rows: Sequence[Hypothesis]) -> str:
    """Rephrase a text about errors for the measure of the rows."""
    if rows[0].measure in (None, "error"):
        return text
    way = "least" if rows[0].alternative == "greater" else "most"
    clause = f"whose {rows[0].measure} is at {way} the observed one"
    return text.replace("whose error is at most the observed one", clause)


def verdict(rows: Sequence[Hypothesis], evidence: Evidence, *, by: str) -> Verdict:
    """Count the pairs that differ, then name the better one of each pair on each data set."""
    rows = primary_rows(rows)
    different, alike = rejected(rows), not_rejected(rows)
    total, name = len(different) + len(alike), adjusted_p(evidence.adjust)
    if not total:
        return Verdict(f"There is no result: every comparison ({by}) is missing.")
    if not different:
        subject = f"Not one of {total:,} pairs of classifiers was" if total > 1 else "The two classifiers were not"
        return Verdict(f"{subject} shown to differ ({by}, {smallest_p(alike, name)}).")
    if total == 1:
        sentence = f"The two classifiers differ ({by}, {largest_p(different, name)})."
    else:
        verb = "differs" if len(different) == 1 else "differ"
        share = f"{len(different):,} {verb}" if alike else f"all {total:,} differ"
        sentence = f"Of {total:,} pairs of classifiers, {share} ({by}, {largest_p(different, name)})."
    groups = by_dataset([row for row in rows if row.decision != "missing"])
    return Verdict(sentence, tuple(_on(dataset, group, p_name(evidence)) for dataset, group in groups.items()))


def _on(dataset: str, rows: Sequence[Hypothesis], name: str) -> str:
    different, alike = rejected(rows), not_rejected(rows)
    if not different:
        same = "the two classifiers are not shown to differ" if len(alike) == 1 else "no two are shown to differ"
        return f"On {dataset}, {same} ({smallest_p(alike, name)})."
    clauses = []
    for better, group in group_by(different, lambda row: better_and_worse(row)[0]).items():
        clauses.append(f"{better} is better than {join_words([_loser(row, name) for row in group])}")
    if alike:
        others = "the other pair is" if len(alike) == 1 else f"the other {len(alike)} pairs are"
        clauses.append(f"{others} not shown to differ")
    return f"On {dataset}, {'; '.join(clauses)}."


def _loser(row: Hypothesis, name: str) -> str:
    certain = necessity(row)
    parts = [decision_p_in_words(row, name)]
    if certain is not None:
        parts.append(f"necessity{NBSP}{index_number(certain)}")
    return f"{better_and_worse(row)[1]} ({', '.join(parts)})"


def better_and_worse(row: Hypothesis) -> tuple[str, str]:
    """Return the better and the worse of two classifiers."""
    a, b = row.a or "?", row.b or "?"
    return (b, a) if (advantage_of_a(row) or 0) < 0 else (a, b)


def choice(best: str, tied: Sequence[str]) -> str:
    """Return advice on the best classifier and those that do not differ significantly from it.

    >>> choice("a", ["b", "c"])
    'take a, b or c: other criteria, such as cost, or more rows may decide'
    """
    rest = ": other criteria, such as cost, or more rows may decide" if tied else ""
    return f"take {' or '.join(filter(None, (', '.join([best, *tied][:-1]), [best, *tied][-1])))}{rest}"


def best_in_words(best: str, tied: Sequence[str], worse: Sequence[str], where: str) -> str:
    """Name the best model, the models not shown to differ from it, and those shown to be worse.

    >>> best_in_words("a", ["b"], ["c"], "on iris")
    'a is best on iris; b is not shown to differ; c is worse'
    >>> best_in_words("a", ["b", "c"], [], "on iris")
    'a is ahead on iris; b and c are not shown to differ'
    """
    sentence = f"{best} is {'best' if worse or not tied else 'ahead'} {where}"
    for names, verb in ((tied, "not shown to differ"), (worse, "worse")):
        if names:
            shown = join_words(names) if len(names) <= _MOST_NAMED else f"{len(names)} others"
            sentence += f"; {shown} {'is' if len(names) == 1 else 'are'} {verb}"
    return sentence


def in_points(interval: str) -> list[Column]:
    """Return the columns of a difference of accuracies and of its interval, in percentage points."""
    return [
        Column(
            "A − B, points",
            lambda row: usual.ABSENT if row.estimate is None else signed_points(row.estimate, row.n),
            lambda row: row.estimate,
            "accuracy of A minus accuracy of B in percentage points",
        ),
        usual.interval_by(lambda row, low, high: points_range(low, high, row.n), interval),
    ]
