"""Tests of counts of classes: of two independent samples, or of one sample against required probabilities.

Two independent samples are compared by Fisher, Freeman and Halton's test, and one sample with required probabilities by
the multinomial test.

Each run of a classifier becomes a row of counts: the right predictions of each class, and all wrong predictions
together (Hryniewicz, eq. 1). The test of two samples assumes that the runs use different rows. They use the same rows,
with predictions pooled from folds, so the level may be too high or too low (the ready study cross-validation).
"""

import contextlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats.goodness_of_fit.distance import goodness_of_fit_exceedances
from sigstats.goodness_of_fit.goodness_of_fit_test import goodness_of_fit_test
from sigstats.homogeneity.given_margins import homogeneity_exceedances
from sigstats.homogeneity.homogeneity_test import homogeneity_test

from . import ObservedRun, OfRuns, OfTable, StatisticalTest, fields, run_table_test

#: With more predictions, chi-square is used if expected counts permit it, since bounds may take minutes.
_FEW = 2_000
_SHARED = "both runs are on the same rows, but the test assumes independent samples"

_CAVEAT = (
    "Here the assumptions of the test do not hold: both runs are on the same rows, which are counted twice as if "
    "they were two independent samples, and their predictions are pooled from folds. At the 5% level, it rejected in "
    "3.0% of samples although the learners were equal, and in 9.2% if there was nothing to learn; with the folds of "
    "five repetitions, in 33.4% and 51.0% (the ready study cross-validation: naive Bayes, 100 rows). For two "
    "classifiers on the same rows of one cross-validation, use McNemar's test."
)


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result without p, from ``counts_a`` and ``counts_b``, with a count per class."""
    homogeneity_exceedances(data["counts_a"], data["counts_b"], size=0, rng=0)  # raises ValueError for invalid counts
    return {"alternative": "two-sided", "n": int(sum(data["counts_a"]) + sum(data["counts_b"]))}


def _evaluate(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    result = homogeneity_test(data["counts_a"], data["counts_b"], method=method)
    return fields(result, statistic=result.statistic)


def _exceedances(data: Mapping[str, Any], size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw `size` tables with the observed margins; return a mask of those no likelier than the observed table."""
    return homogeneity_exceedances(data["counts_a"], data["counts_b"], size=size, rng=rng)


def _of_runs(runs: Sequence[ObservedRun], cell: str) -> dict[str, Any]:  # noqa: ARG001
    k = 1 + max(int(run.label.max()) for run in runs)
    right = ([*np.bincount(run.label[run.right], minlength=k).tolist(), run.wrong] for run in runs)
    counts = dict(zip(("counts_a", "counts_b"), right, strict=True))
    result = run_table_test("homogeneity", counts, "chi2")
    if result["note"] or result["n"] <= _FEW:
        with contextlib.suppress(ValueError):  # too large for bounds, so chi-square is kept, with its warning
            result = run_table_test("homogeneity", counts, "bounds")
    return {**result, "note": f"{_SHARED}; {result['note']}".removesuffix("; ")}


HOMOGENEITY = StatisticalTest(
    label="Homogeneity",
    question="Are two independent samples alike?",
    null="a and b fall into the classes with equal probabilities",
    words=(
        "Two samples of different objects, counted by class, are compared with all tables that have the same totals. "
        "exact sums the probabilities of all tables that are no likelier than the observed table; bounds enclose this "
        "sum; monte-carlo draws tables; chi2 is Pearson's approximation. The null hypothesis is that both samples fall "
        "into the classes with equal probabilities. Do not use it for two classifiers on the same objects."
    ),
    source="Hryniewicz, Possibilistic methodology for the evaluation of classification algorithms, equations 4 to 11",
    claim="the two samples differ",
    by="Fisher, Freeman and Halton",
    order=50,
    table=OfTable(
        methods=("exact", "bounds", "chi2"), observed=_observed, evaluate=_evaluate, exceedances=_exceedances
    ),
    runs=OfRuns(compared="two", compute=_of_runs, method="bounds", caveat=_CAVEAT),
)


def _observed_fit(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result without p, from ``counts``, ``probabilities`` and the ``ordering`` of outcomes."""
    goodness_of_fit_exceedances(  # raises ValueError for invalid data
        data["counts"], data["probabilities"], ordering=data.get("ordering", "probability"), size=0, rng=0
    )
    return {"alternative": "two-sided", "n": int(sum(data["counts"]))}


def _evaluate_fit(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    """Return the fields of the test that the counts agree with the probabilities."""
    result = goodness_of_fit_test(
        data["counts"], data["probabilities"], method=method, ordering=data.get("ordering", "probability")
    )
    excluded = any(count and not share for count, share in zip(data["counts"], data["probabilities"], strict=True))
    if excluded:  # p is exactly 0, not only too small for a float
        return fields(result, statistic=result.statistic, log10_p=-math.inf)
    return fields(result, statistic=result.statistic)


def _exceedances_of_fit(data: Mapping[str, Any], size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw `size` outcomes; return a mask of those at least as extreme as the observed counts."""
    ordering = data.get("ordering", "probability")
    return goodness_of_fit_exceedances(data["counts"], data["probabilities"], ordering=ordering, size=size, rng=rng)


GOODNESS_OF_FIT = StatisticalTest(
    label="Goodness of fit",
    question="Are the counts as required?",
    null="objects fall into the classes with the required probabilities",
    words=(
        "Counts of classes are compared with probabilities that were required beforehand. exact sums the probabilities "
        "of all outcomes that are no likelier than the observed outcome; monte-carlo draws outcomes; chi2 (Pearson) "
        "and likelihood-ratio are approximations. The null hypothesis is that the required probabilities are true."
    ),
    source="Hryniewicz, Possibilistic methodology for the evaluation of classification algorithms, equations 12 to 19",
    claim="the counts do not agree with the required probabilities",
    by="multinomial test",
    order=60,
    table=OfTable(
        methods=("exact", "chi2", "likelihood-ratio"),
        observed=_observed_fit,
        evaluate=_evaluate_fit,
        exceedances=_exceedances_of_fit,
    ),
)
