"""Test of equal mean scores per row of two classifiers: a judge's marks of their answers, or losses.

When not to use: fewer than some ten rows, twenty groups or fifty times, whose mean is not yet normal; predictions
without scores have exact tests (`sigstats.mcnemar_test`).
"""

import math
from typing import Any

import numpy as np

from .._common.class_names import as_groups
from .._common.data_frames import require_same_index
from .._common.scores import unlike_units
from .._common.time_order import blocks_in_time, neighbours_alike
from .._common.validation import ALTERNATIVES, Alternative, FloatArray, IntArray, as_choice, as_real, refuse
from .result import (
    FEW,
    FEW_GROUPS,
    ROUNDING,
    Differences,
    Estimate,
    ScoreResult,
    as_marks,
    few_warning,
    group_sums,
    pair_of_scores,
    score_result,
)


def mean_score_test(
    score_a: Any,
    score_b: Any,
    *,
    groups: Any = None,
    order: Any = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> ScoreResult:
    """Test whether two classifiers or forecasts have the same mean score, by Student's t of the row differences.

    Null hypothesis: the expected difference of a row (with `groups`, of the sum over a group) is 0.

    Parameters
    ----------
    score_a, score_b : array_like of float, shape (n,)
        The score of each row: a mark, a loss, a truth value (right or wrong), or any other value to average.
    groups : array_like of int, shape (n,), optional
        The group of each row, where rows of one group are not independent: the standard error is then that of groups.
    order : array_like, shape (n,), optional
        The time of each row, where rows near in time are not independent: numbers, dates (of any library, or ISO 8601
        text), or texts that differ in one number, padded with zeros (01, 02, ..., 10). The test is then one of sums of
        blocks of rows, and its null hypothesis that the differences are a stationary series of mean 0 whose dependence
        lasts for much less than a quarter of the rows. It replaces `groups`.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A has the larger mean, the estimate is positive.
    confidence_level : float
        Of the intervals, strictly between 0 and 1.

    Returns
    -------
    ScoreResult

    Raises
    ------
    ValueError
        If lengths differ, a score is not finite, there are fewer than two rows (or groups), fewer than four
        times, both `groups` and `order`, or an option is out of range.

    Notes
    -----
    Student's test of paired differences is exact for normal differences and approximate for all others: if 20 rows gain
    1 or, with probability 1/50, lose 49, p is below 0.05 in 66% of samples. Use it for many rows or to compare with
    other programs, and `sigstats.compare`, which has a bound, to decide. If the differences are equal except for
    rounding, there is no p-value; see `ScoreResult`. With groups the variance is that of sums over groups (Liang and
    Zeger's times G / (G - 1)), and t has G - 1 degrees of freedom. Miller (Adding error bars to evals, 2024, sections 2
    and 4) recommends both for evaluations of language models.

    With `order` it is the test of Diebold and Mariano in the form of Ibragimov and Mueller: Student's t of sums of 4 to
    16 blocks of consecutive rows, longer ones for stronger autocorrelation. At the two-sided level of 5% equal
    forecasts with normal differences of autocorrelation 0, 0.5 and 0.8 differed in 4.6, 5.8 and 9.1% of samples of 50
    rows, in 4.5, 4.4 and 6.0% of 200, and in 4.8, 5.4 and 5.8% of 1,000; with 0.8, the form of Harvey, Leybourne and
    Newbold (1997) gives 20, 11 and 7%. If a tenth of the variance has an autocorrelation of 0.98 and the rest none,
    they differed in 28% of 200 rows and 8% of 1,000, half of the former with a warning and nearly all of the latter.

    References
    ----------
    Liang and Zeger, Biometrika 73 (1986). Diebold and Mariano, J. Bus. Econ. Stat. 13 (1995). Ibragimov and Mueller, J.
    Bus. Econ. Stat. 28 (2010).

    Examples
    --------
    >>> import sigstats
    >>> result = sigstats.mean_score_test([0.5, 0.7, 0.9, 0.4], [0.6, 0.7, 1.0, 0.6])
    >>> round(result.estimate, 3), round(result.pvalue, 4)
    (-0.1, 0.0917)
    >>> import numpy as np
    >>> hour = np.arange(200)
    >>> better = 0.3 + np.sin(hour)
    >>> sigstats.mean_score_test(better, np.zeros(200), order=hour).method
    't of blocks in time'
    """
    require_same_index(score_a=score_a, score_b=score_b, groups=groups, order=order)
    scores = pair_of_scores(as_marks(score_a, "score_a"), as_marks(score_b, "score_b"), None, "score_a")
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    rows = len(scores[0])
    if rows < 2:
        raise refuse("score_a", f"{rows} row(s)", "two rows or more")
    # In units of a power of two no square overflows or vanishes, and the change of units rounds nothing.
    largest = max(float(np.abs(one).max()) for one in scores)
    exponent = math.frexp(largest)[1]
    a, b = (np.ldexp(one, -exponent) for one in scores)
    series = (a, b, a - b)
    codes, units, what, reason = _units(series[2], groups, order)
    means = [float(one.mean()) for one in series]
    influences = [(one - mean) / rows for one, mean in zip(series, means, strict=True)]
    if codes is not None:
        influences = [group_sums(influence, codes) for influence in influences]
    rounding = ROUNDING * math.ldexp(largest, -exponent)
    constant = bool(np.abs(influences[2]).max() * units <= rounding)
    if codes is None and not constant and (alike := neighbours_alike(series[2], np.zeros(rows, np.int64))) is not None:
        note = f"neighbouring rows correlate (autocorrelation {alike:.2f}): if they are in time, use order"
        reason = "; ".join(filter(None, [reason, note]))
    doubts = unlike_units(scores, ("score_a", "score_b"), costs=True)
    return score_result(
        [
            Estimate(mean, float(influence @ influence) * units / (units - 1), units - 1)
            for mean, influence in zip(means, influences, strict=True)
        ],
        difference=Differences(constant, rounding, units, what),
        alternative=way,
        confidence_level=level,
        method={"rows": "Student's t", "groups": "t of groups", "blocks": "t of blocks in time"}[what],
        reason="; ".join(filter(None, [reason, *doubts])),
        exponent=exponent,
    )


def _units(difference: FloatArray, groups: Any, order: Any) -> tuple[IntArray | None, int, str, str]:
    """Return each row's unit of independent rows (None: itself), their number, what they are, and a warning."""
    rows = len(difference)
    codes, count = (None, rows) if groups is None else as_groups(groups, "groups", rows)
    if order is None:
        what = "rows" if codes is None else "groups"
        return codes, count, what, few_warning(count, what, FEW if codes is None else FEW_GROUPS)
    if codes is not None:
        raise ValueError("order: cannot be combined with groups; leave one of them out")
    blocks, warning = blocks_in_time(difference, order)
    return blocks, int(blocks.max()) + 1, "blocks", warning
