"""Tests that retrain: PermClass, PermFeats, and algorithms on other training sets of this size.

PermClass asks what a classifier learned, PermFeats whether it depends on the joint structure of the features.
Algorithms are compared by the corrected resampled t-test or the 5x2cv F.
"""

from collections.abc import Sequence

from sigstats._common.numerals import count_of
from sigstats.tasks.benchmark.work import CrossValidated
from sigstats.tasks.schema import Hypothesis

from ...report import sections, verdicts
from ...report import usual_columns as usual
from ...report.evidence import Column, Evidence, Section, Verdict
from ...report.rows import rejected


def _labels_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    text = verdicts.headline(rows, evidence, claim="learned real class structure", by="PermClass")
    phrase = "could not be distinguished from a classifier trained on random labels"
    doubts = verdicts.sentences_on_retained(rows, phrase, evidence)
    return Verdict(text, (*verdicts.permutations_needed(rows, evidence), *sections.savings(rows, evidence), *doubts))


def _columns(permuted: str) -> tuple[Column, ...]:
    observed = usual.estimate("Observed", "error, or another measure, cross-validated")
    return usual.case_columns(observed, usual.null_mean("Permuted", f"mean after permuting {permuted}"))


_METHOD = (
    "The labels are permuted, the classifier is cross-validated again, and the permutations whose error is at most "
    "the observed one are counted: p = (count + 1) / (permutations + 1). The null hypothesis is that labels and "
    "features are independent. A small p says that the classifier found a real connection; a large one does not "
    "say that there is none, since another classifier may find it."
)


_STRUCTURE = "the joint structure of the features"


def _features_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    text = verdicts.headline(rows, evidence, claim=f"depended for its accuracy on {_STRUCTURE}", by="PermFeats")
    details = (
        sentence
        for dataset, group in verdicts.by_dataset(rows).items()
        for sentence in _on(dataset, group, verdicts.p_name(evidence))
    )
    return Verdict(text, (*verdicts.permutations_needed(rows, evidence), *sections.savings(rows, evidence), *details))


def _on(dataset: str, rows: Sequence[Hypothesis], name: str) -> list[str]:
    dependent, others = rejected(rows), verdicts.retained_rows(rows)
    if not dependent and not others:
        return []
    if len(others) == len(rows):
        subject = f"{others[0].classifier}'s accuracy was not" if len(others) == 1 else "no classifier's accuracy was"
        return [f"On {dataset}, {subject} shown to depend on {_STRUCTURE} ({verdicts.smallest_p(others, name)})."]
    clauses = []
    if dependent:
        clauses.append(f"{verdicts.classifiers_with_p(dependent, len(rows), name)} depended on it")
    if others:
        verb = "was" if len(others) == 1 else "were"
        clauses.append(f"{verdicts.classifiers_with_p(others, len(rows), name)} {verb} not shown to")
    return [f"On {dataset}, {'; '.join(clauses)}."]


_SOURCE = (
    "Ojala and Garriga, Permutation tests for studying classifier performance, Journal of Machine Learning Research 11 "
    "(2010)"
)

_PERMUTATION_LABELS = Section(
    order=10,
    test="permutation-labels",
    name="PermClass",
    question="Did the classifier learn real class structure?",
    verdict=_labels_verdict,
    columns=_columns("the labels"),
    method=lambda rows: verdicts.in_words_of_the_measure(_METHOD, rows),
    source=f"{_SOURCE}, test 1",
    terms=(
        "PermClass permutes the labels and trains again: p is the share of permutations, including the data "
        "themselves, on which the classifier makes at most as many errors as on the data."
    ),
)

_PERMUTATION_FEATURES = Section(
    order=20,
    test="permutation-features",
    name="PermFeats",
    question="Does the classifier's accuracy depend on the joint structure of the features?",
    verdict=_features_verdict,
    columns=_columns("each feature inside each class"),
    method=(
        "Each feature is permuted by itself inside each class, which keeps its relation to the class and destroys its "
        "relation to other features; then the classifier is cross-validated again, and p is that of PermClass. The "
        "null hypothesis is that features are independent inside each class. A small p says that the classifier is "
        "more accurate on these data than on data with independent features: its accuracy depends on their joint "
        "structure. It does not say that the classifier models that structure: naive Bayes, which cannot, errs more or "
        "less often with it too. A large p says that this was not shown: a simpler classifier, which ignores "
        "dependence, may do as well on these data."
    ),
    source=f"{_SOURCE}, test 2",
    terms=(
        "PermFeats permutes each feature inside each class and trains again: p is the share of permutations, including "
        "the data themselves, on which the classifier makes at most as many errors as on the data. Accuracy may depend "
        "on the joint structure even if the classifier does not model it: naive Bayes cannot, but its errors change "
        "with it too."
    ),
)


_METHODS = {
    "5x2cv F": (
        "The rows were split in two halves five times, and each algorithm was trained on either half and tested on the "
        "other. F is the mean square of the ten differences of accuracy over the mean of their five variances."
    ),
    "corrected t": (
        "Each algorithm was trained and tested on every fold of every repetition of the cross-validation. t is the "
        "mean difference of accuracy over its standard error, which is widened since training sets share rows: the "
        "variance of the differences counts (1 / number of differences + test rows / training rows) times."
    ),
}


def _algorithms_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    verdict = verdicts.verdict(rows, evidence, by=rows[0].method)
    cells = [cell for cell in evidence.cells_of(rows[0]) if cell.subject["classifier"] == rows[0].a]
    if not cells:
        return verdict
    repeats, folds = sum(cell.replicates for cell in cells), cells[0].work_of(CrossValidated).cross_validation.folds
    if not isinstance(folds, int):  # they are given, or each has one row
        return verdict
    how = f"By {count_of(repeats, 'repetition')} of {count_of(folds, 'fold')}"
    return Verdict(f"{how}, {verdict.headline[0].lower()}{verdict.headline[1:]}", verdict.details)


def _algorithms_method(rows: Sequence[Hypothesis]) -> str:
    """Return the definition of p, by the design of the cross-validation."""
    used = " ".join(text for name, text in _METHODS.items() if name in {row.method for row in rows})
    return (
        f"{used} The null hypothesis is that both algorithms are equally accurate when they are trained on as many "
        "other rows of the same kind. The test judges the algorithms; McNemar's test judges the predictions of these "
        "folds. It is a heuristic whose level is near the stated one, but not guaranteed to be below it."
    )


_ALGORITHMS = Section(
    order=42,
    test="corrected-resampled",
    name="Algorithms",
    question="Would the algorithm do better on other training sets of this size?",
    verdict=_algorithms_verdict,
    columns=(
        *usual.SUBJECT,
        usual.ROWS,
        *verdicts.in_points("95% interval of the mean difference (Nadeau and Bengio)"),
        *usual.CLOSING,
    ),
    method=_algorithms_method,
    source=(
        "Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003); Bouckaert and Frank, "
        "Evaluating the replicability of significance tests for comparing learning algorithms (2004); Alpaydin, "
        "Combined 5x2cv F test for comparing supervised classification learning algorithms, Neural "
        "Computation 11 (1999)"
    ),
    terms=(
        "The algorithms are trained again on other folds, many times. Necessity, from 0 to 1, states how strongly "
        "the data rule out that they are equally good: 1 − 2p, with p before adjustment."
    ),
)

SECTIONS = (_PERMUTATION_LABELS, _PERMUTATION_FEATURES, _ALGORITHMS)
