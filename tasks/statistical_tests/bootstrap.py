"""Do two classifiers differ in macro-averaged F1? (bootstrap percentile test, Keller, Mariethoz and Bengio)."""

from collections.abc import Sequence
from typing import Any

from sigstats.bootstrap.bootstrap_test import bootstrap_test
from sigstats.joint.events import JointEvents

from ..record import digest
from . import KELLER, ObservedRun, OfRuns, StatisticalTest, estimated

_RESAMPLES = 10_000


def _of_runs(runs: Sequence[ObservedRun], cell: str) -> dict[str, Any]:
    a, b = runs
    test = bootstrap_test(
        JointEvents.from_predictions(a.label, a.prediction, b.prediction),
        measure="macro-f1",
        n_resamples=_RESAMPLES,
        rng=int(digest("bootstrap", pair=cell, resamples=_RESAMPLES)[:12], 16),
    )
    return {
        "n": a.n,
        "statistic": test.estimate,
        **estimated(test.estimate, test.confidence_interval),
        "replicates": test.n_resamples,
        "exceedances": test.exceedances,
        "p_value": test.pvalue,
        "note": test.reason,
    }


TEST = StatisticalTest(
    label="Bootstrap",
    question="Which of two classifiers has the better F1?",
    null="a and b have the same macro-averaged F1",
    words=(
        "The rows are drawn again with replacement, 10,000 times, as counts of what happens jointly to label and both "
        "predictions; p is the smallest level at which the percentile interval of the difference of macro-averaged F1 "
        "leaves 0 out. The null hypothesis is that both have the same F1. It is approximate: too small where few rows "
        "tell the two apart."
    ),
    source=f"{KELLER}; Efron and Tibshirani, An introduction to the bootstrap (1993)",
    by="bootstrap",
    terms=(
        "Rows are drawn again at random, and F1 is found anew. Necessity says, from 0 to 1, how far the data rule out "
        "that the two are equally good: 1 − 2p of the p before adjustment."
    ),
    order=45,
    runs=OfRuns(compared="two", compute=_of_runs, method="percentile", measure="difference of macro-F1 (a - b)"),
)
