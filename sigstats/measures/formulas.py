"""Measures of one classifier, as functions of its four counts.

Every measure takes the four counts of a two-class problem, in the order of a table whose rows are the true classes:

    ======================  ===============  ===============
    ..                      called positive  called negative
    ======================  ===============  ===============
    truly positive          ``tp``           ``fn``
    truly negative          ``fp``           ``tn``
    ======================  ===============  ===============

The counts are float64 arrays of one shape, and so is the result. **0/0 is 0**, unless `undefined` says otherwise
(``float("nan")`` finds such tables). Every table then has a finite result, and no bootstrap replicate is lost;
scikit-learn too gives 0 for such an F1, precision or recall.

Averages over classes include those that occur in the truth, as in scikit-learn with ``labels=numpy.unique(y_true)``: an
answer that is not one of them is an error, but not a class. For `mcc` and `kappa` it is a class without rows. Only
parameters are checked. For counts of a user, and for several categories, see `sigstats.measures.measure`, which finds a
measure by its name.

When not to use: for measures of scores and ranks (AUC, log loss), which are not functions of these counts.
"""

# ruff: noqa: ARG001 (every measure takes all four counts, so that any can stand for any other)

import math
from typing import Any, NamedTuple

import numpy as np

from .._common.validation import FloatArray, as_counts, as_real, refuse


class Confusion(NamedTuple):
    """The four counts of a two-class problem, whole numbers or arrays of one shape."""

    tp: Any
    fn: Any
    fp: Any
    tn: Any


def checked_confusion(tp: Any, fn: Any, fp: Any, tn: Any) -> Confusion:
    """Return the counts as float64 arrays of one shape, or raise ValueError."""
    named = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    arrays = [as_counts(value, name).reshape(np.shape(value)).astype(np.float64) for name, value in named.items()]
    try:
        return Confusion(*np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = [array.shape for array in arrays]
        raise refuse("tp, fn, fp, tn (shapes)", shapes, "shapes that broadcast to one") from None


def ratio(numerator: Any, denominator: Any, undefined: float) -> FloatArray:
    """``numerator / denominator`` of float arrays, and `undefined` where both are 0."""
    undefined, values = _as_undefined(undefined), np.empty(np.shape(denominator))
    if np.count_nonzero(denominator) == values.size:  # without a mask it takes a third of the time
        np.divide(numerator, denominator, out=values)
    else:
        values.fill(undefined)
        np.divide(numerator, denominator, out=values, where=np.not_equal(denominator, 0))
    return values


def _as_undefined(value: Any) -> float:
    if type(value) is float and not math.isinf(value):
        return value
    if isinstance(value, np.floating) and np.isnan(value):
        return float("nan")
    return as_real(value, "undefined")


def accuracy(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """Return the share of right answers, ``(tp + tn) / n``; 0/0 without observations."""
    return ratio(tp + tn, tp + fn + fp + tn, undefined)


def error(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """Return the share of wrong answers, ``(fn + fp) / n`` (Keller et al., eq. 1): less is better."""
    return ratio(fn + fp, tp + fn + fp + tn, undefined)


def precision(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """Return the share of true positives among predicted ones, ``tp / (tp + fp)`` (Keller et al., section 4)."""
    return ratio(tp, tp + fp, undefined)


def recall(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """Return the share of positives that are found, ``tp / (tp + fn)``, or sensitivity; 0/0 without positives."""
    return ratio(tp, tp + fn, undefined)


def specificity(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """Return the recall of the negative class, ``tn / (tn + fp)``; 0/0 if nothing is negative."""
    return ratio(tn, tn + fp, undefined)


def balanced_accuracy(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """Return the mean of recall and specificity, or the one whose class occurs; 0/0 if neither does."""
    occurring = (tp + fn > 0).astype(np.float64) + (tn + fp > 0)
    return ratio(ratio(tp, tp + fn, 0.0) + ratio(tn, tn + fp, 0.0), occurring, undefined)


def f_beta(tp: Any, fn: Any, fp: Any, tn: Any, *, beta: float = 1.0, undefined: float = 0.0) -> Any:
    """Van Rijsbergen's F, in which recall counts `beta` times as much as precision.

    ``(1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp)``. `beta`, from 0 (precision) to 1e6; 0/0 if nothing is
    positive and nothing is called positive.
    """
    square = as_real(beta, "beta", low=0, high=1e6) ** 2
    return ratio((1 + square) * tp, (1 + square) * tp + square * fn + fp, undefined)


def f1(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """Return the harmonic mean of precision and recall, ``2 tp / (2 tp + fn + fp)`` (Keller et al., eq. 11).

    0/0 if nothing is positive and nothing is called positive.
    """
    twice = 2 * tp
    return ratio(twice, twice + fn + fp, undefined)


def jaccard(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """Return the intersection of the positives and those called positive over their union, ``tp / (tp + fn + fp)``.

    0/0 if nothing is positive and nothing is called positive.
    """
    return ratio(tp, tp + fn + fp, undefined)


def mcc(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """Matthews's correlation of true and assigned class (the phi coefficient), from -1 to 1.

    ``(tp tn - fn fp) / sqrt((tp + fn) (tp + fp) (tn + fn) (tn + fp))`` (Matthews 1975). 0/0 if all are of one class or
    all are called one class.
    """
    scale = np.sqrt((tp + fn) * (tp + fp)) * np.sqrt((tn + fn) * (tn + fp))
    return ratio(tp * tn - fn * fp, scale, undefined)


def kappa(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """Cohen's (1960) agreement of true and assigned class beyond chance, at most 1.

    ``2 (tp tn - fn fp) / ((tp + fp) (fp + tn) + (tp + fn) (fn + tn))``, which is ``(po - pe) / (1 - pe)``.
    0/0 if all are of one class and all are called so (scikit-learn: NaN).
    """
    return ratio(2 * (tp * tn - fn * fp), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn), undefined)


def dcf(
    tp: Any,
    fn: Any,
    fp: Any,
    tn: Any,
    *,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    prior: float = 0.5,
    undefined: float = 0.0,
) -> Any:
    """Return the detection cost function of person authentication: less is better.

    ``cost_fn prior fn / (tp + fn) + cost_fp (1 - prior) fp / (fp + tn)`` (Keller et al., eq. 7). The costs of rejecting
    a client and of accepting an impostor, from 0 to 1e100, are in any unit: the result's. `prior`: the probability of a
    client where the system is used, whatever their share here. `undefined`: the value of each of the two error rates if
    its class does not occur. With the defaults it is the half total error rate; NIST's evaluations of speaker
    recognition had costs of 10 and 1 and a prior of 0.01.

    >>> counts = (np.array([float(count)]) for count in (30, 10, 25, 75))
    >>> dcf(*counts, cost_fn=10, cost_fp=1, prior=0.01).round(6)
    array([0.2725])
    """
    positive, negative = dcf_weights(cost_fn, cost_fp, prior)
    return positive * ratio(fn, tp + fn, undefined) + negative * ratio(fp, fp + tn, undefined)


def dcf_weights(cost_fn: Any, cost_fp: Any, prior: Any) -> tuple[float, float]:
    """Return the factors of the two error rates in eq. (7): ``cost_fn * prior`` and ``cost_fp * (1 - prior)``."""
    prior = as_real(prior, "prior", low=0, high=1)
    positive = as_real(cost_fn, "cost_fn", low=0, high=1e100) * prior
    return positive, as_real(cost_fp, "cost_fp", low=0, high=1e100) * (1 - prior)


def accuracy_of_classes(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """Return the share of right answers. As in all functions below, classes are along the last axis of counts."""
    return ratio(tp.sum(-1), (tp + fn).sum(-1), undefined)


def error_of_classes(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """Return the share of wrong answers."""
    return ratio(fn.sum(-1), (tp + fn).sum(-1), undefined)


def balanced_accuracy_of_classes(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """Return the mean recall of the classes that occur."""
    return ratio(ratio(tp, tp + fn, 0.0).sum(-1), (tp + fn > 0).sum(-1).astype(np.float64), undefined)


def mcc_of_classes(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """Gorodkin's (2004) R_K: the correlation of the true and the assigned class, each as K indicators."""
    true, assigned, n = tp + fn, tp + fp, (tp + fn).sum(-1)
    covariance = n * tp.sum(-1) - (true * assigned).sum(-1)
    return ratio(covariance, np.sqrt(_others(true, true)) * np.sqrt(_others(assigned, assigned)), undefined)


def kappa_of_classes(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """Cohen's (1960) agreement beyond chance."""
    true, assigned = tp + fn, tp + fp
    by_chance = (true * assigned).sum(-1)
    return ratio(true.sum(-1) * tp.sum(-1) - by_chance, _others(true, assigned), undefined)


def _others(one: Any, other: Any) -> Any:
    """Return the pairs of unlike classes, exactly 0 if there is only one class, even with rounded weights."""
    return (one * (other.sum(-1)[..., np.newaxis] - other)).sum(-1)


def one_vs_rest(table: Any) -> Confusion:
    """Return the four counts, (..., K), of each class of a square table, true classes in rows, against all others."""
    counts = as_counts(table, "table")
    if counts.ndim < 2 or counts.shape[-1] != counts.shape[-2]:
        raise refuse("table", counts.shape, "a square table of counts, true classes in rows", quantity="shape")
    tp = np.diagonal(counts, axis1=-2, axis2=-1)
    rows, columns, n = counts.sum(axis=-1), counts.sum(axis=-2), counts.sum(axis=(-2, -1))[..., None]
    return Confusion(tp, rows - tp, columns - tp, n - rows - columns + tp)
