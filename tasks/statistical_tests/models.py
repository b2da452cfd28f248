"""Are models equally good on data sets like these? (Friedman's test of ranks, Wilcoxon's exact signed-rank test)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, as_reals, refuse
from sigstats.many_datasets.friedman import friedman_test
from sigstats.many_datasets.signed_rank import signed_rank_test

from . import OfTable, StatisticalTest, estimated, fields


def _data_sets(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result without p, from ``scores``, with a row per data set and a column per model."""
    return {"alternative": "two-sided", "n": len(data["scores"])}


def _friedman(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    """Return the p-value by a method. The statistic is Friedman's chi-square for ``chi2``, otherwise F."""
    result = friedman_test(data["scores"], method=method, greater_is_better=data["greater_is_better"])
    return fields(result, statistic=result.chi2_statistic if method == "chi2" else result.f_statistic)


FRIEDMAN = StatisticalTest(
    label="Friedman",
    question="Do any of the models differ on data sets like these?",
    null="all models are equally good on data sets like these",
    words=(
        "The models are ranked on each data set, and Friedman's statistic, corrected for ties, measures how far their "
        "mean ranks are apart. p is computed from all orders within the data sets. If there are too many, it comes "
        "from Iman and Davenport's F, or from random orders if most scores are tied. The null hypothesis is that all "
        "orders of the models are equally likely on each data set."
    ),
    source=(
        "Friedman, The use of ranks to avoid the assumption of normality, Journal of the American Statistical "
        "Association 32 (1937); Iman and Davenport, Communications in Statistics A 9 (1980)"
    ),
    claim="some of the models differ",
    order=11,
    unit="data set",
    table=OfTable(methods=("auto", "f", "chi2"), observed=_data_sets, evaluate=_friedman),
)


#: Name of the estimate, which is positive if a is better, even if lower scores are better.
ADVANTAGE = "advantage of a over b"


def _advantage(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result without p, from ``a`` and ``b``, the models' scores by data set (None if missing)."""
    result = signed_rank_test(_advantages(data))
    return {
        "alternative": "two-sided",
        "measure": ADVANTAGE,
        "n": result.n,
        "statistic": result.statistic,
        **estimated(result.estimate, result.confidence_interval),
    }


def _advantages(data: Mapping[str, Any]) -> FloatArray:
    """Return the advantage of a over b on each data set."""
    if len(data["a"]) != len(data["b"]):
        raise refuse("scores", len(data["b"]), f"{len(data['a'])}, one for each data set", quantity="length")
    both = [scores for scores in zip(data["a"], data["b"], strict=True) if None not in scores]
    a, b = (
        as_reals(column, f"scores of {key}", ndim=1) for key, column in zip("ab", zip(*both, strict=True), strict=True)
    )
    with np.errstate(over="ignore"):  # the test refuses infinite differences
        return a - b if data["greater_is_better"] else b - a


SIGNED_RANK = StatisticalTest(
    label="Signed ranks",
    question="Which of two models is better on data sets like these?",
    null="a and b are equally good on data sets like these",
    words=(
        "The differences of two models' scores are ranked by size, and the ranks of the differences in favour of one "
        "model are added up. p is the share of all assignments of signs for which the sum is at least as far from its "
        "mean. It is also exact with equal scores, which are left out, and with equal differences, which share ranks. "
        "The null hypothesis is that differences are symmetric about zero."
    ),
    source=(
        "Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1 (1945); for models over data sets, "
        "Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006)"
    ),
    order=12,
    unit="data set",
    table=OfTable(
        methods=("exact",),
        observed=_advantage,
        evaluate=lambda data, method: fields(signed_rank_test(_advantages(data), method=method)),
    ),
)
