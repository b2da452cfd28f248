"""Verdicts on classifiers, one at a time, each on a data set: a *case*."""

from collections.abc import Sequence

from tasks.schema import Hypothesis

from ..evidence import Evidence, at_floor, distinct, grouped, kept, rejected
from ..wording import adjusted_p, counted, listed, p_equation


def decisive(row: Hypothesis) -> float:
    """The p-value that decides."""
    if row.p_adjusted is not None:
        return row.p_adjusted
    return 1.0 if row.p_value is None else row.p_value


def decisive_p(row: Hypothesis, name: str = "p") -> str:
    """The p-value that decides, with its name: ``p = 0.032``."""
    return p_equation(decisive(row), at_most=at_floor(row), name=name)


def largest(rows: Sequence[Hypothesis], name: str = "p") -> str:
    """The largest of the p-values that decide: ``p ≤ 0.032``."""
    most = max(rows, key=decisive)
    return p_equation(decisive(most), at_most=len(rows) > 1 or at_floor(most), name=name)


def smallest(rows: Sequence[Hypothesis], name: str = "p") -> str:
    """The smallest of the p-values that decide: ``smallest p = 0.21``."""
    return ("smallest " if len(rows) > 1 else "") + decisive_p(min(rows, key=decisive), name)


def headline(rows: Sequence[Hypothesis], evidence: Evidence, *, claim: str, by: str) -> str:
    """How many cases let the null hypothesis be rejected.

    Parameters
    ----------
    rows : sequence of Hypothesis
        Of one test, a classifier and a data set each.
    evidence : Evidence
    claim : str
        What a rejection means, after its subject and in the past tense: ``learned real class structure``.
    by : str
        The name of the test.
    """
    sure, unsure = rejected(rows), kept(rows)
    total = len(sure) + len(unsure)
    if not total:
        return f"There is no result: every hypothesis of this test ({by}) is missing."
    if not sure:
        subject = "The only classifier" if total == 1 else f"Not one of {total} classifiers"
        verb = "was not shown to have" if total == 1 else "was shown to have"
        return f"{subject} {verb} {claim} ({by}, {smallest(unsure, adjusted_p(evidence.adjust))})."
    found = f"({by}, {largest(sure, adjusted_p(evidence.adjust))})"
    if unsure:
        return f"In {len(sure)} of {total} cases (a classifier on a data set) the classifier {claim} {found}."
    classifiers, datasets = distinct(row.classifier for row in sure), distinct(row.dataset for row in sure)
    if total == len(classifiers) * len(datasets) == len(rows):
        who = classifiers[0] if len(classifiers) == 1 else f"All {len(classifiers)} classifiers"
        where = datasets[0] if len(datasets) == 1 else f"all {len(datasets)} data sets"
        return f"{who} {claim} on {where} {found}."
    return f"In all {total} complete cases (a classifier on a data set) the classifier {claim} {found}."


def with_p(rows: Sequence[Hypothesis]) -> str:
    """The classifiers of the rows with the p-values that decided: ``1-nn (p = 0.2) and tree (p = 0.4)``."""
    if len(rows) <= 3:
        return listed([f"{row.classifier} ({decisive_p(row)})" for row in rows])
    extreme = f"each {largest(rows)}" if rejected(rows) else smallest(rows)
    return f"{listed([row.classifier or '?' for row in rows])} ({extreme})"


def by_dataset(rows: Sequence[Hypothesis]) -> dict[str, list[Hypothesis]]:
    """The rows by data set."""
    return grouped(rows, lambda row: row.dataset or "the data")


def too_few(rows: Sequence[Hypothesis], evidence: Evidence) -> tuple[str, ...]:
    """A sentence where more replicates could change decisions: nothing was as extreme, yet the hypothesis is kept."""
    stuck = [row for row in kept(rows) if at_floor(row)]
    if not stuck:
        return ()
    most = max(row.replicates or 0 for row in stuck)
    where = counted(len(stuck), "case")
    sentence = (
        f"In {where} no permutation was as extreme as the observed result and yet the hypothesis is kept: with "
        f"{most:,} permutations, adjusting for {counted(len(rows), 'hypothesis', 'hypotheses')} leaves p above "
        f"{evidence.alpha:g}. More permutations can decide."
    )
    return (sentence,)
