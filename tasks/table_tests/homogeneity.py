"""Do two independent samples fall into the classes with equal probabilities? (Fisher, Freeman and Halton)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats.homogeneity.sampling import homogeneity_exceedances
from sigstats.homogeneity.test import homogeneity_test

from ._results import fields

NULL = "a and b fall into the classes with equal probabilities"
METHODS = ("exact", "bounds", "chi2")


def observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``counts_a`` and ``counts_b``: a count for each class."""
    homogeneity_exceedances(data["counts_a"], data["counts_b"], size=0, rng=0)  # refuses what is no pair of samples
    return {"alternative": "two-sided", "n": int(sum(data["counts_a"]) + sum(data["counts_b"]))}


def evaluate(data: Mapping[str, Any], method: str) -> dict[str, Any]:
    """The p-value that the two samples are alike."""
    result = homogeneity_test(data["counts_a"], data["counts_b"], method=method)
    return fields(result, statistic=result.statistic)


def exceedances(data: Mapping[str, Any], size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which of `size` random tables with the observed margins are no likelier than the observed one."""
    return homogeneity_exceedances(data["counts_a"], data["counts_b"], size=size, rng=rng)
