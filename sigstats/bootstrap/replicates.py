"""Bootstrap replicates of a measure of two classifiers, drawn from the counts of their joint events.

A bootstrap sample draws n observations with replacement; the counts of the distinct events in it are multinomial, and
they are drawn here, never the rows. So a replicate costs the same for a thousand observations as for a billion.

When not to use: for observations that depend on one another, whose groups would have to be drawn; for measures of
scores, which are no functions of such counts.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._common.extreme import difference
from .._common.random_streams import as_generator
from .._common.validation import MAX_RESAMPLES, FloatArray, as_count, as_counts, one_line, refuse
from ..joint.outcomes import JointCounts, as_joint_counts
from ..measures.measure import Measure, as_measure

#: How many numbers a block of replicates may hold.
_BLOCK = 2**22


class Replicates(NamedTuple):
    """Bootstrap replicates of a measure, in the order in which they were drawn."""

    #: The measure of A and of B in each replicate; ndarray of float64, shape (size,).
    a: FloatArray
    b: FloatArray
    #: Where 0/0, taken as 0, entered the measure of A or of B; never for a user's function; ndarray of bool, shape
    #: (size,).
    undefined: np.ndarray[Any, np.dtype[np.bool_]]

    @property
    def differences(self) -> FloatArray:
        """A - B, and exactly 0 where the two are tied."""
        return difference(self.a, self.b)


def bootstrap_replicates(
    outcomes: JointCounts, measure: str | Measure | Callable[..., Any] = "f1", *, rng: Any = None, size: int
) -> Replicates:
    """Draw bootstrap replicates of a measure of A and of B.

    Replicates come in a fixed order: fewer from a generator in the same state are the first of more, and two draws
    in succession are one draw of both sizes together.

    `outcomes`: the joint outcomes of A and B on at least one observation.
    `measure`: as for `sigstats.measures.measure.as_measure`.
    `rng`: as for `sigstats._common.random_streams.as_generator`; a Generator is advanced.
    `size`: how many replicates, at least 0.

    Raises ValueError if there is no observation, or the measure is unknown or does not fit the outcomes.

    >>> from sigstats.joint.outcomes import JointOutcomes
    >>> outcomes = JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)
    >>> few = bootstrap_replicates(outcomes, "f1", rng=1, size=3)
    >>> many = bootstrap_replicates(outcomes, "f1", rng=1, size=5)
    >>> bool((few.b == many.b[:3]).all())
    True
    """
    joint, chosen = as_joint_counts(outcomes, "outcomes"), as_measure(measure)
    size = as_count(size, "size", maximum=MAX_RESAMPLES)
    width = len(joint.counts) + 8 * joint.n_categories
    parts = [evaluate(joint, chosen, weights) for weights in _resample(joint.counts, rng, size, width)]
    if not parts:
        return Replicates(np.empty(0), np.empty(0), np.empty(0, dtype=np.bool_))
    a, b, undefined = zip(*parts, strict=True)
    return Replicates(np.concatenate(a), np.concatenate(b), np.concatenate(undefined))


def bootstrap_statistic(
    counts: Any, statistic: Callable[[FloatArray], Any], *, rng: Any = None, size: int
) -> FloatArray:
    """Draw bootstrap replicates of any statistic of the counts of distinct events.

    The general form: the events may be anything of which all observations with equal events are equal to the
    statistic.

    `counts` (array_like of int, shape (J,)): how often each event occurred.
    `statistic`: takes event counts, float64 of shape (m, J) whose rows sum to n, and gives m finite numbers.
    `rng`: as for `sigstats._common.random_streams.as_generator`; a Generator is advanced.
    `size`: how many replicates, at least 0.

    Returns an ndarray of float64, shape (size,): in the order of drawing, as for `bootstrap_replicates`. Raises
    ValueError if the counts are bad or all 0, or the statistic fails or gives something else than m finite numbers.

    A cost that no four-count table holds: three grades, and the distance of the assigned from the true one.

    >>> table = np.array([[30, 8, 2], [5, 40, 5], [0, 9, 21]])
    >>> distance = np.abs(np.subtract.outer(range(3), range(3))).ravel()
    >>> costs = bootstrap_statistic(table.ravel(), lambda drawn: drawn @ distance / drawn.sum(1), rng=1, size=999)
    >>> bool(0.2 < costs.mean() < 0.3)
    True
    """
    events = as_counts(counts, "counts", ndim=1)
    if events.sum() == 0:
        raise refuse("counts", counts, "at least one observation")
    if not callable(statistic):
        raise refuse("statistic", statistic, "a function of event counts")
    size = as_count(size, "size", maximum=MAX_RESAMPLES)
    values = np.empty(0)
    parts = []
    for weights in map(np.ascontiguousarray, _resample(tuple(events.tolist()), rng, size, events.size)):
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(statistic(weights), dtype=np.float64)
        except Exception as error:  # whatever a user's function may raise
            raise ValueError(f"statistic: failed on counts of shape {weights.shape}: {one_line(error)}") from error
        if values.shape != weights.shape[:1] or not np.isfinite(values).all():
            raise refuse("statistic", values, f"{len(weights)} finite numbers for counts of shape {weights.shape}")
        parts.append(values)
    return np.concatenate(parts) if parts else values


def acceleration(outcomes: JointCounts, measure: str | Measure | Callable[..., Any] = "f1") -> float:
    """BCa's acceleration of the difference A - B: the skewness of its jackknife values, divided by 6.

    All observations of one event leave the same value when they are left out, so that there are as many values as
    distinct events, each with its count as its weight (Efron 1987, eq. 6.6).

    `outcomes`: the joint outcomes of A and B on at least one observation. `measure`: as for
    `sigstats.measures.measure.as_measure`. Returns a float: 0 where all jackknife values are equal.

    >>> from sigstats.joint.outcomes import JointOutcomes
    >>> round(acceleration(JointOutcomes(40, 12, 5, 3, 2, 6, 9, 123), "f1"), 6)
    -0.002749
    """
    joint, chosen = as_joint_counts(outcomes, "outcomes"), as_measure(measure)
    counts = np.array(joint.counts, dtype=np.float64)
    occurring = np.flatnonzero(counts)
    step = max(1, _BLOCK // (counts.size + 8 * joint.n_categories))
    values = []
    for start in range(0, occurring.size, step):
        left_out = occurring[start : start + step]
        weights = np.tile(counts, (left_out.size, 1))
        weights[np.arange(left_out.size), left_out] -= 1
        values.append(evaluate(joint, chosen, weights).differences)
    jackknife, times = np.concatenate(values), counts[occurring]
    influence = np.average(jackknife, weights=times) - jackknife
    spread = float((times * influence**2).sum())
    return float((times * influence**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0


def _resample(counts: tuple[int, ...], rng: Any, size: int, width: int) -> Iterator[FloatArray]:
    """Blocks of multinomial event counts; how they are cut into blocks does not change them."""
    generator = as_generator(rng)
    events = np.array(counts, dtype=np.int64)
    # NumPy draws one binomial after another from what is left. From the rarest event on, what is left stays near 1,
    # and its rounding small beside every probability; events that did not occur take no part.
    order = np.argsort(events, kind="stable")
    order = order[events[order] > 0]
    n = int(events.sum())
    probabilities = events[order] / n
    step = max(1, _BLOCK // width)
    for start in range(0, size, step):
        drawn = generator.multinomial(n, probabilities, size=min(step, size - start))
        weights = np.zeros((events.size, len(drawn))).T  # each event's counts beside each other, to be added up
        weights[:, order] = drawn
        yield weights


def evaluate(joint: JointCounts, measure: Measure, weights: FloatArray) -> Replicates:
    """The measure of A and of B for each row of event counts."""
    values, undefined = [], np.zeros(len(weights), dtype=np.bool_)
    for confusion in joint.confusions(weights):
        found = measure.of(confusion, joint.kind, undefined=float("nan"))
        if measure.function is None and (lost := np.isnan(found)).any():
            undefined |= lost
            found = measure.of(confusion, joint.kind)
        values.append(found)
    return Replicates(values[0], values[1], undefined)
