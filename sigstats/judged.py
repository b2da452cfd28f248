"""Compare two models by a judge that rates all rows, and people who label some of them.

If a judge (a language model, a matching rule) errs more often for one of two equal models, they seem to differ, however
many rows there are. Labels of people on some rows show how often it errs for each model.

When not to use: people labelled all rows (`sigstats.mcnemar_test`); the labelled rows were chosen by anything but
chance and the two verdicts of the judge, for example because they looked wrong; rows depend on each other, and no
groups are given.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._common.class_names import as_groups
from ._common.data_frames import is_missing, require_same_index
from ._common.numerals import p_number
from ._common.random_streams import RNG, as_generator
from ._common.validation import (
    ALTERNATIVES,
    Alternative,
    FloatArray,
    IntArray,
    Limits,
    as_array,
    as_choice,
    as_count,
    as_indicators,
    as_real,
    as_reals,
    refuse,
)
from .comparison.paired_predictions import as_score_range
from .intervals import Interval
from .sign_flips.sign_flip_test import sign_flip_test
from .test_result import TestResult
from .unseen_row.judge_agreement import DIFFERENT, agreement_of, notes_on_one_value, same_labels
from .unseen_row.judge_agreement import JudgeAgreement as JudgeAgreement
from .unseen_row.judged import rows_of_two


@dataclass(frozen=True, kw_only=True)
class JudgedResult(TestResult):
    """The result of `judged_test`.

    Attributes
    ----------
    statistic : float
        The same as `estimate`.
    pvalue : float
        p-value of "the difference of accuracies, as judged by people, is `margin`".
    estimate : float
        Corrected difference: accuracy (or mean mark) of A minus that of B. For verdicts without labelled rows, the
        judge's value is used.
    confidence_interval : Interval
        Interval of `estimate`, one-sided if the alternative is. It allows any result for verdicts without labels.
    judge_estimate : float
        The difference according to the judge.
    agreement : tuple of JudgeAgreement
        Agreement of the judge with people about A, and about B.
    errors_pvalue : float
        p-value of "the judge errs as often in favour of A as of B" (a sign-flip test of the labelled rows). If it is
        small, the judge's difference is biased; if it is large, it may still be.
    n, n_labels : int
        Numbers of rows and of labelled rows.
    rows, labels : tuple of int
        The same for rows where the judge prefers B, neither and A.
    labels_wanted : tuple of int or None
        Total numbers of labels, by preference of the judge, with which the interval would exclude `margin` if further
        labels were like those so far; None if no number is enough.
    n_groups : int or None
        Number of groups, if there are any.
    guarantee : str
        ``"exact"`` if all rows have the same verdict of the judge, without marks and groups; otherwise ``"simulated"``:
        the level holds in simulations, without proof (see Notes).
    """

    _question = "Judged test: would people find A and B equally accurate?"
    _null = "they would"

    estimate: float
    confidence_interval: Interval
    judge_estimate: float
    agreement: tuple[JudgeAgreement, JudgeAgreement]
    errors_pvalue: float
    n: int
    n_labels: int
    rows: tuple[int, int, int]
    labels: tuple[int, int, int]
    labels_wanted: tuple[int, int, int] | None
    n_groups: int | None
    guarantee: str


def judged_test(
    judge_a: Any,
    judge_b: Any,
    people_a: Any,
    people_b: Any,
    *,
    groups: Any = None,
    score_range: Any = None,
    margin: float = 0.0,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 20_000,
    rng: RNG = 0,
) -> JudgedResult:
    """Test whether people find A as often right as B, from a judge of all rows and labels of people on some.

    Null hypothesis: in the population of the independent rows (or groups), people find a mean difference of `margin`.

    Parameters
    ----------
    judge_a, judge_b : array_like of bool or of 0 and 1, shape (n,)
        Whether the judge calls the answers of A and of B right; marks if `score_range` is given.
    people_a, people_b : array_like, shape (n,)
        Whether people call them right, or their marks; None, NaN or NA without a label. A row counts as labelled if
        both answers are. Labelled rows must be a random sample of the rows with the same verdict of the judge.
    groups : array_like of int, shape (n,), optional
        Item that each row answers, or its document, if rows of one are dependent.
    score_range : pair of float, optional
        Lowest and highest possible mark of people; values are then marks instead of right and wrong.
    margin : float
        Difference of accuracies (mean marks) under the null hypothesis. With ``alternative="greater"`` and a margin of
        -0.02, a small p-value shows that A is not worse than B by 0.02 or more.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A is ahead by more than `margin`.
    confidence_level : float
        Confidence of the interval, strictly between 0 and 1.
    n_resamples : int
        Number of random weightings of the rows, at least 999.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Source of the weightings.

    Returns
    -------
    JudgedResult

    Raises
    ------
    ValueError
        If lengths differ, a value is not a verdict, no row has both labels, the judge passes wrong answers more often
        than right ones, all labels are 1 (or 0) and the judge's verdicts on other rows differ, or an option is out of
        range.

    Notes
    -----
    The rows are split by the judge's verdict: it prefers B, neither, or A. The difference is the sum over the three
    verdicts of their share of all rows times the mean difference according to people (post-stratification). The share
    of labelled rows may depend on the verdict. With marks, the verdict is the answer that the judge marks higher, so
    its marks need not be on the scale of people.

    Rows get random weights from flat Dirichlet distributions: all rows for the shares, labelled rows for the means. One
    more labelled row, the worst possible, is divided among the verdicts where it does most harm, and a verdict without
    labels counts as the worst possible. The ends of the interval are quantiles of the weighted difference. With one
    verdict, the interval is that of an unseen row, and the p-value is that of McNemar's exact test
    (``sigstats.unseen_row``). With three, the level is not proved, but no tested distribution violates it: judges that
    guess or are always right, rare verdicts, one or two labels in a verdict, 3 to 1,000 labels, rare disasters, groups
    (``sigstats run judges``). Each group has one weight for shares and means; one more group as large as the largest is
    added, and larger groups are assumed not to exist.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient prediction-powered inference, arXiv 2311.01453. Rogan and
    Gladen (1978), Estimating prevalence from the results of a screening test, American Journal of Epidemiology 107,
    71-76. Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
    variable, Mathematical Methods of Statistics 14, 451-467.

    Examples
    --------
    Two equal models on 200 rows. The judge accepts 20 more wrong answers of B; people labelled 60 rows:

    >>> import numpy as np
    >>> import sigstats
    >>> people = np.repeat([1.0, 0.0], [140, 60])
    >>> judge_a = people == 1
    >>> judge_b = judge_a | (np.arange(200) >= 180)
    >>> labels = np.where(np.arange(200) % 10 < 3, people, np.nan)
    >>> result = sigstats.judged_test(judge_a, judge_b, labels, labels)
    >>> result.judge_estimate, result.estimate
    (-0.1, 0.0)
    >>> result.n_labels, [round(float(end), 2) for end in result.confidence_interval]
    (60, [-0.06, 0.06])
    >>> sigstats.mcnemar_test(0, 20).pvalue < 1e-5, result.pvalue  # of the judge's verdicts, and of people's
    (True, 1.0)
    """
    require_same_index(judge_a=judge_a, judge_b=judge_b, people_a=people_a, people_b=people_b, groups=groups)
    limits = as_score_range(score_range) or (0.0, 1.0)
    marked = None if score_range is None else limits
    judged, labels = _verdicts_and_labels((judge_a, judge_b), (people_a, people_b), marked)
    n, span = len(judged[0]), limits[1] - limits[0]
    units = None if groups is None else as_groups(groups, "groups", n)[0]
    null = as_real(margin, "margin", low=-span, high=span, open_ends=True)
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    size = as_count(n_resamples, "n_resamples", minimum=999, maximum=10**7)
    labelled = ~(np.isnan(labels[0]) | np.isnan(labels[1]))
    if not labelled.any():
        raise refuse("people_a, people_b", 0, "one row or more that has a label of both answers")

    data = rows_of_two(judged, labels, span, units)
    tail = (1 - level) / (2 if way == "two-sided" else 1)
    law = data.law(size, as_generator(rng))
    low = -span if way == "less" else law.low(tail)
    high = span if way == "greater" else law.high(tail)
    wanted = data.labels_wanted(null, way, tail)
    errors = (judged[0] - judged[1] - (labels[0] - labels[1]))[labelled]
    errors_pvalue = _pvalue_of_errors(errors, None if units is None else units[labelled])
    left_out = int(np.count_nonzero(~np.isnan(labels[0]) ^ ~np.isnan(labels[1])))
    middle = sum(limits) / 2
    agreement_a, agreement_b = (
        agreement_of(judge[labelled] > middle, people[labelled] > middle, labels=name)
        for judge, people, name in zip(judged, labels, ("people_a", "people_b"), strict=True)
    )
    right = [judge > middle for judge in judged]
    notes = notes_on_one_value(right, labels, limits, units, ("people_a", "people_b"))
    return JudgedResult(
        statistic=data.estimate,
        pvalue=law.pvalue(null, way),
        method="unseen-row",
        alternative=way,
        reason="; ".join(
            [*_reasons(errors_pvalue, data.rows, data.table, left_out), *same_labels(judged, labels, "A and B"), *notes]
        ),
        estimate=data.estimate,
        confidence_interval=Interval(low, high, level),
        judge_estimate=float((judged[0] - judged[1]).mean()),
        agreement=(agreement_a, agreement_b),
        errors_pvalue=errors_pvalue,
        n=n,
        n_labels=int(labelled.sum()),
        rows=_three(data.rows),
        labels=_three(data.labels),
        labels_wanted=None if wanted is None else _three(wanted),
        n_groups=None if units is None else len(np.unique(units)),
        guarantee="exact" if np.count_nonzero(data.rows) == 1 and units is None and marked is None else "simulated",
    )


def _verdicts_and_labels(
    judge: tuple[Any, Any], people: tuple[Any, Any], limits: Limits
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the judge's verdicts as 1 and 0, or its marks, and the labels of people, all of one length."""
    judged = [_verdicts(value, f"judge_{model}", limits) for model, value in zip("ab", judge, strict=True)]
    labels = [_labels(value, f"people_{model}", limits) for model, value in zip("ab", people, strict=True)]
    n = len(judged[0])
    for name, array in zip(("judge_b", "people_a", "people_b"), (judged[1], *labels), strict=True):
        if len(array) != n:
            raise refuse(name, len(array), f"{n}, as judge_a", quantity="length")
    return judged, labels


def _verdicts(value: Any, name: str, limits: Limits) -> FloatArray:
    return as_indicators(value, name).astype(np.float64) if limits is None else as_reals(value, name, ndim=1)


def _labels(value: Any, name: str, limits: Limits) -> FloatArray:
    """Return the labels of people as 1, 0 and NaN, or marks within limits, or raise ValueError."""
    wanted = "right or wrong as True and False or 1 and 0, None or NaN where there is no label"
    if limits is not None:
        wanted = f"marks from {limits[0]:g} to {limits[1]:g}, None or NaN where there is none"
    array = as_array(value, name, wanted)
    if array.ndim != 1:
        raise refuse(name, value, f"a sequence of {wanted}")
    values = np.full(len(array), np.nan)
    for number, item in enumerate(array.tolist()):
        if is_missing(item):
            continue
        valid = not isinstance(item, (str, complex))
        if valid:
            valid = item in (0, 1) if limits is None else limits[0] <= item <= limits[1]
        if not valid:
            raise refuse(f"{name}[{number}]", item, wanted)
        values[number] = float(item)
    return values


def _pvalue_of_errors(errors: FloatArray, units: IntArray | None) -> float:
    """Return the p-value of errors of the judge that favour neither model, from sums of groups if there are any."""
    if units is not None:
        errors = np.asarray(np.bincount(np.unique(units, return_inverse=True)[1], errors), dtype=np.float64)
    return sign_flip_test(errors).pvalue


def _three(values: IntArray) -> tuple[int, int, int]:
    """Return the values for rows where the judge prefers B, neither and A."""
    first, second, third = (int(value) for value in values)
    return first, second, third


def _reasons(errors_pvalue: float, rows: IntArray, table: IntArray, left_out: int) -> list[str]:
    reasons = []
    if errors_pvalue <= DIFFERENT:
        p = p_number(errors_pvalue)
        reasons.append(f"the judge's errors favour one of the models (p {p}), so its difference is biased")
    unlabelled = [
        f"{rows[i]} rows where the judge prefers {('B', 'neither', 'A')[i]}"
        for i in range(3)
        if rows[i] and not table[i].any()
    ]
    if unlabelled:
        reasons.append(f"no label among {' and '.join(unlabelled)}")
    if left_out:
        reasons.append(f"{left_out} rows with a label of only one answer are left out")
    return reasons
