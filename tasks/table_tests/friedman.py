"""Are several models equally good on data sets like these? (Friedman's test of their ranks)."""

from collections.abc import Mapping
from typing import Any

from sigstats.many_datasets.friedman import FriedmanResult, friedman_test

from ._results import fields

NULL = "all models are equally good on data sets like these"
METHODS = ("f", "chi2")


def observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``scores``, a row for each data set and a column for each model; ``greater_is_better``."""
    return {"alternative": "two-sided", "n": _test(data, "f").datasets}


def evaluate(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    """The p-value by a method; the statistic is Iman and Davenport's F, and Friedman's chi-square for the other."""
    found = _test(data, method)
    return fields(found, statistic=found.f_statistic if method == "f" else found.statistic)


def _test(data: Mapping[str, Any], method: Any) -> FriedmanResult:
    return friedman_test(data["scores"], method=method, greater_is_better=data["greater_is_better"])
