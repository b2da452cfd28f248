"""PermClass and PermFeats: is the observed error smaller than under permutation? (Ojala and Garriga 2010).

Where the study names a measure, what is asked is whether this is greater than under permutation.
"""

from collections.abc import Iterator

from ..plan import Cell
from ..results import Results
from ..schema import Hypothesis
from ..work import Measured
from ._runs import observed_run_of
from .significance import sequential_fields

_NULLS = {
    "labels": "labels are independent of the features",
    "features": "features are independent of each other inside each class",
}
_IN_GROUPS = {
    "labels": "labels are independent of the features inside each group, or among groups of one class",
    "features": "features are independent of each other inside each group and class",
}

#: The fan-outs whose replicates it reads.
USES = ("crossval", "retrain", "measured", "measured-retrain")
TAKES_GROUPS = True


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each cell of retrains."""
    for cell in results.cells("retrain"):
        dataset, classifier = cell.subject["dataset"], cell.subject["classifier"]
        base, null = _untested(results, cell), cell.subject["null"]
        run, table = observed_run_of(results, dataset=dataset, classifier=classifier), results.table(cell)
        count = results.count(cell)
        if run is None or table is None or count is None:
            yield base
            continue
        error = run.error_interval
        yield base.with_(
            null=_NULLS[null] if run.groups is None else _IN_GROUPS[null],
            n=run.n,
            statistic=run.wrong / run.n,
            estimate=run.wrong / run.n,
            estimate_low=error.low,
            estimate_high=error.high,
            null_mean=float(table.column("wrong").to_numpy().mean()) / run.n,
            **sequential_fields(count),
        )
    for cell in results.cells("measured-retrain"):
        yield _by_measure(results, cell)


def _untested(results: Results, cell: Cell) -> Hypothesis:
    null, measure = cell.subject["null"], cell.work.measure if isinstance(cell.work, Measured) else "error"
    return results.hypothesis(
        cell,
        test=f"permutation-{null}",
        method="permutation",
        alternative="less" if measure == "error" else "greater",
        null=_NULLS[null],
        classifier=cell.subject["classifier"],
        measure=measure,
    )


def _by_measure(results: Results, cell: Cell) -> Hypothesis:
    """The hypothesis of retrains by another measure than the error."""
    base = _untested(results, cell)
    (before,) = results.cells("measured", **{key: cell.subject[key] for key in ("dataset", "classifier", "measure")})
    run = observed_run_of(results, dataset=cell.subject["dataset"], classifier=cell.subject["classifier"])
    observed, table, count = results.table(before), results.table(cell), results.count(cell)
    if run is None or observed is None or table is None or count is None:
        return base
    value = float(observed.column("value")[0].as_py())
    return base.with_(
        null=(_NULLS if run.groups is None else _IN_GROUPS)[cell.subject["null"]],
        n=run.n,
        statistic=value,
        estimate=value,
        null_mean=float(table.column("value").to_numpy().mean()),
        **sequential_fields(count),
    )
