"""The expected cost of predictions, by what each wrong class costs where another one is true.

It is the mean over rows of the cost of the true and the predicted class (Elkan 2001, The foundations of cost-sensitive
learning, IJCAI), so that it is tested as any other mean of values with known limits: a row that was not seen costs no
less than the cheapest prediction of its class, and no more than the dearest.

When not to use: to choose the threshold of a classifier; this only measures the decisions that it makes.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._common.class_names import label_name
from .._common.validation import FloatArray, as_real, refuse, shown
from .table import EXPECTED_COST, MeasureSpec, OwnMeasure

_WANTED = "{true class: {predicted class: cost}}, or {'fn': cost, 'fp': cost}"
#: Amounts beyond this cannot be squared safely.
_MOST = 1e100


def as_cost_measure(costs: Any) -> OwnMeasure:
    """The expected cost as a measure of which less is better; or ValueError.

    Parameters
    ----------
    costs : mapping or DataFrame
        The cost of each wrong prediction, ``{true class: {predicted class: cost}}``, or a pandas data frame with the
        true classes as its index and the predicted ones as its columns. A right prediction costs 0, unless it is given.
        Or ``{"fn": 10, "fp": 1}``: that of a false negative and of a false positive of the positive class.

    Examples
    --------
    >>> measure = as_cost_measure({"sick": {"well": 10}, "well": {"sick": 1}})
    >>> measure.spec.of_rows(["sick", "sick", "well"], ["sick", "well", "sick"]).tolist()
    [0.0, 10.0, 1.0]
    """
    costs = costs.to_dict("index") if hasattr(costs, "to_dict") and hasattr(costs, "index") else costs
    if not isinstance(costs, Mapping) or not costs:
        raise refuse("costs", costs, _WANTED)
    of_one_class = costs.keys() == {"fn", "fp"} and not any(isinstance(value, Mapping) for value in costs.values())
    if of_one_class:
        costs = {"positive": {"negative": costs["fn"]}, "negative": {"positive": costs["fp"]}}
    table: dict[tuple[str, str], float] = {}
    for true, row in costs.items():
        if not isinstance(row, Mapping):
            raise refuse("costs", costs, _WANTED)
        for said, cost in row.items():
            cell = label_name(true, "costs"), label_name(said, "costs")
            if cell in table:
                raise ValueError(f"costs: {shown(cell[1])} predicted for {shown(cell[0])} appears more than once")
            table[cell] = as_real(cost, f"costs[{shown(cell[0])}][{shown(cell[1])}]", low=-_MOST, high=_MOST)
    names = {name for cell in table for name in cell}
    for name in names:
        table.setdefault((name, name), 0.0)
    rows = {true: [cost for (of, _), cost in table.items() if of == true] for true in names}
    span = max(max(row) - min(row) for row in rows.values())
    if span == 0:
        raise refuse("costs", costs, "a wrong prediction that costs more or less than a right one")

    def of_rows(label: Any, prediction: Any) -> FloatArray:
        cells = list(zip(map(str, label), map(str, prediction), strict=True))
        if lacking := next((cell for cell in cells if cell not in table), None):
            true, said = map(shown, lacking)
            raise ValueError(f"costs: none is given for {said} predicted where {true} is true; add it")
        return np.array([table[cell] for cell in cells])

    spec = MeasureSpec(
        name=EXPECTED_COST,
        needs="classes",
        unit="own",
        greater_is_better=False,
        test="means",
        plural="expected costs",
        span=span,
        limits=(min(table.values()), max(table.values())),
        of_rows=of_rows,
        of_one_class=of_one_class,
    )
    return OwnMeasure(spec)


def costs_in_words(text: str) -> dict[str, float] | None:
    """The costs of ``fn=10,fp=1``; None for any other text, such as a path; or ValueError.

    >>> costs_in_words("fn=10,fp=1"), costs_in_words("costs.csv")
    ({'fn': 10.0, 'fp': 1.0}, None)
    """
    if not re.match("f[np]=", text):
        return None
    parts = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    try:
        return {name: float(parts[name]) for name in ("fn", "fp")}
    except (KeyError, ValueError):
        raise refuse("costs", text, "fn=COST,fp=COST, as in fn=10,fp=1") from None


def with_costs(measures: Any, costs: Any) -> Any:
    """The measures with the expected cost before them; without costs as they are."""
    if costs is None:
        return measures
    names = [measures] if isinstance(measures, str) else measures or ()
    return [as_cost_measure(costs), *names]
