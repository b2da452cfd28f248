"""Cochran's Q: are all classifiers equally accurate on a data set? (McNemar's test for several classifiers)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import ObservedRun, OfRuns, StatisticalTest

#: With fewer answers on rows that distinguish classifiers, the chi-square approximation is rough (Tate and Brown 1970).
_ENOUGH = 24


def _of_runs(runs: Sequence[ObservedRun], cell: str) -> dict[str, Any]:  # noqa: ARG001
    from scipy.stats import chi2  # slow to import

    right = np.column_stack([run.right for run in runs]).astype(np.int64)
    k, of_row = len(runs), right.sum(axis=1)
    telling = int(np.count_nonzero((of_row > 0) & (of_row < k)))
    columns = right.sum(axis=0)
    spread = int((k - 1) * (k * (columns**2).sum() - columns.sum() ** 2))
    q = spread / int((of_row * (k - of_row)).sum()) if telling else 0.0
    p = float(chi2.sf(q, k - 1)) if telling else 1.0
    rough = "" if telling * k >= _ENOUGH else ", few for chi-square"
    sentence = f"{telling:,} rows that some, not all, got right{rough}"
    return {"n": len(right), "statistic": q, "p_value": p, "p_low": p, "p_high": p, "note": sentence}


TEST = StatisticalTest(
    label="Cochran's Q",
    question="Do any of the classifiers differ in accuracy?",
    null="all classifiers are equally likely to be right",
    words=(
        "Only rows that some but not all classifiers got right distinguish them. Q compares the numbers of right "
        "answers on these rows, and p is the chi-square approximation with one degree of freedom fewer than "
        "classifiers. The null hypothesis is that all are equally likely to be right. It is about these predictions; "
        "the choice of training rows is not accounted for. McNemar's tests of pairs show which classifiers differ."
    ),
    source="Cochran, The comparison of percentages in matched samples, Biometrika 37 (1950)",
    claim="some of the classifiers differ",
    order=39,
    runs=OfRuns(compared="all", compute=_of_runs, method="chi2"),
)
