"""How many replicates should a Monte-Carlo test at a level have? (Nyssen's f_min; nothing is tested)."""

from collections.abc import Mapping
from typing import Any

from sigstats.efficiency import monte_carlo_size

from . import OfTable, StatisticalTest, no_pvalue


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``alpha``, the level of the test."""
    return {"alternative": "none", "measure": "replicates", "estimate": float(monte_carlo_size(data["alpha"]))}


TEST = StatisticalTest(
    label="Monte-Carlo size",
    question="How many replicates does a Monte-Carlo test need?",
    null="none: a size is computed",
    words=(
        "The smallest number of replicates with which a true p-value of nine tenths of the level is rejected with "
        "probability 0.95, in normal approximation. Nothing is tested."
    ),
    source="Nyssen, Comparison of different methods for testing the significance of classification efficiency, table 1",
    order=80,
    table=OfTable(methods=("formula",), observed=_observed, evaluate=no_pvalue),
)
