"""Is the accuracy of a confusion matrix better than that of a random classifier with the same margins? (Nyssen)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats.efficiency import efficiency_test
from sigstats.fixed_margins.sampling import random_number_correct
from sigstats.intervals import clopper_pearson
from sigstats.tables import as_confusion_table

from ._results import fields

NULL = "predicted classes are independent of the true ones"
METHODS = ("auto", "exact", "mid-p", "chi2")


def observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``table``: counts, true classes in rows."""
    table = as_confusion_table(data["table"])
    n, right = int(table.sum()), int(np.trace(table))
    accuracy = clopper_pearson(right, n)
    by_chance = sum(int(row) * int(column) for row, column in zip(table.sum(axis=1), table.sum(axis=0), strict=True))
    return {
        "alternative": "greater",
        "measure": "accuracy",
        "n": n,
        "statistic": float(right),
        "estimate": right / n,
        "estimate_low": accuracy.low,
        "estimate_high": accuracy.high,
        "null_mean": by_chance / n**2,
    }


def evaluate(data: Mapping[str, Any], method: str) -> dict[str, Any]:
    """The p-value of Nyssen's test."""
    # Equal tables give equal results, also where "auto" has to draw.
    result = efficiency_test(data["table"], method="exact" if method == "mid-p" else method, rng=0)
    if method == "mid-p":
        p = result.mid_pvalue
        return fields(result, method=method, p_value=p, p_low=p, p_high=p, note="the observed number counts half")
    note = "" if method == "exact" else result.reason
    return fields(result, log10_p=result.log10_pvalue, note=note)


def exceedances(data: Mapping[str, Any], size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which of `size` random tables with the observed margins have as many right."""
    table = as_confusion_table(data["table"])
    drawn = random_number_correct(table.sum(axis=1), table.sum(axis=0), size=size, rng=rng)
    return np.asarray(drawn >= np.trace(table), dtype=np.bool_)
