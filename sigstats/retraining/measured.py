"""Measures of retrained classifiers other than the error: the statistic of a permutation test by any measure.

A measure of predictions is computed from the counts of each class, so batched learners are used as for the error. One
of scores (the area under the ROC curve, the mean log-likelihood) needs scikit-learn's own fits, fold by fold. Measures
are computed on all rows together, not averaged over folds.

When not to use: for the error, whose whole numbers of wrong rows `sigstats.retraining.retrainer` counts.
"""

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.class_columns import numbers_or_names, positive_place
from .._common.class_names import label_name
from .._common.validation import FloatArray, IntArray, as_choice, raised, refuse
from ..measures.formulas import Confusion, one_vs_rest
from ..measures.measure import Measure, as_measure, as_own_measure
from ..measures.metrics import is_made
from ..measures.score_formulas import rank_of_truth
from ..measures.table import (
    MEASURES,
    TOP,
    OwnMeasure,
    in_our_words,
    is_named_alone,
    is_pass_at,
    needs_positive,
    refers_to_one_class,
)
from ..measures.weighted import macro_area
from .folds import as_classes
from .retrainer import TRANSFORMS, Retrainer
from .rows import take


class ClassScores(NamedTuple):
    """The scores of each row, by the classifier of the folds that do not test it."""

    #: The probability of each class, in sorted order; None without ``predict_proba``; float64 array of shape (n,
    #: K), or None.
    probabilities: FloatArray | None
    #: The decision value for the second of two classes; None without ``decision_function``, or for more classes;
    #: float64 array of shape (n,), or None.
    decision: FloatArray | None


def class_scores(
    estimator: Any,
    X: Any,
    y: Any,
    folds: IntArray,
    *,
    transforms: str = "fold",
    around_fit: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> ClassScores:
    """Return the cross-validated scores of a scikit-learn classifier, which is cloned, or raise ValueError.

    `transforms`: whether the transforms of a pipeline are learned only on the training fold, or once on all rows.
    `around_fit`: its context is entered around each fit with its scores, to watch over them.
    """
    from sklearn.base import clone

    classes, codes = as_classes(y)
    if as_choice(transforms, "transforms", TRANSFORMS) == "all" and len(getattr(estimator, "steps", ())) > 1:
        X, estimator = clone(estimator[:-1]).fit_transform(X), estimator.steps[-1][1]
    probabilities = np.zeros((len(codes), len(classes))) if hasattr(estimator, "predict_proba") else None
    binary = len(classes) == 2 and hasattr(estimator, "decision_function")
    decision = np.zeros(len(codes)) if binary else None
    for fold in np.unique(folds):
        test = folds == fold
        try:
            with around_fit(), warnings.catch_warnings(action="ignore"):
                fitted = clone(estimator).fit(take(X, np.flatnonzero(~test)), codes[~test])
                tested = take(X, np.flatnonzero(test))
                if probabilities is not None:
                    probabilities[np.ix_(test, fitted.classes_)] = fitted.predict_proba(tested)
                if decision is not None:
                    decision[test] = fitted.decision_function(tested) * (2 * int(fitted.classes_[-1]) - 1)
        except Exception as error:
            name = type(estimator).__name__
            raise ValueError(f"classifier: {name} failed in fold {fold}: {raised(error)}") from error
    return ClassScores(probabilities, decision)


#: Inputs of a statistic.
_NEEDS = ("answers", "classes", "scores", "probabilities", "tables")
#: Measures of permutation tests: more is better, from predictions or scores of classes.
STATISTICS: tuple[str, ...] = tuple(
    name
    for name, spec in MEASURES.items()
    if spec.greater_is_better and spec.needs in _NEEDS and (is_named_alone(spec) or name == "micro-f1")
)


def as_statistic(measure: Any, others: tuple[str, ...] = ()) -> str:
    """Return a name in `STATISTICS` or `others`, costs such as ``expected-cost(fn=10,fp=1)``, or a user's measure.

    Raises ValueError for anything else.
    """
    is_own = isinstance(measure, Measure) or callable(measure)
    name = as_own_measure(measure) if is_own else in_our_words(measure)
    text = name if isinstance(name, str) else ""
    is_other = is_own or isinstance(name, OwnMeasure) or is_made(name) or is_pass_at(text) or TOP.fullmatch(text)
    if (is_other or text in MEASURES) and MEASURES[text].needs not in _NEEDS:
        raise refuse("measure", text, "one of classes or scores, since a classifier predicts these")
    return text if is_other else as_choice(name, "measure", (*others, *STATISTICS))


class Statistic:
    """A measure of the predictions or scores of a classifier; greater is better, since costs are negated.

    `measure`: as for `as_statistic`. `classes`: names of the classes. `positive`: code of the class of measures of one
    class (``f1``, ``recall``, ``auc``). ValueError if the measure is unknown, or needs two classes and there are more,
    or if the `classifier` gives no scores that it needs.
    """

    def __init__(self, measure: Any, classes: Sequence[str], positive: int = 1, classifier: Any = None) -> None:
        self.name = as_statistic(measure)
        self.classes, self.positive, n_classes = tuple(classes), positive, len(classes)
        self._spec = MEASURES[self.name]
        #: -1 for a cost.
        self.sign = 1 if self._spec.greater_is_better else -1
        if self.of_one_class and n_classes != 2:
            several = [
                name
                for name in (f"macro-{self.name}", "balanced-accuracy", "neg-log-loss")
                if (name in STATISTICS or is_made(name)) and (name != "neg-log-loss" or self.needs_scores)
            ]
            raise refuse("measure", self.name, f"{' or '.join(several)}, since there are {n_classes} classes")
        known = ("predict_proba", "decision_function") if self._spec.needs == "scores" else ("predict_proba",)
        if classifier is not None and self.needs_scores and not any(hasattr(classifier, name) for name in known):
            last = classifier.steps[-1][1] if hasattr(classifier, "steps") else classifier
            wanted = f"one of predictions, since {type(last).__name__} has no {' or '.join(known)}"
            raise refuse("measure", self.name, wanted)

    @property
    def of_one_class(self) -> bool:
        """True if the measure refers to one of two classes."""
        return refers_to_one_class(self.name)

    @property
    def needs_scores(self) -> bool:
        """True if predictions do not suffice."""
        return self._spec.needs_scores

    def of_predictions(self, truth: IntArray, predicted: IntArray) -> FloatArray:
        """Return the measure of each replicate of predicted codes, shape (replicates, n)."""
        k = len(self.classes)
        if self._spec.of_rows is not None:  # among measures of answers or classes only costs have it
            sides = np.where(np.arange(k) == self.positive, "positive", "negative")
            names = sides if self.of_one_class else np.array(self.classes)
            values = self._spec.of_rows(np.repeat(names, k), np.tile(names, k)).reshape(k, k)
            return np.asarray(self.sign * values[truth, predicted].mean(axis=-1))
        size = len(predicted)
        cells = (np.arange(size)[:, None] * k + truth) * k + predicted
        tables = np.bincount(cells.ravel(), minlength=size * k * k)
        if self._spec.of_weights is not None:
            codes, weights = numbers_or_names(self.classes), tables.reshape(size, -1).astype(np.float64)
            return self.sign * self._spec.of_weights(np.repeat(codes, k), np.tile(codes, k), weights)
        counts = [count.astype(np.float64) for count in one_vs_rest(tables.reshape(size, k, k))]
        measure = as_measure(self.name)
        if k == 2:
            return measure.of(Confusion(*(count[:, self.positive] for count in counts)), "binary")
        return measure.of(Confusion(*counts), "classes")

    def of_scores(self, truth: IntArray, scores: ClassScores) -> float:
        """Return the measure of one run."""
        if self._spec.needs == "tables":
            table: Any = scores.probabilities
            if self._spec.answers:
                return float((rank_of_truth(table, truth) <= self._spec.answers).mean())
            return float(macro_area(table, truth, np.arange(len(truth)), np.ones((1, len(truth))))[0])
        return self.sign * self._spec.of(*scored(self.name, truth, scores, self.positive))


def scored(measure: str, truth: IntArray, scores: ClassScores, positive: int) -> tuple[NDArray[np.bool_], FloatArray]:
    """Return a mask of the rows of the class that scores are of, and the score of each row."""
    if measure == "neg-log-loss":  # the loss of a row is that of its true class, however many there are
        assert scores.probabilities is not None
        return np.ones(len(truth), dtype=np.bool_), scores.probabilities[np.arange(len(truth)), truth]
    if scores.probabilities is not None:
        return truth == positive, scores.probabilities[:, positive]
    assert scores.decision is not None
    return truth == positive, scores.decision if positive == 1 else -scores.decision


def statistic_of(measure: Any, retrainer: Retrainer, y: Any, positive: Any) -> Statistic:
    """Return the statistic of a retrainer's classifier and classes. Raise ValueError if they lack what it needs."""
    labels = np.unique(np.asarray(y)).tolist()
    statistic = Statistic(measure, [label_name(label, "y") for label in labels], classifier=retrainer.estimator)
    if positive is not None and not statistic.of_one_class:
        raise refuse("positive", positive, f"None, since {statistic.name} has no positive class")
    if positive is not None or needs_positive(statistic.name):
        statistic.positive = positive_place(labels, positive)
    return statistic


def observed_value(retrainer: Retrainer, statistic: Statistic) -> float:
    """Return the measure of the cross-validated classifier on the data as they are."""
    return float(values_of(retrainer, statistic, retrainer.identity())[0])


def values_of(retrainer: Retrainer, statistic: Statistic, draws: IntArray) -> FloatArray:
    """Return the measure of each replicate in `draws`, which are those of ``Retrainer.draw``."""
    if not statistic.needs_scores:
        return statistic.of_predictions(*retrainer.truth_and_predictions(draws))
    values = []
    for draw in draws:
        rows, folds = retrainer.permuted(draw), retrainer.folds
        scores = class_scores(retrainer.estimator, rows, retrainer.codes, folds, around_fit=retrainer.around_fit)
        values.append(statistic.of_scores(retrainer.codes, scores))
    return np.array(values)
