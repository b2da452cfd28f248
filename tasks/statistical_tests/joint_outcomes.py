"""Are two classifiers of one positive class equally good, by error rate, cost or F1? (Keller, Mariethoz and Bengio)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, refuse
from sigstats.bootstrap.bootstrap_test import bootstrap_test
from sigstats.joint.outcomes import JointOutcomes
from sigstats.measures.measure import Measure
from sigstats.measures.table import OwnMeasure
from sigstats.proportions import dcf_test, proportion_test

from ..own_code import measure_as_planned
from . import KELLER, OfTable, StatisticalTest, estimated, fields


def of_two_classes(measure: OwnMeasure) -> Measure:
    """Turn a user's measure of labels (1 and 0), predictions and weights into one of counts, or raise ValueError.

    >>> from sigstats.measures.measure import as_own_measure
    >>> measure = as_own_measure(lambda y, prediction, weights: ((y == prediction) @ weights) / weights.sum())
    >>> of_two_classes(measure)(30, 1, 5, 64)
    0.94
    """
    spec = measure.spec
    if spec.needs != "classes":
        raise refuse("measure", str(measure), "a measure of labels and predictions, for counts of two classes")
    of_counts = spec.of_counts
    if of_counts is None:
        assert spec.of_weights is not None
        of_counts = partial(_of_counts, spec.of_weights)
    return Measure(name=str(measure), greater_is_better=spec.greater_is_better, function=of_counts)


def _of_counts(formula: Callable[..., FloatArray], *counts: Any) -> FloatArray:
    """Apply a formula of labels, predictions (1 and 0) and weights to the counts ``tp, fn, fp, tn``."""
    weights = np.stack(counts, axis=-1)
    value = formula(np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0]), weights.reshape(-1, 4))
    return np.asarray(value).reshape(weights.shape[:-1])


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``outcomes``: the eight counts; ``cost_fn``, ``cost_fp`` and ``prior`` for the cost, ``measure`` to resample."""
    outcomes = JointOutcomes(*data["outcomes"])
    if outcomes.n == 0:
        raise refuse("outcomes (observations)", 0, "at least one")
    return {"alternative": "two-sided", "n": outcomes.n}


def _evaluate(data: Mapping[str, Any], method: str) -> dict[str, Any]:
    """The p-value by a method; the estimate is the value of a minus that of b."""
    outcomes = JointOutcomes(*data["outcomes"])
    if method == "bootstrap":
        chosen = measure_as_planned(data["measure"], data.get("measure_code"))
        measure = of_two_classes(chosen) if isinstance(chosen, OwnMeasure) else chosen
        resampled = bootstrap_test(outcomes, measure=measure, rng=0)  # equal outcomes give equal results
        return fields(
            resampled,
            method=method,
            measure=f"difference of {data['measure']} (a - b)",
            statistic=resampled.statistic,
            **estimated(resampled.estimate, resampled.confidence_interval),
            p_low=None,
            p_high=None,
        )
    paired = not method.endswith("-independent")
    if method.startswith("dcf"):
        costs = {key: data[key] for key in ("cost_fn", "cost_fp", "prior")}
        result, measure = dcf_test(outcomes, paired=paired, **costs), "difference of detection costs (a - b)"
    else:
        result, measure = proportion_test(outcomes, paired=paired), "difference of error rates (a - b)"
    return fields(result, method=method, measure=measure, statistic=result.statistic, estimate=result.estimate)


TEST = StatisticalTest(
    label="Joint outcomes",
    question="Do two classifiers of one positive class differ?",
    null="a and b are equally good",
    words=(
        "Rows are counted by eight joint events of label and both predictions. proportion compares error rates and "
        "dcf detection costs, as normal approximations: from the disagreements only, or, independent, as if the two "
        "were measured on different objects. bootstrap draws the objects again with replacement, as counts of the "
        "events. The null hypothesis is that both are equally good."
    ),
    source=f"{KELLER}, equations 4 to 15",
    claim="the two classifiers differ",
    order=47,
    table=OfTable(
        methods=("proportion", "proportion-independent", "dcf", "dcf-independent", "bootstrap"),
        observed=_observed,
        evaluate=_evaluate,
    ),
)
