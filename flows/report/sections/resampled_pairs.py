"""Which algorithm is better by other measures over repeated cross-validation."""

from dataclasses import replace

from . import measured_pairs

SECTION = replace(
    measured_pairs.SECTION,
    order=44,
    test="resampled-pairs",
    name="Algorithms by measures",
    question="Would the algorithm do better by other measures on other training sets of this size?",
    method=(
        "The differences of each measure on the folds of all repetitions are tested by Nadeau and Bengio's corrected "
        "t. The null hypothesis is that both algorithms have the same value when they are trained on other rows of the "
        "same kind, as many as here. The test is a heuristic whose level is near the stated one. The p-values are "
        "adjusted over all data sets and measures."
    ),
    source="Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003)",
)
