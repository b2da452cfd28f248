"""Is the accuracy of a confusion matrix better than chance, given its margins? (Nyssen's test).

The module also computes the number of replicates, and the number of tables, that his test needs; both test nothing.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats.efficiency import efficiency_of, monte_carlo_size
from sigstats.fixed_margins.distribution import number_of_terms
from sigstats.fixed_margins.upper_tail import random_number_correct
from sigstats.intervals import clopper_pearson
from sigstats.tables import as_confusion_table

from . import Data, Fields, OfRuns, OfTable, StatisticalTest, estimated, fields, run_table_test

_CAVEAT = (
    "Here the assumptions of the test do not hold: the predictions are pooled from folds whose classifiers share "
    "training rows, but the test treats them as independent. At the 5% level, it rejected in 7.4% of samples "
    "although there was nothing to learn, and in 27.6% with the folds of five repetitions (the ready study "
    "cross-validation: naive Bayes, 100 rows); PermClass kept its level."
)


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result without p, from ``table``: counts, with true classes in rows."""
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
    # Equal tables give equal results, even if "auto" draws random tables.
    table = as_confusion_table(data["table"])
    result = efficiency_of(table, method="exact" if method == "mid-p" else method, rng=0)
    if method == "mid-p":
        p = result.mid_pvalue
        return fields(result, method=method, p_value=p, p_low=p, p_high=p, note="the observed number counts half")
    note = "" if method == "exact" else result.reason
    return fields(result, log10_p=result.log10_pvalue, note=note)


def _exceedances(data: Mapping[str, Any], size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw `size` tables with the observed margins; return a mask of those with at least as many right answers."""
    table = as_confusion_table(data["table"])
    drawn = random_number_correct(table.sum(axis=1), table.sum(axis=0), size=size, rng=rng)
    return np.asarray(drawn >= np.trace(table), dtype=np.bool_)


TEST = StatisticalTest(
    label="Nyssen",
    question="Are the predictions better than chance?",
    null="predicted classes are independent of the true ones",
    words=(
        "The confusion matrix of the predictions is compared with all matrices that have the same row and column "
        "totals. p is the exact probability of at least as many right predictions if classes are assigned at random. "
        "The null hypothesis is that predicted and true classes are independent. Nothing is retrained, so the test is "
        "only about these predictions."
    ),
    source="Nyssen, Comparison of different methods for testing the significance of classification efficiency",
    claim="the accuracy is better than chance",
    by="Nyssen's test",
    terms=(
        "Nyssen's test compares the number of right predictions with random predictions of the same class frequencies."
    ),
    order=30,
    table=OfTable(
        methods=("auto", "exact", "mid-p", "chi2"), observed=_observed, evaluate=_evaluate, exceedances=_exceedances
    ),
    runs=OfRuns(
        compared="one",
        compute=lambda runs, _: run_table_test("efficiency", {"table": runs[0].table().tolist()}, "exact"),
        method="exact",
        alternative="greater",
        measure="accuracy",
        caveat=_CAVEAT,
    ),
)


def _no_pvalue(data: Data, method: str) -> Fields:  # noqa: ARG001
    """Return the fields of a computed number without a test."""
    return {"method": method}


def _replicates(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the number of replicates for a test at the level ``alpha``."""
    return {"alternative": "none", "measure": "replicates", "estimate": float(monte_carlo_size(data["alpha"]))}


MONTE_CARLO_SIZE = StatisticalTest(
    label="Monte-Carlo size",
    question="How many replicates does a Monte-Carlo test need?",
    null="none: a size is computed",
    words=(
        "The smallest number of replicates that reject a true p-value of nine tenths of the level with probability "
        "0.95, by a normal approximation. Nothing is tested."
    ),
    source="Nyssen, Comparison of different methods for testing the significance of classification efficiency, table 1",
    order=80,
    table=OfTable(methods=("formula",), observed=_replicates, evaluate=_no_pvalue),
)


def _tables(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the number of tables to enumerate for ``table``: counts, with true classes in rows."""
    table = as_confusion_table(data["table"])
    return {
        "alternative": "none",
        "measure": "tables",
        "n": int(table.sum()),
        "estimate": float(number_of_terms(table)),
    }


ENUMERATION_SIZE = StatisticalTest(
    label="Number of terms",
    question="How many tables would an enumeration list?",
    null="none: tables are counted",
    words=(
        "The number of tables with the same totals and at least as many right answers, which are the terms of Nyssen's "
        "equation (4). They are counted row by row; the exact test sums them without a list. Nothing is tested."
    ),
    source="Nyssen, Comparison of different methods for testing the significance of classification efficiency, fig. 2",
    order=75,
    table=OfTable(methods=("count",), observed=_tables, evaluate=_no_pvalue),
)
