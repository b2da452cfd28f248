"""Is the accuracy better than that of a random classifier with the same margins? (Nyssen's exact test)."""

from collections.abc import Iterator

from ..results import Results
from ..schema import Hypothesis
from ..table_tests import efficiency, run_table_test
from ._observed_run import observed_run

#: The fan-outs whose replicates it reads.
USES = ("crossval",)


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each observed run."""
    for cell in results.cells("crossval"):
        base = Hypothesis(
            study=results.plan.study,
            cell=cell.name,
            test="efficiency",
            method="exact",
            alternative="greater",
            null=efficiency.NULL,
            dataset=cell.subject["dataset"],
            classifier=cell.subject["classifier"],
            measure="accuracy",
        )
        run = observed_run(results, cell)
        if run is None:
            yield base
        else:
            yield base.with_(**run_table_test("efficiency", {"table": run.table().tolist()}, "exact"))
