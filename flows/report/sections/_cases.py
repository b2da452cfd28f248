"""Verdicts on classifiers, one at a time, each on a data set: a *case*."""

import math
from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence, at_floor, distinct, grouped, kept, rejected
from ..wording import adjusted_p, counted, listed, p_equation

_CASES = "cases (a classifier on a data set)"


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
    sure, unsure, undecided = rejected(rows), kept(rows), stuck(rows)
    total, name = len(sure) + len(unsure), adjusted_p(evidence.adjust)
    if not total:
        return f"There is no result: every hypothesis of this test ({by}) is missing."
    if not sure and undecided:
        return (
            f"Too few permutations to decide: in {len(undecided)} of {counted(total, 'case')} (a classifier on a data "
            f"set) no permutation was as extreme as the observed result ({by}, {smallest(undecided, name)})."
        )
    if not sure:
        subject = "The classifier was not" if total == 1 else f"In none of {total} {_CASES} was the classifier"
        return f"{subject} shown to have {claim} ({by}, {smallest(unsure, name)})."
    found = f"({by}, {largest(sure, name)})"
    if unsure:
        remark = f"; {len(undecided)} cannot be decided yet" if undecided else ""
        return f"In {len(sure)} of {total} {_CASES} the classifier {claim} {found}{remark}."
    classifiers, datasets = distinct(row.classifier for row in sure), distinct(row.dataset for row in sure)
    if total == len(classifiers) * len(datasets) == len(rows):
        who = classifiers[0] if len(classifiers) == 1 else f"All {len(classifiers)} classifiers"
        where = datasets[0] if len(datasets) == 1 else f"all {len(datasets)} data sets"
        return f"{who} {claim} on {where} {found}."
    return f"In all {total} complete {_CASES} the classifier {claim} {found}."


def stuck(rows: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The rows that are kept for want of replicates: none was as extreme as observed."""
    return [row for row in kept(rows) if at_floor(row)]


def doubtful(rows: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The rows that are kept because replicates were as extreme as observed."""
    return [row for row in kept(rows) if not at_floor(row)]


def too_few(rows: Sequence[Hypothesis], evidence: Evidence) -> tuple[str, ...]:
    """What is wanted to decide the rows that are stuck; nothing where none is."""
    undecided = stuck(rows)
    if not undecided:
        return ()
    # Adjusting multiplies p by a factor that does not depend on it, unless it is cut off at 1.
    factor = max(decisive(row) / (row.p_value or 1) for row in undecided)
    wanted = math.ceil(round(factor / evidence.alpha, 6)) - 1
    most = max(row.replicates or 0 for row in undecided)
    family = counted(sum(row.p_value is not None for row in rows), "hypothesis", "hypotheses")
    sentence = (
        f"With {most:,} permutations, adjusting for {family} leaves p above {evidence.alpha:g} even where none "
        f"was as extreme as the observed result: {_named(undecided)}. At least {wanted:,} permutations are needed."
    )
    return (sentence,)


def _named(rows: Sequence[Hypothesis]) -> str:
    names = [f"{row.classifier} on {row.dataset}" for row in rows]
    return listed(names) if len(names) <= 6 else f"{len(names)} cases"


def with_p(rows: Sequence[Hypothesis], of: int) -> str:
    """The classifiers of the rows, out of so many, with their p-values: ``1-nn (p = 0.2) and tree (p = 0.4)``."""
    if len(rows) <= 3:
        return listed([f"{row.classifier} ({decisive_p(row)})" for row in rows])
    extreme = f"each {largest(rows)}" if rejected(rows) else smallest(rows)
    names = f"all {of} classifiers" if len(rows) == of else listed([row.classifier or "?" for row in rows])
    return f"{names} ({extreme})"


def by_dataset(rows: Sequence[Hypothesis]) -> dict[str, list[Hypothesis]]:
    """The rows by data set."""
    return grouped(rows, lambda row: row.dataset or "the data")


def doubts(rows: Sequence[Hypothesis], phrase: str) -> list[str]:
    """A sentence for each data set with classifiers of which nothing was shown."""
    groups = {dataset: (doubtful(group), len(group)) for dataset, group in by_dataset(rows).items()}
    return [f"On {dataset}, {with_p(group, of)} {phrase}." for dataset, (group, of) in groups.items() if group]
