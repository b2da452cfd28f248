"""Are models equally good on data sets like these? (Friedman's test of ranks, Wilcoxon's exact signed-rank test)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, as_reals, refuse
from sigstats.many_datasets.friedman import friedman_test
from sigstats.many_datasets.signed_rank import signed_rank_test

from . import OfTable, StatisticalTest, estimated, fields


def _data_sets(data: Mapping[str, Any]) -> dict[str, Any]:
    """``scores``, a row for each data set and a column for each model; ``greater_is_better``."""
    return {"alternative": "two-sided", "n": len(data["scores"])}


def _friedman(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    """The p-value by a method; the statistic is Iman and Davenport's F, and Friedman's chi-square for the other."""
    result = friedman_test(data["scores"], method=method, greater_is_better=data["greater_is_better"])
    return fields(result, statistic=result.chi2_statistic if method == "chi2" else result.f_statistic)


FRIEDMAN = StatisticalTest(
    label="Friedman",
    question="Do any of the models differ on data sets like these?",
    null="all models are equally good on data sets like these",
    words=(
        "The models are ranked on each data set, and Friedman's statistic, corrected for ties, measures how far their "
        "mean ranks are apart; p counts the orders within the data sets. If there are too many, it is that of Iman and "
        "Davenport's F, or orders are drawn if most scores are tied. The null hypothesis is that on each data set all "
        "orders of the models are equally likely."
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


#: Name of the estimate; positive if a is better, also where less is better.
ADVANTAGE = "advantage of a over b"


def _advantage(data: Mapping[str, Any]) -> dict[str, Any]:
    """``a`` and ``b``: a score of each model on each data set, None where missing; ``greater_is_better``."""
    result = signed_rank_test(_advantages(data))
    return {
        "alternative": "two-sided",
        "measure": ADVANTAGE,
        "n": result.n,
        "statistic": result.statistic,
        **estimated(result.estimate, result.confidence_interval),
    }


def _signed_rank(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    return fields(signed_rank_test(_advantages(data), method=method))


def _advantages(data: Mapping[str, Any]) -> FloatArray:
    """The advantage of a over b on each data set."""
    if len(data["a"]) != len(data["b"]):
        raise refuse("scores", len(data["b"]), f"{len(data['a'])}, one for each data set", quantity="length")
    both = [scores for scores in zip(data["a"], data["b"], strict=True) if None not in scores]
    a, b = (
        as_reals(column, f"scores of {key}", ndim=1) for key, column in zip("ab", zip(*both, strict=True), strict=True)
    )
    with np.errstate(over="ignore"):  # the test names a difference that is infinite
        return a - b if data["greater_is_better"] else b - a


SIGNED_RANK = StatisticalTest(
    label="Signed ranks",
    question="Which of two models is better on data sets like these?",
    null="a and b are equally good on data sets like these",
    words=(
        "The differences of two models' scores are ranked by their size, and the ranks of those in favour of one are "
        "added up. p is the share of all assignments of signs whose sum is at least as far from its mean: exact also "
        "with equal scores, which are left out, and with equal differences, which share their ranks. The null "
        "hypothesis is that differences are symmetric about zero."
    ),
    source=(
        "Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1 (1945); for models over data sets, "
        "Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006)"
    ),
    order=12,
    unit="data set",
    table=OfTable(methods=("exact",), observed=_advantage, evaluate=_signed_rank),
)
