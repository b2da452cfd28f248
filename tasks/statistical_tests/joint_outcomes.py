"""Are two classifiers equally good on the same rows, by error rate, cost or F1? (Keller, Mariethoz and Bengio).

The module contains tests of joint outcomes, normal tests of error rates and costs, and the bootstrap of macro F1.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import FloatArray, refuse
from sigstats.bootstrap.bootstrap_test import bootstrap_test
from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import EXCHANGED, JointOutcomes
from sigstats.measures.measure import Measure
from sigstats.measures.table import OwnMeasure
from sigstats.proportions import dcf_pvalues, dcf_test, proportion_pvalues, proportion_test

from ..own_code import measure_as_planned
from ..record import digest
from . import KELLER, SIDE, ObservedRun, OfRuns, OfSets, OfTable, Option, StatisticalTest, estimated, fields


def of_two_classes(measure: OwnMeasure) -> Measure:
    """Turn a user's measure of labels (1 and 0), predictions and weights into a measure of counts.

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
    """Apply a function of labels, predictions (1 and 0) and weights to the counts ``tp, fn, fp, tn``."""
    weights = np.stack(counts, axis=-1)
    value = formula(np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0]), weights.reshape(-1, 4))
    return np.asarray(value).reshape(weights.shape[:-1])


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result without p, from the eight ``outcomes``."""
    outcomes = JointOutcomes(*data["outcomes"])
    if outcomes.n == 0:
        raise refuse("outcomes", 0, "at least one", quantity="number of observations")
    return {"alternative": "two-sided", "n": outcomes.n}


def _evaluate(data: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Return p and the estimate a - b. Costs need ``cost_fn``, ``cost_fp`` and ``prior``, the bootstrap ``measure``."""
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
        "Rows are counted by the eight joint events of label and both predictions. proportion compares error rates and "
        "dcf detection costs, by normal approximations: from the disagreements only or, with -independent, as if the "
        "two were measured on different objects. bootstrap resamples the objects, as counts of the events. The null "
        "hypothesis is that both are equally good."
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


PROPORTION = StatisticalTest(
    label="Proportions",
    question="Do two classifiers have the same error rate?",
    null="a and b have the same error rate",
    words=(
        "The difference of two error rates, divided by its standard error, is compared with the normal distribution: "
        "from the disagreements only, or as if the two were measured on different objects."
    ),
    source=f"{KELLER}, equations 4 and 6",
    order=48,
    sets=OfSets(
        name="proportion",
        title="Test of two errors by Keller, Mariethoz and Bengio.",
        options={"paired": Option(bool, True, "Paired, eq. (6), or independent, eq. (4)"), "alternative": SIDE},
        pvalues=lambda sets, rng, **options: proportion_pvalues(sets[:, EXCHANGED], **options),
    ),
)


def _pvalues(sets: NDArray[np.int64], rng: object, **options: Any) -> NDArray[np.float64]:  # noqa: ARG001
    """Return the p-values, which are 1 if a class has no rows. ``greater`` means that A is better: B costs more."""
    ones = np.ones(len(sets))
    whole = sets[:, :4].any(axis=1) & sets[:, 4:].any(axis=1)
    ones[whole] = dcf_pvalues(sets[whole][:, EXCHANGED], **options)
    return ones


DCF = StatisticalTest(
    label="Detection costs",
    question="Do two classifiers have the same detection cost?",
    null="a and b have the same detection cost",
    words=(
        "The difference of two detection costs, divided by its standard error, is compared with the normal "
        "distribution: from the disagreements only, or as if the two were measured on different objects."
    ),
    source=f"{KELLER}, equations 8 and 9",
    order=49,
    sets=OfSets(
        name="DCF",
        title="Test of two detection costs by Keller, Mariethoz and Bengio.",
        options={
            "cost_fn": Option(float, 1.0, "Cost of a missed positive", {"ge": 0, "le": 1e100}),
            "cost_fp": Option(float, 1.0, "Cost of a false positive", {"ge": 0, "le": 1e100}),
            "prior": Option(float, 0.5, "Prior probability of a positive", {"gt": 0, "lt": 1}),
            "paired": Option(bool, True, "Paired, eq. (9), or independent, eq. (8)"),
            "alternative": SIDE,
        },
        pvalues=_pvalues,
        of_answers=False,
    ),
)


_RESAMPLES = 10_000


def _of_runs(runs: Sequence[ObservedRun], cell: str) -> dict[str, Any]:
    a, b = runs
    test = bootstrap_test(
        JointEvents.from_predictions(a.label, a.prediction, b.prediction),
        measure="macro-f1",
        n_resamples=_RESAMPLES,
        rng=int(digest("bootstrap", pair=cell, resamples=_RESAMPLES)[:12], 16),
    )
    return {
        "n": a.n,
        "statistic": test.estimate,
        **estimated(test.estimate, test.confidence_interval),
        "replicates": test.n_resamples,
        "exceedances": test.exceedances,
        "p_value": test.pvalue,
        "note": test.reason,
    }


BOOTSTRAP = StatisticalTest(
    label="Bootstrap",
    question="Which of two classifiers has the better F1?",
    null="a and b have the same macro-averaged F1",
    words=(
        "The rows are drawn with replacement, 10,000 times, as counts of the joint events of label and both "
        "predictions. p is the smallest level at which the percentile interval of the difference in macro-averaged "
        "F1 excludes 0. The null hypothesis is that both have the same F1. p is approximate; it is too small if few "
        "rows distinguish the two."
    ),
    source=f"{KELLER}; Efron and Tibshirani, An introduction to the bootstrap (1993)",
    by="bootstrap",
    terms=(
        "Rows are resampled at random, and F1 is computed again. Necessity, from 0 to 1, states how strongly the "
        "data rule out that the two are equally good: 1 − 2p, with p before adjustment."
    ),
    order=45,
    runs=OfRuns(compared="two", compute=_of_runs, method="percentile", measure="difference of macro-F1 (a - b)"),
)
