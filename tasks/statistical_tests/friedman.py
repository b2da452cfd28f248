"""Are several models equally good on data sets like these? (Friedman's test of their ranks)."""

from collections.abc import Mapping
from typing import Any

from sigstats.many_datasets.friedman import friedman_test

from . import OfTable, StatisticalTest, fields


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``scores``, a row for each data set and a column for each model; ``greater_is_better``."""
    return {"alternative": "two-sided", "n": len(data["scores"])}


def _evaluate(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    """The p-value by a method; the statistic is Iman and Davenport's F, and Friedman's chi-square for the other."""
    result = friedman_test(data["scores"], method=method, greater_is_better=data["greater_is_better"])
    return fields(result, statistic=result.chi2_statistic if method == "chi2" else result.f_statistic)


TEST = StatisticalTest(
    label="Friedman",
    question="Do any of the models differ on data sets like these?",
    null="all models are equally good on data sets like these",
    words=(
        "The models are ranked on each data set, and Friedman's statistic, corrected for ties, says how far their mean "
        "ranks are apart; p counts the orders within the data sets, or is that of Iman and Davenport's F where these "
        "are too many. The null hypothesis is that on each data set all orders of the models are equally likely."
    ),
    source=(
        "Friedman, The use of ranks to avoid the assumption of normality, Journal of the American Statistical "
        "Association 32 (1937); Iman and Davenport, Communications in Statistics A 9 (1980)"
    ),
    claim="some of the models differ",
    order=11,
    table=OfTable(methods=("auto", "f", "chi2"), observed=_observed, evaluate=_evaluate),
)
