"""Are two classifiers equally accurate on the same objects? (McNemar, on the objects that only one got right)."""

from collections.abc import Mapping
from typing import Any

from sigstats._common.validation import ALTERNATIVES, as_choice, as_count
from sigstats.effects import accuracy_difference
from sigstats.mcnemar.test import mcnemar_test

from ._results import fields

NULL = "a and b are equally likely to be right"
METHODS = ("exact", "mid-p", "chi2")

#: What is measured where the number of all objects is not known: the statistic is how many of `n` only b got right.
DISCORDANT = "discordant objects"


def observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """``only_a`` and ``only_b``, how many objects only a and only b got right, of ``n``; ``alternative``.

    Without ``n`` the difference of accuracies is not known.
    """
    only_a, only_b = (as_count(data[key], key) for key in ("only_a", "only_b"))
    seen: dict[str, Any] = {
        "alternative": as_choice(data.get("alternative", "two-sided"), "alternative", ALTERNATIVES),
        "n": only_a + only_b,
        "statistic": float(only_b),
    }
    if data.get("n") is None:
        return {**seen, "measure": DISCORDANT}
    b_over_a = accuracy_difference(only_b, only_a, data["n"])
    return {
        **seen,
        "n": int(data["n"]),
        "measure": "difference of accuracies (b - a)",
        "estimate": b_over_a.estimate,
        "estimate_low": b_over_a.confidence_interval.low,
        "estimate_high": b_over_a.confidence_interval.high,
    }


def evaluate(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    """The p-value of McNemar's test."""
    only_a, only_b = data["only_a"], data["only_b"]
    result = mcnemar_test(only_a, only_b, alternative=data.get("alternative", "two-sided"), method=method)
    note = f"only a right: {only_a}, only b right: {only_b}"
    return fields(result, note=f"{note}; {result.reason}" if result.reason else note)
