"""Are two classifiers equally accurate on the same rows? (McNemar's exact test on the discordant rows)."""

from collections.abc import Iterator
from itertools import combinations

from ..plan import Cell
from ..questions import answer, mcnemar
from ..results import Results
from ..schema import Hypothesis
from ._observed import observed


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each pair of classifiers on a data set."""
    by_dataset: dict[str, list[Cell]] = {}
    for cell in results.cells("crossval"):
        by_dataset.setdefault(cell.subject["dataset"], []).append(cell)
    for dataset, cells in by_dataset.items():
        for first, second in combinations(cells, 2):
            base = Hypothesis(
                study=results.plan.study,
                cell=f"{first.name} {second.name}",
                test="mcnemar",
                method="exact",
                alternative="two-sided",
                null=mcnemar.NULL,
                dataset=dataset,
                a=first.subject["classifier"],
                b=second.subject["classifier"],
                measure="difference of accuracies (b - a)",
            )
            a, b = observed(results, first), observed(results, second)
            if a is None or b is None:
                yield base
                continue
            counts = {
                "only_a": int((a.right & ~b.right).sum()),
                "only_b": int((b.right & ~a.right).sum()),
                "n": a.n,
            }
            yield base.with_(**answer("mcnemar", counts, "exact"))
