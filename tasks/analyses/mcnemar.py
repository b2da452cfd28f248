"""Are two classifiers equally accurate on the same rows? (McNemar's exact test on the discordant rows)."""

from collections.abc import Iterator

from ..results import Results
from ..schema import Hypothesis
from ..table_tests import mcnemar, run_table_test
from ._pairs import pairs

#: The fan-outs whose replicates it reads.
USES = ("crossval",)


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each pair of classifiers on a data set."""
    measure = "difference of accuracies (b - a)"
    for base, runs in pairs(results, test="mcnemar", method="exact", null=mcnemar.NULL, measure=measure):
        if runs is None:
            yield base
            continue
        a, b = runs
        counts = {"only_a": int((a.right & ~b.right).sum()), "only_b": int((b.right & ~a.right).sum()), "n": a.n}
        yield base.with_(**run_table_test("mcnemar", counts, "exact"))
