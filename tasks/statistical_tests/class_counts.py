"""Tests of counts of classes: two independent samples with each other, or one with required probabilities.

Two independent samples (Fisher, Freeman and Halton), and one sample with probabilities that were required beforehand
(multinomial test).

Each run of a classifier becomes a row of counts: right predictions of each class, and all wrong ones together
(Hryniewicz, eq. 1). The test of two samples assumes that the runs are samples of different rows. They are of the same
rows, with predictions pooled from folds, so its level may be too high or too low (the ready study cross-validation).
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

#: Beyond this number of predictions chi-square is used if expected counts allow it: bounds may take minutes there.
_FEW = 2_000
_SHARED = "the runs share their rows, which the test takes for independent samples"

_CAVEAT = (
    "Here the assumptions of the test do not hold: both runs are of the same rows, which are counted twice as if "
    "they were two independent samples, and their predictions are pooled from folds. At a level of 5% it rejected "
    "two equal learners 3.0% of the time if something was learned and 9.2% with nothing to learn, and 33.4% and "
    "51.0% with the folds of five repetitions (the ready study cross-validation: naive Bayes, 100 rows). For two "
    "classifiers on the same rows of one cross-validation, use McNemar's test."
)


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``counts_a`` and ``counts_b``: a count for each class."""
    homogeneity_exceedances(data["counts_a"], data["counts_b"], size=0, rng=0)  # refuses what is no pair of samples
    return {"alternative": "two-sided", "n": int(sum(data["counts_a"]) + sum(data["counts_b"]))}


def _evaluate(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    result = homogeneity_test(data["counts_a"], data["counts_b"], method=method)
    return fields(result, statistic=result.statistic)


def _exceedances(data: Mapping[str, Any], size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """For each of `size` random tables with the observed margins, whether it is no likelier than the observed one."""
    return homogeneity_exceedances(data["counts_a"], data["counts_b"], size=size, rng=rng)


def _of_runs(runs: Sequence[ObservedRun], cell: str) -> dict[str, Any]:  # noqa: ARG001
    k = 1 + max(int(run.label.max()) for run in runs)
    right = ([*np.bincount(run.label[run.right], minlength=k).tolist(), run.wrong] for run in runs)
    counts = dict(zip(("counts_a", "counts_b"), right, strict=True))
    result = run_table_test("homogeneity", counts, "chi2")
    if result["note"] or result["n"] <= _FEW:
        with contextlib.suppress(ValueError):  # too large for bounds: chi-square stays, with its warning
            result = run_table_test("homogeneity", counts, "bounds")
    return {**result, "note": f"{_SHARED}; {result['note']}".removesuffix("; ")}


HOMOGENEITY = StatisticalTest(
    label="Homogeneity",
    question="Are two independent samples alike?",
    null="a and b fall into the classes with equal probabilities",
    words=(
        "Two samples of different objects, counted by class, are compared with all tables of the same totals: exact "
        "sums the probabilities of all tables that are no likelier than the observed one; bounds enclose that sum; "
        "monte-carlo draws tables; chi2 is Pearson's approximation. The null hypothesis is that both samples fall into "
        "the classes with equal probabilities. Not for two classifiers on the same objects."
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
    """``counts`` and ``probabilities``, one of each for a class; ``ordering`` of the outcomes."""
    goodness_of_fit_exceedances(  # refuses what cannot be tested
        data["counts"], data["probabilities"], ordering=data.get("ordering", "probability"), size=0, rng=0
    )
    return {"alternative": "two-sided", "n": int(sum(data["counts"]))}


def _evaluate_fit(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    """The p-value that the counts agree with the probabilities."""
    result = goodness_of_fit_test(
        data["counts"], data["probabilities"], method=method, ordering=data.get("ordering", "probability")
    )
    excluded = any(count and not share for count, share in zip(data["counts"], data["probabilities"], strict=True))
    if excluded:  # p is 0, not too small for a float
        return fields(result, statistic=result.statistic, log10_p=-math.inf)
    return fields(result, statistic=result.statistic)


def _exceedances_of_fit(data: Mapping[str, Any], size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """For each of `size` random outcomes, whether it is at least as extreme as the observed counts."""
    ordering = data.get("ordering", "probability")
    return goodness_of_fit_exceedances(data["counts"], data["probabilities"], ordering=ordering, size=size, rng=rng)


GOODNESS_OF_FIT = StatisticalTest(
    label="Goodness of fit",
    question="Are the counts as required?",
    null="objects fall into the classes with the required probabilities",
    words=(
        "Counts of classes are compared with probabilities that were given beforehand: exact sums the probabilities of "
        "all outcomes that are no likelier than the observed one; monte-carlo draws outcomes; chi2 (Pearson) and "
        "likelihood-ratio are approximations. The null hypothesis is that the required probabilities are the true ones."
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
