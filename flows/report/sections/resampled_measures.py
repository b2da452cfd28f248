"""How good each algorithm is by other measures over repeated cross-validation."""

from dataclasses import replace

from . import measures

SECTION = replace(
    measures.SECTION,
    order=43,
    test="resampled-measures",
    name="Measures, repeated",
    question="How good is each algorithm by other measures over all repetitions?",
    columns=lambda rows: [
        replace(column, meaning="mean over the folds of all repetitions") if column.header == "Value" else column
        for column in measures.columns(rows)
    ],
    method=(
        "Each measure is computed on every fold of every repetition of the cross-validation and averaged. The interval "
        "is that of Nadeau and Bengio's corrected t, which allows for training sets that overlap: of the mean over "
        "other training sets of this size. It is a heuristic whose coverage is near 95%."
    ),
    source="Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003)",
)
