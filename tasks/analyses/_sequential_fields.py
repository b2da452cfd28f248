"""The result of a stopping rule as the fields of a hypothesis."""

from typing import Any

from sigstats.sequential.result import SequentialResult


def sequential_fields(result: SequentialResult) -> dict[str, Any]:
    """The fields from ``replicates`` to ``p_high``, and a note if the rule stopped early."""
    stopped = result.replicates < result.maximum
    return {
        "replicates": result.replicates,
        "exceedances": result.exceedances,
        "p_value": result.pvalue,
        "p_low": result.pvalue_interval.low,
        "p_high": result.pvalue_interval.high,
        "note": f"stopped after {result.replicates:,} of {result.maximum:,} replicates" if stopped else "",
    }
