"""Algorithms on other training sets of this size: the corrected resampled t-test, or the 5x2cv F."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.work import CrossValidated

from ...pages.wording import count_of
from .. import usual_columns as usual
from ..evidence import Evidence
from ..section import Column, Section, Verdict
from . import _verdicts

_F = "5x2cv F"
_METHODS = {
    _F: (
        "The rows were split in two halves five times, and each algorithm was trained on either half and tested on the "
        "other. F is the mean square of the ten differences of accuracy over the mean of their five variances."
    ),
    "corrected t": (
        "Each algorithm was trained and tested on every fold of every repetition of the cross-validation. t is the "
        "mean difference of accuracy over its standard error, which is widened since training sets share rows: the "
        "variance of the differences counts (1 / number of differences + test rows / training rows) times."
    ),
}


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """How many pairs of algorithms differ, then which is better than which on each data set."""
    found = _verdicts.verdict(rows, evidence, by=rows[0].method)
    cells = [cell for cell in evidence.cells_of(rows[0]) if cell.subject["classifier"] == rows[0].a]
    if not cells:
        return found
    repeats, folds = sum(cell.replicates for cell in cells), cells[0].work_of(CrossValidated).cross_validation.folds
    if not isinstance(folds, int):  # they are given, or each has one row
        return found
    how = f"By {count_of(repeats, 'repetition')} of {count_of(folds, 'fold')}"
    return Verdict(f"{how}, {found.headline[0].lower()}{found.headline[1:]}", found.details)


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both algorithms and the mean difference of their accuracies."""
    interval = "95% interval of the mean difference (Nadeau and Bengio)"
    difference = _verdicts.in_points(interval)
    used = difference if any(row.estimate_low is not None for row in rows) else difference[:1]
    return [*usual.subject_columns(rows), usual.ROWS, *used, *usual.closing_columns(rows)]


def method(rows: Sequence[Hypothesis]) -> str:
    """What p is, by the design of the cross-validation."""
    used = " ".join(text for name, text in _METHODS.items() if name in {row.method for row in rows})
    return (
        f"{used} The null hypothesis is that both algorithms are equally accurate when they are trained on other "
        "rows of the same kind, as many as here: what is judged is the algorithm and not, as in McNemar's test, the "
        "predictions of these folds. The test is a heuristic whose level is near the stated one, not for certain "
        "below it."
    )


_SECTION = Section(
    order=42,
    test="corrected-resampled",
    name="Algorithms",
    question="Would the algorithm do better on other training sets of this size?",
    verdict=verdict,
    columns=columns,
    method=method,
    source=(
        "Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003); Bouckaert and Frank, "
        "Evaluating the replicability of significance tests for comparing learning algorithms (2004); Alpaydin, "
        "Combined 5x2cv F test for comparing supervised classification learning algorithms, Neural "
        "Computation 11 (1999)"
    ),
    terms=(
        "The algorithms are trained anew on other folds, again and again. Necessity says, from 0 to 1, how far the "
        "data rule out that they are equally good: 1 − 2p of the p before adjustment."
    ),
)

SECTIONS = (_SECTION,)
