"""The expected cost of predictions, from a table of costs by true and predicted class.

The expected cost is the mean over rows of the cost of the true and the predicted class (Elkan 2001, The foundations of
cost-sensitive learning, IJCAI). It is tested like any other mean of values with known limits: an unseen row costs at
least as much as the cheapest prediction of its class, and at most as much as the most expensive.

When not to use: to choose the threshold of a classifier; this only measures the decisions that it makes.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._common.class_names import label_name
from .._common.data_frames import opened
from .._common.messages import each_once
from .._common.validation import FloatArray, as_real, refuse, shown
from .metrics import EXPECTED_COST
from .table import MeasureSpec, OwnMeasure

#: The names of the axes of a table of costs in which the predicted classes are the rows.
_SWAPPED = re.compile(r"(?i)pred|guess"), re.compile(r"(?i)^(y_?)?(label|true|truth|actual|gold|target)")
_WANTED = "{true class: {predicted class: cost}}, or {'fn': cost, 'fp': cost}"


def as_cost_measure(costs: Any) -> OwnMeasure:
    """Return the expected cost as a measure that is better if lower, or raise ValueError.

    Parameters
    ----------
    costs : mapping or DataFrame
        The cost of each wrong prediction, ``{true class: {predicted class: cost}}``, or a pandas data frame with the
        true classes as its index and the predicted ones as its columns; or a frame of pandas, polars or Arrow with the
        columns label, prediction and cost.
        A right prediction costs 0, unless it is given.
        Or ``{"fn": 10, "fp": 1}``: the costs of a false negative and a false positive.

    Examples
    --------
    >>> measure = as_cost_measure({"sick": {"well": 10}, "well": {"sick": 1}})
    >>> measure.spec.of_rows(["sick", "sick", "well"], ["sick", "well", "sick"]).tolist()
    [0.0, 10.0, 1.0]
    """
    entries, of_one_class = _entries(costs)
    table = _table_of(entries)
    span = max(float(np.ptp([cost for (label, _), cost in table.items() if label == true])) for true, _ in table)
    if span == 0:
        raise refuse("costs", costs, "a wrong prediction that costs more or less than a right one")

    spec = MeasureSpec(
        name=EXPECTED_COST,
        needs="classes",
        unit="own",
        greater_is_better=False,
        test="means",
        span=span,
        limits=(min(table.values()), max(table.values())),
        of_rows=partial(_costs_of, table),
        of_counts=partial(_mean_of_counts, table) if of_one_class else None,
        of_one_class=of_one_class,
    )
    return OwnMeasure(spec)


def _entries(costs: Any) -> tuple[list[tuple[Any, ...]], bool]:
    """Return the true class, the predicted class and the cost of each entry; True if they are given as fn and fp."""
    rows = costs
    frame = opened(costs) if hasattr(costs, "columns") else None
    if frame is not None and frame.columns == ["label", "prediction", "cost"]:
        rows = [*frame.iter_rows()]
    elif hasattr(costs, "iloc"):
        axes = str(costs.index.name), str(costs.columns.name)
        if any(pattern.search(name) for pattern, name in zip(_SWAPPED, axes, strict=True)):
            place = f"index {shown(axes[0])} and columns {shown(axes[1])}"
            raise refuse("costs", place, "the true classes as the index and the predicted ones as the columns")
        rows = costs.to_dict("index")
    elif frame is not None:
        raise refuse("costs (columns)", frame.columns, "label, prediction and cost, since rows have no labels")
    of_one_class = isinstance(rows, Mapping) and rows.keys() == {"fn", "fp"}
    if of_one_class:
        rows = [("positive", "negative", rows["fn"]), ("negative", "positive", rows["fp"])]
    elif isinstance(rows, Mapping) and all(isinstance(row, Mapping) for row in rows.values()):
        rows = [(true, predicted, cost) for true, row in rows.items() for predicted, cost in row.items()]
    if not isinstance(rows, list) or not rows or not all(isinstance(row, tuple) for row in rows):
        raise refuse("costs", costs, _WANTED)
    return rows, of_one_class


def _table_of(entries: Sequence[tuple[Any, ...]]) -> dict[tuple[str, str], float]:
    """Return the cost by true and predicted class (right answers: 0 by default). Raise ValueError if invalid."""
    table: dict[tuple[str, str], float] = {}
    for *names, cost in entries:
        true, predicted = (label_name(name, "costs") for name in names)
        if (true, predicted) in table:
            raise ValueError(f"costs: {shown(predicted)} predicted for {shown(true)} appears more than once")
        table[true, predicted] = as_real(cost, f"costs[{shown(true)}][{shown(predicted)}]", low=-1e100, high=1e100)
    for name in {name for cell in table for name in cell}:
        table.setdefault((name, name), 0.0)
    for (true, predicted), cost in table.items():
        if cost < table[true, true]:
            place = f"costs[{shown(true)}][{shown(predicted)}]"
            raise refuse(place, cost, f"at least the cost of a right prediction, {table[true, true]:g}")
    return table


def _costs_of(table: Mapping[tuple[str, str], float], label: Any, prediction: Any) -> FloatArray:
    cells = list(zip(map(str, label), map(str, prediction), strict=True))
    if lacking := next((cell for cell in cells if cell not in table), None):
        true, predicted = map(shown, lacking)
        raise ValueError(f"costs: the cost of predicting {predicted} for {true} is missing; add it")
    return np.array([table[cell] for cell in cells])


def _mean_of_counts(table: Mapping[tuple[str, str], float], *counts: FloatArray) -> FloatArray:
    tp, fn, fp, tn = counts
    costs = _costs_of(table, ["positive"] * 2 + ["negative"] * 2, ["positive", "negative"] * 2)
    return np.asarray(sum(map(np.multiply, costs, counts)) / (tp + fn + fp + tn))


def costs_in_words(text: str) -> dict[str, Any] | None:
    """Parse costs such as ``fn=10,fp=1`` or a JSON object, or raise ValueError; None for other text, such as a path."""
    if not text.startswith(("fn=", "fp=", "{")):
        return None
    try:
        if text.startswith("{"):
            return dict(json.loads(text, object_pairs_hook=each_once))
        return each_once([(name, float(cost)) for name, cost in (part.split("=") for part in text.split(","))])
    except ValueError:
        wanted = 'each cost once: fn=10,fp=1, or JSON, as in {"sick": {"well": 10}, "well": {"sick": 1}}'
        raise refuse("costs", text, wanted) from None


def spec_named(name: str) -> MeasureSpec:
    """Return the expected cost with costs in its name, as in ``expected-cost(fn=10,fp=1)``, or raise ValueError."""
    costs = costs_in_words(name.removeprefix(f"{EXPECTED_COST}(").removesuffix(")"))
    return replace(as_cost_measure(costs or name).spec, name=name)


def with_costs(measures: Any, costs: Any) -> Any:
    """Return the measures, preceded by the expected cost if costs are given."""
    if costs is None:
        return measures
    names = [measures] if isinstance(measures, str) else measures or ()
    return [as_cost_measure(costs), *names]
