"""PermFeats: whether the classifier's accuracy rests on dependence between features."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence, rejected
from ..section import Column, Section, Verdict
from . import _cases, _columns, _stopping


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """How often dependence is used, then who uses it on each data set."""
    found = _cases.headline(rows, evidence, claim="relied on dependence between features", by="PermFeats")
    details = (sentence for dataset, group in _cases.by_dataset(rows).items() for sentence in _on(dataset, group))
    return Verdict(found, (*_cases.too_few(rows, evidence), *_stopping.spared(rows, evidence), *details))


def _on(dataset: str, rows: Sequence[Hypothesis]) -> list[str]:
    users, others = rejected(rows), _cases.doubtful(rows)
    if not users and not others:
        return []
    if len(others) == len(rows):
        subject = f"{others[0].classifier}'s accuracy was not" if len(others) == 1 else "no classifier's accuracy was"
        return [f"On {dataset}, {subject} shown to rest on dependence between features ({_cases.smallest(others)})."]
    clauses = []
    if users:
        clauses.append(f"{_cases.with_p(users, len(rows))} relied on it")
    if others:
        verb = "was" if len(others) == 1 else "were"
        clauses.append(f"{_cases.with_p(others, len(rows))} {verb} not shown to rely on it")
    return [f"On {dataset}, {'; '.join(clauses)}."]


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Observed beside permuted error."""
    value = _columns.estimate("Error", "cross-validated error, observed")
    return _columns.of_cases(
        rows, value, _columns.null_mean("Permuted", "mean error after permuting each feature inside each class")
    )


SECTION = Section(
    order=20,
    test="permutation-features",
    name="PermFeats",
    question="Does the classifier's accuracy rest on dependence between features?",
    verdict=verdict,
    columns=columns,
    method=(
        "Each feature is permuted by itself inside each class, which keeps its relation to the class and destroys its "
        "relation to other features; then the classifier is cross-validated again and p found as in PermClass. The "
        "null hypothesis is that features are independent inside each class. A small p says that the classifier uses "
        "dependence between features to be more accurate; a large one that a simpler classifier, which ignores "
        "dependence, may do as well on these data."
    ),
    source=(
        "Ojala and Garriga, Permutation tests for studying classifier performance, Journal of Machine Learning "
        "Research 11 (2010), test 2"
    ),
)
