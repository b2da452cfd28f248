"""Is the accuracy better than that of a random classifier with the same margins? (Nyssen's exact test)."""

from collections.abc import Iterator

from sigstats.efficiency import efficiency_test
from sigstats.intervals import clopper_pearson

from ..results import Results
from ..schema import Hypothesis
from ._observed import observed


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each observed run."""
    for cell in results.cells("crossval"):
        base = Hypothesis(
            study=results.plan.study,
            cell=cell.name,
            test="efficiency",
            method="exact",
            alternative="greater",
            null="predicted classes are independent of the true ones",
            dataset=cell.subject["dataset"],
            classifier=cell.subject["classifier"],
            measure="accuracy",
        )
        run = observed(results, cell)
        if run is None:
            yield base
            continue
        test = efficiency_test(run.table(), method="exact")
        accuracy = clopper_pearson(run.n - run.wrong, run.n)
        yield base.with_(
            n=run.n,
            statistic=float(run.n - run.wrong),
            estimate=test.efficiency,
            estimate_low=accuracy.low,
            estimate_high=accuracy.high,
            null_mean=test.expected,
            p_value=test.pvalue,
            log10_p=test.log10_pvalue,
            p_low=test.pvalue,
            p_high=test.pvalue,
        )
