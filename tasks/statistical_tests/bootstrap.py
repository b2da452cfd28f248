"""The bootstrap percentile test of equal macro-averaged F1 (Keller, Mariethoz and Bengio)."""

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
        "The rows are drawn with replacement, 10,000 times, as counts of the joint events of label and both "
        "predictions; p is the smallest level at which the percentile interval of the difference of macro-averaged "
        "F1 excludes 0. The null hypothesis is that both have the same F1. p is approximate: too small if few rows "
        "distinguish the two."
    ),
    source=f"{KELLER}; Efron and Tibshirani, An introduction to the bootstrap (1993)",
    by="bootstrap",
    terms=(
        "Rows are resampled at random, and F1 is computed again. Necessity, from 0 to 1, states how strongly the "
        "data rule out that the two are equally good: 1 − 2p, with p before adjustment."
    ),
    order=45,
    runs=OfRuns(compared="two", compute=_of_runs, method="percentile", measure="difference of macro-F1 (a - b)"),
)
