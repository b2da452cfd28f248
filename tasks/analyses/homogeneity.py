"""Are two classifiers right equally often in every class? (Hryniewicz, section 2: two independent samples).

Each run becomes a row of counts: right predictions of each class, and all wrong ones together (Hryniewicz, eq. 1). The
test assumes that the runs are samples of different rows. Here they are of the same rows, by predictions pooled from
folds, and its level may be missed on either side (the ready study cross-validation). Theirs is McNemar's test.
"""

import contextlib
from collections.abc import Iterator

import numpy as np

from ..results import Results
from ..schema import Hypothesis
from ..table_tests import homogeneity, run_table_test
from ._observed_run import ObservedRun
from ._pairs import pairs

#: Beyond this number of predictions chi-square is used if expected counts allow it: bounds may take minutes there.
_FEW = 2_000
_SHARED = "the runs share their rows, which the test takes for independent samples"

#: The fan-outs whose replicates it reads.
USES = ("crossval",)


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each pair of classifiers on a data set."""
    for base, runs in pairs(results, test="homogeneity", method="bounds", null=homogeneity.NULL):
        if runs is None:
            yield base
            continue
        k = 1 + max(int(run.label.max()) for run in runs)
        counts = dict(zip(("counts_a", "counts_b"), (_counts(run, k) for run in runs), strict=True))
        found = run_table_test("homogeneity", counts, "chi2")
        if found["note"] or found["n"] <= _FEW:
            with contextlib.suppress(ValueError):  # too large for bounds: chi-square stays, with its warning
                found = run_table_test("homogeneity", counts, "bounds")
        yield base.with_(**{**found, "note": f"{_SHARED}; {found['note']}".removesuffix("; ")})


def _counts(run: ObservedRun, k: int) -> list[int]:
    return [*np.bincount(run.label[run.right], minlength=k).tolist(), run.wrong]
