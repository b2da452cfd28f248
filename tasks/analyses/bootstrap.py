"""Do two classifiers differ in macro-averaged F1? (bootstrap percentile test, Keller, Mariethoz and Bengio)."""

from collections.abc import Iterator

from sigstats.bootstrap.test import bootstrap_test
from sigstats.joint.events import JointEvents

from ..fingerprint import digest
from ..results import Results
from ..schema import Hypothesis
from ._pairs import pairs

_RESAMPLES = 10_000

#: The fan-outs whose replicates it reads.
USES = ("crossval",)


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each pair of classifiers on a data set."""
    null = "a and b have the same macro-averaged F1"
    for base, runs in pairs(
        results, test="bootstrap", method="percentile", null=null, measure="difference of macro-F1 (b - a)"
    ):
        if runs is None:
            yield base
            continue
        a, b = runs
        seed = int(digest("bootstrap", pair=base.cell, resamples=_RESAMPLES)[:12], 16)
        test = bootstrap_test(
            JointEvents.from_predictions(a.label, a.prediction, b.prediction),
            measure="macro-f1",
            n_resamples=_RESAMPLES,
            rng=seed,
        )
        yield base.with_(
            n=a.n,
            statistic=test.estimate,
            estimate=test.estimate,
            estimate_low=test.confidence_interval.low,
            estimate_high=test.confidence_interval.high,
            replicates=test.replicates,
            exceedances=test.exceedances,
            p_value=test.pvalue,
            note=test.reason,
        )
