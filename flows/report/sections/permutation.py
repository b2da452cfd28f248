"""PermClass and PermFeats: what a classifier learned, and whether it depends on the joint structure of the features."""

from collections.abc import Sequence
from functools import partial

from sigstats.tasks.schema import Hypothesis

from .. import usual_columns as usual
from ..evidence import Evidence, rejected
from ..section import Column, Section, Verdict
from . import _tables, _verdicts


def _labels_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """What was learned, then every case that cannot be told from chance."""
    found = _verdicts.headline(rows, evidence, claim="learned real class structure", by="PermClass")
    doubts = _verdicts.sentences_on_retained(
        rows, "could not be told from a classifier trained on random labels", evidence
    )
    return Verdict(found, (*_verdicts.permutations_needed(rows, evidence), *_tables.savings(rows, evidence), *doubts))


def _columns(rows: Sequence[Hypothesis], *, permuted: str) -> list[Column]:
    value = usual.estimate(_verdicts.value_name(rows), "cross-validated, observed")
    return usual.case_columns(rows, value, usual.null_mean("Permuted", f"mean after permuting {permuted}"))


_METHOD = (
    "The labels are permuted, the classifier is cross-validated again, and the permutations whose error is at most "
    "the observed one are counted: p = (count + 1) / (permutations + 1). The null hypothesis is that labels and "
    "features are independent. A small p says that the classifier found a real connection; a large one does not "
    "say that there is none, since another classifier may find it."
)


_STRUCTURE = "the joint structure of the features"


def _features_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """How often accuracy depends on the joint structure of the features, then whose does on each data set."""
    found = _verdicts.headline(rows, evidence, claim=f"depended for its accuracy on {_STRUCTURE}", by="PermFeats")
    details = (
        sentence
        for dataset, group in _verdicts.by_dataset(rows).items()
        for sentence in _on(dataset, group, _verdicts.p_name(evidence))
    )
    return Verdict(found, (*_verdicts.permutations_needed(rows, evidence), *_tables.savings(rows, evidence), *details))


def _on(dataset: str, rows: Sequence[Hypothesis], name: str) -> list[str]:
    dependent, others = rejected(rows), _verdicts.retained_rows(rows)
    if not dependent and not others:
        return []
    if len(others) == len(rows):
        subject = f"{others[0].classifier}'s accuracy was not" if len(others) == 1 else "no classifier's accuracy was"
        return [f"On {dataset}, {subject} shown to depend on {_STRUCTURE} ({_verdicts.smallest_p(others, name)})."]
    clauses = []
    if dependent:
        clauses.append(f"{_verdicts.classifiers_with_p(dependent, len(rows), name)} depended on it")
    if others:
        verb = "was" if len(others) == 1 else "were"
        clauses.append(f"{_verdicts.classifiers_with_p(others, len(rows), name)} {verb} not shown to")
    return [f"On {dataset}, {'; '.join(clauses)}."]


_PERMUTATION_LABELS = Section(
    order=10,
    test="permutation-labels",
    name="PermClass",
    question="Did the classifier learn real class structure?",
    verdict=_labels_verdict,
    columns=partial(_columns, permuted="the labels"),
    method=lambda rows: _verdicts.in_words_of_the_measure(_METHOD, rows),
    source=(
        "Ojala and Garriga, Permutation tests for studying classifier performance, Journal of Machine Learning "
        "Research 11 (2010), test 1"
    ),
    terms=(
        "PermClass permutes the labels and trains again: p is the share of permutations, the data themselves counted "
        "in, on which the classifier errs as seldom as on the data."
    ),
)

_PERMUTATION_FEATURES = Section(
    order=20,
    test="permutation-features",
    name="PermFeats",
    question="Does the classifier's accuracy depend on the joint structure of the features?",
    verdict=_features_verdict,
    columns=partial(_columns, permuted="each feature inside each class"),
    method=(
        "Each feature is permuted by itself inside each class, which keeps its relation to the class and destroys its "
        "relation to other features; then the classifier is cross-validated again and p found as in PermClass. The "
        "null hypothesis is that features are independent inside each class. A small p says that the classifier is "
        "more accurate on these data than on data with independent features: its accuracy depends on their joint "
        "structure. It does not say that the classifier models that structure: naive Bayes, which cannot, errs more or "
        "less often with it too. A large p says that this was not shown: a simpler classifier, which ignores "
        "dependence, may do as well on these data."
    ),
    source=(
        "Ojala and Garriga, Permutation tests for studying classifier performance, Journal of Machine Learning "
        "Research 11 (2010), test 2"
    ),
    terms=(
        "PermFeats permutes each feature inside each class and trains again: p is the share of permutations, the data "
        "themselves counted in, on which the classifier errs as seldom as on the data. Accuracy may depend on the "
        "joint structure though the classifier does not model it: naive Bayes cannot, and errs more or less often with "
        "it too."
    ),
)

SECTIONS = (_PERMUTATION_LABELS, _PERMUTATION_FEATURES)
