"""PermClass and PermFeats: is the observed error smaller than under permutation? (Ojala and Garriga 2010).

If the study names a measure, the question is whether it is better than under permutation.
"""

from collections.abc import Iterator

from sigstats.measures.table import MEASURES

from ..plan import Cell
from ..results import Results, sequential_fields
from ..schema import Hypothesis
from .runs import observed_run
from .work import Measured

_NULLS = {
    "labels": "labels are independent of the features",
    "features": "features are independent of each other inside each class",
}
_IN_GROUPS = {
    "labels": "labels are independent of the features inside each group, or among groups of one class",
    "features": "features are independent of each other inside each group and class",
}


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each cell of retrains."""
    for cell in (*results.cells("retrain"), *results.cells("measured-retrain")):
        yield _of_cell(results, cell)


def _of_cell(results: Results, cell: Cell) -> Hypothesis:
    null, measure, lower = cell.subject["null"], "error", True
    if isinstance(cell.work, Measured):
        measure, own = cell.work.measure, cell.work.measure_code is not None
        lower = cell.work.lower_is_better if own else not MEASURES[measure].greater_is_better
    base = results.hypothesis(
        cell,
        test=f"permutation-{null}",
        method="permutation",
        alternative="less" if lower else "greater",
        null_hypothesis=_NULLS[null],
        classifier=cell.subject["classifier"],
        measure=measure,
    )
    of = {key: cell.subject[key] for key in ("dataset", "classifier")}
    run = next((observed_run(results, item) for item in results.cells("crossval", **of)), None)
    table, count = results.table(cell), results.count(cell)
    if run is None or table is None or count is None:
        return base
    base = base.with_(
        null_hypothesis=(_NULLS if run.groups is None else _IN_GROUPS)[null], n=run.n, **sequential_fields(count)
    )
    if measure == "error":
        error, value = run.error_interval, run.wrong / run.n
        mean = float(table.column("wrong").to_numpy().mean()) / run.n
        base = base.with_(estimate_low=error.low, estimate_high=error.high)
    else:
        (before,) = results.cells("measured", **of, measure=cell.subject["measure"])
        observed = results.table(before)
        assert observed is not None  # replicates were counted against it
        sign = -1 if lower else 1
        value, mean = (sign * float(part.column("value").to_numpy().mean()) for part in (observed, table))
    return base.with_(statistic=value, estimate=value, null_mean=mean)
