"""Do counts agree with class probabilities that were required beforehand? (multinomial test)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats.goodness_of_fit.distance import goodness_of_fit_exceedances
from sigstats.goodness_of_fit.goodness_of_fit_test import goodness_of_fit_test

from . import OfTable, StatisticalTest, fields


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``counts`` and ``probabilities``, one of each for a class; ``ordering`` of the outcomes."""
    goodness_of_fit_exceedances(  # refuses what cannot be tested
        data["counts"], data["probabilities"], ordering=data.get("ordering", "probability"), size=0, rng=0
    )
    return {"alternative": "two-sided", "n": int(sum(data["counts"]))}


def _evaluate(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    """The p-value that the counts agree with the probabilities."""
    result = goodness_of_fit_test(
        data["counts"], data["probabilities"], method=method, ordering=data.get("ordering", "probability")
    )
    excluded = any(count and not share for count, share in zip(data["counts"], data["probabilities"], strict=True))
    if excluded:  # p is 0, not too small for a float
        return fields(result, statistic=result.statistic, log10_p=-math.inf)
    return fields(result, statistic=result.statistic)


def _exceedances(data: Mapping[str, Any], size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """For each of `size` random outcomes, whether it is at least as extreme as the observed counts."""
    ordering = data.get("ordering", "probability")
    return goodness_of_fit_exceedances(data["counts"], data["probabilities"], ordering=ordering, size=size, rng=rng)


TEST = StatisticalTest(
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
        methods=("exact", "chi2", "likelihood-ratio"), observed=_observed, evaluate=_evaluate, exceedances=_exceedances
    ),
)
