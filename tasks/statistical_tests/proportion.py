"""Do two classifiers have the same error rate? (the normal test of two proportions, Keller, Mariethoz and Bengio)."""

from sigstats.joint.outcomes import EXCHANGED
from sigstats.proportions import proportion_pvalues

from . import SIDE, OfSets, Option, StatisticalTest

TEST = StatisticalTest(
    label="Proportions",
    question="Do two classifiers have the same error rate?",
    null="a and b have the same error rate",
    words=(
        "The difference of two error rates over its standard error is compared with the normal distribution: from the "
        "disagreements alone, or as if the two were measured on different objects."
    ),
    source=(
        "Keller, Mariethoz and Bengio, Significance tests for bizarre measures in 2-class classification tasks, "
        "equations 4 and 6"
    ),
    order=48,
    sets=OfSets(
        name="proportion",
        title="Test of two errors by Keller, Mariethoz and Bengio.",
        options={"paired": Option(bool, True, "Paired, eq. (6), or independent, eq. (4)"), "alternative": SIDE},
        pvalues=lambda sets, rng, **options: proportion_pvalues(sets[:, EXCHANGED], **options),
    ),
)
