"""Intervals of F1, and of the difference of two, that are valid with few positives and few disagreements.

F1 rests on the n = TP + FP + FN observations that are positive or predicted to be: of these, TP is binomial with
probability J = TP / n (Jaccard's index), whatever the number of true negatives, and F1 = 2 J / (1 + J) rises with J. So
every interval of a binomial proportion is one of F1.

When not to use: observations that depend on one another; F1 averaged over classes (`sigstats.bootstrap_test`).
"""

import math
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np
from scipy.special import betainccinv, betaincinv, ndtri

from ._common.calls import takes_counts
from ._common.validation import FloatArray, IntArray, Labels, as_choice, as_count, as_real, refuse
from .intervals import Interval, clopper_pearson, mid_p_interval
from .joint.events import as_joint_counts
from .joint.outcomes import JointOutcomes
from .measures.measure import as_measure
from .unseen_row.orders import mirrored_law

F1Method: TypeAlias = Literal["exact", "mid-p", "wilson", "jeffreys"]
F1_METHODS: tuple[F1Method, ...] = ("exact", "mid-p", "wilson", "jeffreys")
#: The number of random weightings for the interval of a difference.
_WEIGHTINGS = 10_000
#: Masks of the events e1 to e8: true positives, and those that are positive or predicted positive, of A and of B.
F1_COUNTED = {
    "a": (np.array([1, 0, 1, 0, 0, 0, 0, 0]), np.array([1, 1, 1, 1, 1, 0, 1, 0])),
    "b": (np.array([1, 1, 0, 0, 0, 0, 0, 0]), np.array([1, 1, 1, 1, 1, 1, 0, 0])),
}


def _f1_of_labels(
    y: Labels, prediction: Labels, *, positive: Any = None, method: F1Method = "exact", confidence_level: float = 0.95
) -> Interval:
    """`f1_interval` of the true labels `y` and the assigned ones, with its options."""
    counts = JointOutcomes.from_predictions(y, prediction, prediction, positive=positive).confusion_a
    return f1_interval(counts.tp, counts.fp, counts.fn, method=method, confidence_level=confidence_level)


@takes_counts(3, _f1_of_labels)
def f1_interval(
    true_positives: SupportsIndex,
    false_positives: SupportsIndex,
    false_negatives: SupportsIndex,
    *,
    method: F1Method = "exact",
    confidence_level: float = 0.95,
) -> Interval:
    """Compute an interval of the F1 of one classifier.

    Parameters
    ----------
    true_positives, false_positives, false_negatives : int
        The counts of the classifier on the test set; F1 does not depend on true negatives.
    method : {"exact", "mid-p", "wilson", "jeffreys"}
        The method of the interval of Jaccard's index. The coverage of ``"exact"`` (Clopper and Pearson 1934) is at
        least the stated confidence; that of the shorter ``"mid-p"``, ``"wilson"`` (Wilson 1927) and ``"jeffreys"``
        (posterior for a Beta(1/2, 1/2) prior) is near it on average, but at 95% as low as 91%, 79% and 85% for some F1.
    confidence_level : float
        Of the interval, strictly between 0 and 1.

    Returns
    -------
    Interval
        The interval of F1; [0, 1] if no observation is positive or predicted to be positive.

    Raises
    ------
    ValueError
        If a count is negative or fractional, or an option is not valid.

    References
    ----------
    Other intervals of F1: from the beta prime distribution for blocked cross-validation (Wang, Li, Li, Wang and Yang
    2015, IEEE Transactions on Knowledge and Data Engineering 27), and by the delta method for averaged F1, too short
    with few positives (Takahashi, Yamamoto, Kuchiba and Koyama 2022, Applied Intelligence 52).

    Examples
    --------
    >>> import sigstats
    >>> low, high = sigstats.f1_interval(8, 1, 3)
    >>> round(low, 3), round(high, 3)
    (0.517, 0.948)
    """
    counts = {"true_positives": true_positives, "false_positives": false_positives, "false_negatives": false_negatives}
    tp, fp, fn = (as_count(value, name) for name, value in counts.items())
    way = as_choice(method, "method", F1_METHODS)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    n = tp + fp + fn
    if n == 0:
        return Interval(0.0, 1.0, level)
    if way == "exact":
        low, high = clopper_pearson(tp, n, confidence_level=level)
    elif way == "mid-p":
        low, high = mid_p_interval(tp, n, confidence_level=level)
    elif way == "wilson":
        low, high = _wilson(tp, n, float(ndtri((1 + level) / 2)))
    else:
        tail = (1 - level) / 2
        low = 0.0 if tp == 0 else float(betaincinv(tp + 0.5, n - tp + 0.5, tail))
        high = 1.0 if tp == n else float(betainccinv(tp + 0.5, n - tp + 0.5, tail))
        low, high = sorted((low, high))  # both are the median but for rounding where the level is about 0
    return Interval(2 * low / (1 + low), 2 * high / (1 + high), level)


def _wilson(k: int, n: int, z: float) -> tuple[float, float]:
    """Wilson's (1927) interval of a proportion."""
    p, square = k / n, z * z / n
    centre = p + square / 2
    reach = z * math.sqrt(p * (1 - p) / n + square / (4 * n))
    low = 0.0 if k == 0 else (centre - reach) / (1 + square)
    high = 1.0 if k == n else (centre + reach) / (1 + square)
    return max(low, 0.0), min(high, 1.0)


def _difference_of_labels(
    y: Labels, a: Labels, b: Labels, *, positive: Any = None, confidence_level: float = 0.95
) -> Interval:
    """`f1_difference_interval` of the true labels `y` and those that A and B assigned, with its options."""
    outcomes = JointOutcomes.from_predictions(y, a, b, positive=positive)
    return f1_difference_interval(outcomes, confidence_level=confidence_level)


@takes_counts(1, _difference_of_labels)
def f1_difference_interval(outcomes: JointOutcomes, *, confidence_level: float = 0.95) -> Interval:
    """Compute an interval of F1(A) - F1(B) on one test set, however few positives and disagreements it has.

    Parameters
    ----------
    outcomes : JointOutcomes
        The joint outcomes of A and B on at least one observation.
    confidence_level : float
        Of the interval, strictly between 0 and 1.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If `outcomes` are not those of two classes, or `confidence_level` is not in (0, 1).

    Notes
    -----
    Observations have random weights of a flat Dirichlet distribution, with one more observation where it makes the
    difference smallest, for the lower end, and largest, for the upper one. The ends are quantiles of 10,000 weightings
    from a fixed random stream, accurate to 0.2% in probability. `bootstrap_test` also gives a p-value, and suits 20 or
    more disagreements; if A and B agree, its interval has length 0, where this one is as wide as the positives warrant.

    References
    ----------
    Means: Gaffke, Mathematical Methods of Statistics 14 (2005). Weights: Rubin, Annals of Statistics 9 (1981).

    Examples
    --------
    >>> import sigstats
    >>> outcomes = sigstats.JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)
    >>> low, high = sigstats.f1_difference_interval(outcomes)
    >>> round(low, 2), round(high, 2)
    (-0.2, 0.02)
    """
    joint = as_joint_counts(outcomes)
    if not isinstance(joint, JointOutcomes):
        raise refuse("outcomes", type(joint).__name__, "JointOutcomes, of two classes")
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    return -mirrored_law(joint, as_measure("f1"), size=_WEIGHTINGS).interval(level)


def f1_standard_errors(sets: IntArray) -> FloatArray:
    """Return the delta-method standard errors of the difference of two F1; `sets`: int64 ndarray, shape (m, 8).

    >>> f1_standard_errors(np.array([[40, 12, 5, 3, 2, 6, 9, 123]])).round(4).tolist()
    [0.0489]
    """
    counts = sets.astype(np.float64)
    slope = _slopes(counts, "b") - _slopes(counts, "a")
    return np.sqrt((counts[:, None] @ (slope**2)[..., None])[:, 0, 0])


def _slopes(counts: FloatArray, side: str) -> FloatArray:
    """Return the derivative of F1 by each count. F1 does not change with the scale, so that counts @ slopes is 0."""
    hit, counted = F1_COUNTED[side]
    tp, n = ((counts @ chosen)[:, None] for chosen in (hit, counted))
    slopes: FloatArray = (2 * n * hit - 2 * tp * counted) / np.where(n == 0, 1.0, n + tp) ** 2  # all 0 where n is
    return slopes
