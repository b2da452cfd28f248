"""Are two classifiers equally accurate on the same rows? (McNemar's exact test on the discordant rows).

Where rows come in groups, a group is what is exchanged: the exact sign-flip test of the groups' sums.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats.sign_flips.test import sign_flip_test

from ..results import Results
from ..schema import Hypothesis
from ..table_tests import mcnemar, run_table_test
from ._observed_run import ObservedRun
from ._pairs import pairs

#: The fan-outs whose replicates it reads.
USES = ("crossval",)
TAKES_GROUPS = True


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each pair of classifiers on a data set."""
    measure = "difference of accuracies (b - a)"
    for base, runs in pairs(results, test="mcnemar", method="exact", null=mcnemar.NULL, measure=measure):
        if runs is None:
            yield base
            continue
        a, b = runs
        if a.groups is not None:
            yield base.with_(**_of_groups(a, b, a.groups))
            continue
        counts = {"only_a": int((a.right & ~b.right).sum()), "only_b": int((b.right & ~a.right).sum()), "n": a.n}
        yield base.with_(**run_table_test("mcnemar", counts, "exact"))


def _of_groups(a: ObservedRun, b: ObservedRun, groups: NDArray[np.int64]) -> dict[str, Any]:
    ahead = np.bincount(groups, b.right.astype(int) - a.right).astype(np.int64)
    found = sign_flip_test(ahead, sizes=np.bincount(groups), limit=1)
    return {
        "method": "sign flips of groups",
        "n": a.n,
        "statistic": found.statistic,
        "estimate": found.estimate,
        "estimate_low": found.confidence_interval.low,
        "estimate_high": found.confidence_interval.high,
        "p_value": found.pvalue,
        "log10_p": found.log10_pvalue,
        "note": f"{found.items:,} groups, {found.differing:,} with a difference",
    }
