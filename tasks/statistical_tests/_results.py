"""A result of `sigstats` as the fields of a hypothesis."""

from typing import Any

from sigstats.test_result import TestResult


def fields(result: TestResult, **values: Any) -> dict[str, Any]:
    """p-value, interval, method and note; `values` besides or instead of them."""
    interval = result.pvalue_interval
    return {
        "method": result.method,
        "p_value": result.pvalue,
        "p_low": result.pvalue if interval is None else interval.low,
        "p_high": result.pvalue if interval is None else interval.high,
        "replicates": result.replicates,
        "exceedances": result.exceedances,
        "note": result.reason,
        **values,
    }
