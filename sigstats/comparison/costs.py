"""Costs beside quality: their quantiles, and the claim that a candidate is not worse and cheaper."""

import math
from collections.abc import Iterator

from .._common.numerals import significant
from .._common.scores import unit_of
from .._common.validation import FloatArray
from ..intervals import order_statistic, quantile_interval
from .cells import difference_in_words, interval_of
from .paired_predictions import ALL_ROWS
from .part import Part
from .rows import ComparedRows, ComparisonRow
from .rule import ComparisonRule

_QUANTILES = ((0.5, "median"), (0.95, "95% point"))


def cost_quantiles(part: Part, name: str, rule: ComparisonRule) -> Iterator[str]:
    """The median and the 95% point of both models' costs, with intervals of order statistics, where rows are alone."""
    if part.scores is None or part.group is not None or part.items is not None or part.runs is not None:
        return
    unit = unit_of(name)
    for share, what in _QUANTILES:
        a, b = (_quantile(each, share, rule.confidence_level) for each in part.scores)
        yield f"{what} of {name}{f' ({unit})' if unit else ''}: {a} of the baseline, {b} of the candidate"


def _quantile(values: FloatArray, share: float, confidence: float) -> str:
    low, high = quantile_interval(values, share, confidence_level=confidence)
    middle = order_statistic(values, max(1, math.ceil(share * len(values))))
    ends = " to ".join("?" if math.isinf(each) else significant(each, 4) for each in (low, high))
    return f"{significant(middle, 4)} ({ends})"


def not_worse_and_cheaper(found: ComparedRows) -> str:
    """The statement on quality and costs together, on all rows; empty where not both are compared.

    The claim that the candidate is not worse and cheaper is made where each part is shown by itself, which needs no
    adjustment (Berger 1982, Technometrics 24, 295-300).
    """
    rows = [row for row in found.rows if row.slice == ALL_ROWS and row.p_worse is not None]
    costs, others = [row for row in rows if row.lower_is_better], [row for row in rows if not row.lower_is_better]
    if not costs or not others:
        return ""
    as_good = all(row.verdict == "pass" for row in others)
    cheaper = [row for row in costs if _p_better(row) <= found.rule.alpha]
    said = ", ".join(f"{row.score or row.name} {difference_in_words(row)} ({interval_of(row)})" for row in cheaper)
    if len(cheaper) < len(costs):
        dearer = next(row for row in costs if row not in cheaper)
        cost = dearer.score or dearer.name
        return f"not worse, but {cost} is not shown to be lower" if as_good else f"nor is {cost} shown to be lower"
    return f"not worse and cheaper: {said}" if as_good else f"cheaper ({said}), but not shown to be as good"


def _p_better(row: ComparisonRow) -> float:
    """The one-sided p-value of "the candidate is not better"."""
    return 1.0 if row.p_differs is None or (row.gain or 0.0) <= 0 else row.p_differs / 2
