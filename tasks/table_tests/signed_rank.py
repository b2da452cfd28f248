"""Are two models equally good on data sets like these? (Wilcoxon's signed-rank test of their scores, exact)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, as_reals, refuse
from sigstats.many_datasets.signed_rank import signed_rank_test

from ._results import fields

NULL = "a and b are equally good on data sets like these"
METHODS = ("exact",)

#: What is estimated; where less is better, the sign says all the same by how much b is the better one.
ADVANTAGE = "advantage of b over a"


def observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``a`` and ``b``: a score of each model on each data set; ``greater_is_better``."""
    found = signed_rank_test(_advantages(data))
    return {
        "alternative": "two-sided",
        "measure": ADVANTAGE,
        "n": found.n,
        "statistic": found.statistic,
        "estimate": found.estimate,
        "estimate_low": found.confidence_interval.low,
        "estimate_high": found.confidence_interval.high,
    }


def evaluate(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    """The p-value of the test."""
    return fields(signed_rank_test(_advantages(data), method=method))


def _advantages(data: Mapping[str, Any]) -> FloatArray:
    """By how much b is better than a on each data set."""
    a, b = (as_reals(data[key], f"scores of {key}", ndim=1) for key in ("a", "b"))
    if len(a) != len(b):
        raise refuse("scores (length)", len(b), f"{len(a)}, one for each data set")
    with np.errstate(over="ignore"):  # the test names a difference that is infinite
        return b - a if data["greater_is_better"] else a - b
