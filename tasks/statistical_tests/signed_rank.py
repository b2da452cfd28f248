"""Are two models equally good on data sets like these? (Wilcoxon's signed-rank test of their scores, exact)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, as_reals, refuse
from sigstats.many_datasets.signed_rank import signed_rank_test

from . import OfTable, StatisticalTest, fields

#: What is estimated; where less is better, the sign says all the same by how much a is the better one.
ADVANTAGE = "advantage of a over b"


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``a`` and ``b``: a score of each model on each data set, None where missing; ``greater_is_better``."""
    result = signed_rank_test(_advantages(data))
    return {
        "alternative": "two-sided",
        "measure": ADVANTAGE,
        "n": result.n,
        "statistic": result.statistic,
        "estimate": result.estimate,
        "estimate_low": result.confidence_interval.low,
        "estimate_high": result.confidence_interval.high,
    }


def _evaluate(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    return fields(signed_rank_test(_advantages(data), method=method))


def _advantages(data: Mapping[str, Any]) -> FloatArray:
    """The advantage of a over b on each data set."""
    if len(data["a"]) != len(data["b"]):
        raise refuse("scores (length)", len(data["b"]), f"{len(data['a'])}, one for each data set")
    both = [scores for scores in zip(data["a"], data["b"], strict=True) if None not in scores]
    a, b = (
        as_reals(column, f"scores of {key}", ndim=1) for key, column in zip("ab", zip(*both, strict=True), strict=True)
    )
    with np.errstate(over="ignore"):  # the test names a difference that is infinite
        return a - b if data["greater_is_better"] else b - a


TEST = StatisticalTest(
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
    table=OfTable(methods=("exact",), observed=_observed, evaluate=_evaluate),
)
