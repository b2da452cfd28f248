"""How many replicates should a Monte-Carlo test at a level have? (Nyssen's f_min; nothing is tested)."""

from collections.abc import Mapping
from typing import Any

from sigstats.efficiency import monte_carlo_size

NULL = "none: a size is computed"
METHODS = ("formula",)


def observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``alpha``, the level of the test."""
    return {"alternative": "none", "measure": "replicates", "estimate": float(monte_carlo_size(data["alpha"]))}


def evaluate(data: Mapping[str, Any], method: str) -> dict[str, Any]:  # noqa: ARG001
    """There is no p-value."""
    return {"method": "formula"}
