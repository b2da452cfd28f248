"""PermClass and PermFeats: is the observed error smaller than under permutation? (Ojala and Garriga 2010)."""

from collections.abc import Iterator

from ..results import Results
from ..schema import Hypothesis
from ._observed_run import observed_run_of
from ._sequential_fields import sequential_fields

_NULLS = {
    "labels": "labels are independent of the features",
    "features": "features are independent of each other inside each class",
}
_IN_GROUPS = {
    "labels": "labels are independent of the features inside each group, or among groups of one class",
    "features": "features are independent of each other inside each group and class",
}

#: The fan-outs whose replicates it reads.
USES = ("crossval", "retrain")


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each cell of retrains."""
    for cell in results.cells("retrain"):
        dataset, classifier, null = (cell.subject[key] for key in ("dataset", "classifier", "null"))
        base = Hypothesis(
            study=results.plan.study,
            cell=cell.name,
            test=f"permutation-{null}",
            method="permutation",
            alternative="less",
            null=_NULLS[null],
            dataset=dataset,
            classifier=classifier,
            measure="error",
        )
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
