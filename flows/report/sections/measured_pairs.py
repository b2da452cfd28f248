"""Which of two classifiers is better by the measures that the study names."""

from collections.abc import Sequence
from dataclasses import replace

from sigstats.tasks.schema import Hypothesis

from .. import usual_columns as usual
from ..evidence import Evidence, group_by
from ..section import Column, Section, Verdict
from . import _pairs


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """By each measure how many pairs differ, then who is better than whom on each data set."""
    found = [
        (measure.removeprefix("difference of ").removesuffix(" (b - a)"), group)
        for measure, group in group_by(rows, lambda row: row.measure or "").items()
    ]
    verdicts = [(name, _pairs.verdict(group, evidence, by=name)) for name, group in found]
    details = [f"{name}: {sentence}" for name, one in verdicts for sentence in one.details]
    return Verdict(verdicts[0][1].headline, (*(one.headline for _, one in verdicts[1:]), *details))


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both classifiers and the difference of their measures."""
    interval = usual.interval("95% interval of the difference")
    difference = usual.estimate("B − A", "measure of B minus measure of A")
    return [
        usual.MEASURE,
        *usual.subject_columns(rows),
        usual.ROWS,
        difference,
        interval,
        *usual.closing_columns(rows),
    ]


_OF_ALL_ROWS = Section(
    order=46,
    test="measured-pairs",
    name="Pairs by measures",
    question="Which of two classifiers is better by other measures?",
    verdict=verdict,
    columns=columns,
    method=(
        "Each measure has the test that belongs to it: accuracies McNemar's exact test, areas under the ROC curve "
        "DeLong's test, means of losses Student's t of the differences row by row, all others the bootstrap percentile "
        "test of joint outcomes, 10,000 times; where rows come in groups, their tests of groups. The null hypothesis "
        "is that both have the same value. The p-values are adjusted over all data sets and measures of one method."
    ),
    source=(
        "DeLong, DeLong and Clarke-Pearson, Comparing the areas under two or more correlated receiver operating "
        "characteristic curves, Biometrics 44 (1988); Keller, Mariethoz and Bengio, Significance tests for bizarre "
        "measures in 2-class classification tasks"
    ),
)

_REPEATED = replace(
    _OF_ALL_ROWS,
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

SECTIONS = (_OF_ALL_ROWS, _REPEATED)
