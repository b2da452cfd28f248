"""Are two classifiers equally accurate on the same rows? (McNemar's exact test on the discordant rows)."""

from collections.abc import Iterator
from itertools import combinations

from sigstats.paired import mcnemar_test

from ..plan import Cell
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
                null="a and b are equally likely to be right",
                dataset=dataset,
                a=first.subject["classifier"],
                b=second.subject["classifier"],
                measure="difference of accuracies (b - a)",
            )
            a, b = observed(results, first), observed(results, second)
            if a is None or b is None:
                yield base
                continue
            only_a, only_b = int((a.right & ~b.right).sum()), int((b.right & ~a.right).sum())
            test = mcnemar_test(only_a, only_b)
            yield base.with_(
                n=a.n,
                statistic=float(only_b),
                estimate=(only_b - only_a) / a.n,
                p_value=test.pvalue,
                p_low=test.pvalue,
                p_high=test.pvalue,
                note=f"only a right: {only_a}, only b right: {only_b}",
            )
