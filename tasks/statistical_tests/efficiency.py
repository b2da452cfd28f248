"""Is the accuracy of a confusion matrix better than that of a random classifier with the same margins? (Nyssen)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats.efficiency import efficiency_test
from sigstats.fixed_margins.sampling import random_number_correct
from sigstats.intervals import clopper_pearson
from sigstats.tables import as_confusion_table

from . import ObservedRun, OfRuns, OfTable, StatisticalTest, estimated, fields, run_table_test

_CAVEAT = (
    "Here the assumptions of the test do not hold: the predictions are pooled from folds whose classifiers share "
    "training rows, and the test treats them as independent. At a level of 5% it rejected 7.4% of the time with "
    "nothing to learn, and 27.6% with the folds of five repetitions (the ready study cross-validation: naive Bayes, "
    "100 rows); PermClass kept its level."
)


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``table``: counts, true classes in rows."""
    table = as_confusion_table(data["table"])
    n, right = int(table.sum()), int(np.trace(table))
    by_chance = sum(int(row) * int(column) for row, column in zip(table.sum(axis=1), table.sum(axis=0), strict=True))
    return {
        "alternative": "greater",
        "measure": "accuracy",
        "n": n,
        "statistic": float(right),
        **estimated(right / n, clopper_pearson(right, n)),
        "null_mean": by_chance / n**2,
    }


def _evaluate(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    # Equal tables give equal results, also where "auto" has to draw.
    result = efficiency_test(data["table"], method="exact" if method == "mid-p" else method, rng=0)
    if method == "mid-p":
        p = result.mid_pvalue
        return fields(result, method=method, p_value=p, p_low=p, p_high=p, note="the observed number counts half")
    note = "" if method == "exact" else result.reason
    return fields(result, log10_p=result.log10_pvalue, note=note)


def _exceedances(data: Mapping[str, Any], size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """For each of `size` random tables with the observed margins, whether at least as many are right."""
    table = as_confusion_table(data["table"])
    drawn = random_number_correct(table.sum(axis=1), table.sum(axis=0), size=size, rng=rng)
    return np.asarray(drawn >= np.trace(table), dtype=np.bool_)


def _of_run(runs: Sequence[ObservedRun], cell: str) -> dict[str, Any]:  # noqa: ARG001
    return run_table_test("efficiency", {"table": runs[0].table().tolist()}, "exact")


TEST = StatisticalTest(
    label="Nyssen",
    question="Are the predictions better than chance?",
    null="predicted classes are independent of the true ones",
    words=(
        "The confusion matrix of the predictions is compared with all matrices of the same row and "
        "column totals: p is the exact probability of at least as many right predictions if classes were assigned at "
        "random. The null hypothesis is that predicted and true classes are independent. Nothing is retrained, so the "
        "test is only about these predictions."
    ),
    source="Nyssen, Comparison of different methods for testing the significance of classification efficiency",
    claim="the accuracy is better than chance",
    by="Nyssen's test",
    terms=(
        "Nyssen's test compares the number right with that of naming classes at random, each as often as it was named."
    ),
    order=30,
    table=OfTable(
        methods=("auto", "exact", "mid-p", "chi2"), observed=_observed, evaluate=_evaluate, exceedances=_exceedances
    ),
    runs=OfRuns(
        compared="one", compute=_of_run, method="exact", alternative="greater", measure="accuracy", caveat=_CAVEAT
    ),
)
