"""What counting replicates against the observed result tells."""

from typing import Any

from sigstats.sequential.rules import SequentialResult


def counted(result: SequentialResult) -> dict[str, Any]:
    """The fields of a hypothesis, from ``replicates`` to ``p_high``, and a note where a rule stopped early."""
    stopped = result.replicates < result.maximum
    return {
        "replicates": result.replicates,
        "exceedances": result.exceedances,
        "p_value": result.pvalue,
        "p_low": result.interval.low,
        "p_high": result.interval.high,
        "note": f"stopped after {result.replicates:,} of {result.maximum:,} replicates" if stopped else "",
    }
