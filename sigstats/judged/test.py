"""Two models that a judge calls right or wrong, and people a few times: what people would say of all rows.

A judge (a language model, a matching rule) that errs more often for one of two models makes equal models differ, with
any number of rows. The rows that people labelled, too, say how often it errs for each.

When not to use: people labelled all rows (`sigstats.mcnemar_test`); rows were chosen for their labels by anything but
chance and the two verdicts of the judge, such as those that looked wrong; rows depend on each other within groups.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.data_frames import is_missing, require_same_index
from .._common.random_streams import RNG, as_generator
from .._common.validation import (
    ALTERNATIVES,
    Alternative,
    FloatArray,
    IntArray,
    as_array,
    as_choice,
    as_count,
    as_indicators,
    as_real,
    refuse,
)
from ..intervals import Interval, clopper_pearson
from ..sign_flips.test import sign_flip_test
from ..test_result import TestResult
from .law import estimate_of, labels_wanted, law_of

#: The judge's errors are told to differ at this p-value.
_DIFFERENT = 0.05


class JudgeAgreement(NamedTuple):
    """The agreement of the judge with people, about one model.

    Attributes
    ----------
    both_right, judge_alone_right, people_alone_right, both_wrong : int
        The number of labelled rows by what both say of the model's answer.
    """

    both_right: int
    judge_alone_right: int
    people_alone_right: int
    both_wrong: int

    def agreement(self, confidence_level: float = 0.95) -> Interval:
        """Clopper and Pearson's interval of the share of rows of which both say the same."""
        return clopper_pearson(self.both_right + self.both_wrong, sum(self), confidence_level=confidence_level)

    def sensitivity(self, confidence_level: float = 0.95) -> Interval:
        """That of the share called right by the judge among the answers that people call right."""
        return _share(self.both_right, self.people_alone_right, confidence_level)

    def specificity(self, confidence_level: float = 0.95) -> Interval:
        """That of the share called wrong by the judge among the answers that people call wrong."""
        return _share(self.both_wrong, self.judge_alone_right, confidence_level)


@dataclass(frozen=True, kw_only=True)
class JudgedResult(TestResult):
    """The result of `judged_test`.

    Attributes
    ----------
    statistic : float
        The same as `estimate`.
    pvalue : float
        That of the difference of accuracies, as people would see them, being `margin`.
    estimate : float
        The corrected difference: accuracy of A less that of B. Of a verdict of the judge that no labelled row has, the
        judge's own word is taken.
    confidence_interval : Interval
        Of that difference; one-sided if the alternative is. For a verdict without labels it allows anything.
    judge_estimate : float
        The difference as the judge sees it.
    agreement : tuple of JudgeAgreement
        About A, and about B.
    errors_pvalue : float
        The p-value of the judge erring in favour of A as often as in favour of B (a sign-flip test of the labelled
        rows). If it is small, the judge's own difference is biased; if it is large, it may be so all the same.
    n, n_labels : int
        The number of rows, and of those that people labelled.
    rows, labels : tuple of int
        The same where the judge prefers B, neither and A.
    labels_wanted : tuple of int or None
        The number of labels, again by the judge's preference and with those that are there, at which the interval
        would leave out `margin` if people went on as they began; None if no number of labels would do.
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


def judged_test(
    judge_a: Any,
    judge_b: Any,
    people_a: Any,
    people_b: Any,
    *,
    margin: float = 0.0,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 20_000,
    rng: RNG = 0,
) -> JudgedResult:
    """Test whether A is right as often as B in the eyes of people, of all rows judged and some labelled by people.

    Parameters
    ----------
    judge_a, judge_b : array_like of bool or of 0 and 1, shape (n,)
        Whether the judge calls the answers of A and of B right.
    people_a, people_b : array_like, shape (n,)
        Whether people do; None, NaN or NA where they were not asked. A row counts as labelled if both of its answers
        are.
    margin : float
        The difference of accuracies of the null hypothesis, between -1 and 1. With ``alternative="greater"`` and a
        margin of -0.02, a small p-value says that A is not worse than B by 0.02 or more.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A is ahead by more than `margin`.
    confidence_level : float
        Of the interval, strictly between 0 and 1.
    n_resamples : int
        The number of random weightings of the rows, 999 or more.
    rng : int, SeedSequence, BitGenerator, Generator or None
        Where they come from.

    Returns
    -------
    JudgedResult

    Raises
    ------
    ValueError
        If lengths differ, a value is no verdict, no row has both labels, or an option is out of range.

    Notes
    -----
    The rows are split by the judge's verdict: it prefers B, neither, or A. The difference is the sum over the three
    verdicts of their share among all rows times the mean difference that people see in them (post-stratification). The
    labelled rows may be more frequent with one verdict than with another, if they were drawn by chance within each.

    Rows have the weights of flat Dirichlet laws, those of all rows for the shares and those of labelled rows for the
    means. One more labelled row, the worst possible, is put in with the verdict with which it does most harm; a verdict
    without labels counts as the worst possible altogether. The interval's ends are points of the law of the weighted
    difference. With one verdict it is the interval of an unseen row, and its p-value McNemar's exact one
    (``sigstats.unseen_row``). That it holds with three is not proved. In simulations of 30 to 1,000 labels a 95%
    interval covered in 95.0% or more. That of prediction-powered inference (PPI++) fell to 92%; with 30 labels it was a
    third to two thirds as wide (benchmarks/judges.md).

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient prediction-powered inference, arXiv 2311.01453. Rogan and
    Gladen (1978), Estimating prevalence from the results of a screening test, American Journal of Epidemiology 107,
    71-76. Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
    variable, Mathematical Methods of Statistics 14, 451-467.

    Examples
    --------
    Two equal models. The judge lets 20 more wrong answers of B pass among 200 rows; people labelled 60 of them:

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
    require_same_index(judge_a=judge_a, judge_b=judge_b, people_a=people_a, people_b=people_b)
    judged = as_indicators(judge_a, "judge_a"), as_indicators(judge_b, "judge_b")
    labels = _labels(people_a, "people_a"), _labels(people_b, "people_b")
    n = len(judged[0])
    names = ("judge_b", "people_a", "people_b")
    for name, each in zip(names, (judged[1], *labels), strict=True):
        if len(each) != n:
            raise refuse(f"{name} (length)", len(each), f"{n}, as judge_a")
    null = as_real(margin, "margin", low=-1, high=1, open_ends=True)
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    size = as_count(n_resamples, "n_resamples", minimum=999, maximum=10**7)
    labelled = ~(np.isnan(labels[0]) | np.isnan(labels[1]))
    if not labelled.any():
        raise refuse("people_a, people_b", 0, "one row or more that has a label of both answers")

    verdict = judged[0].astype(np.int64) - judged[1]
    people = tuple(each[labelled] == 1 for each in labels)
    seen = people[0].astype(np.int64) - people[1]
    rows = np.bincount(verdict + 1, minlength=3)
    table = np.bincount(3 * (verdict[labelled] + 1) + seen + 1, minlength=9).reshape(3, 3)
    share = (1 - level) / (2 if way == "two-sided" else 1)
    generator = as_generator(rng)
    law = law_of(rows, table, size, generator)
    low, high = (law.low(share) if way != "less" else -1.0), (law.high(share) if way != "greater" else 1.0)
    wanted = labels_wanted(rows, table, null, way, share)
    errors = sign_flip_test((verdict[labelled] - seen).astype(np.float64))
    estimate, left_out = estimate_of(rows, table), int(np.count_nonzero(~np.isnan(labels[0]) ^ ~np.isnan(labels[1])))
    return JudgedResult(
        statistic=estimate,
        pvalue=law.pvalue(null, way),
        method="unseen-row",
        alternative=way,
        reason=_reason(errors.pvalue, rows, table, left_out),
        estimate=estimate,
        confidence_interval=Interval(low, high, level),
        judge_estimate=float(verdict.mean()),
        agreement=(_agreement(judged[0][labelled], people[0]), _agreement(judged[1][labelled], people[1])),
        errors_pvalue=errors.pvalue,
        n=n,
        n_labels=int(labelled.sum()),
        rows=_three(rows),
        labels=_three(table.sum(axis=1)),
        labels_wanted=None if wanted is None else _three(wanted),
    )


def _labels(value: Any, name: str) -> FloatArray:
    """Labels of people as 1, 0 and NaN."""
    wanted = "right or wrong as True and False or 1 and 0, None or NaN where there is no label"
    given = as_array(value, name, wanted)
    if given.ndim != 1:
        raise refuse(name, value, f"a sequence of {wanted}")
    found = np.full(len(given), np.nan)
    for number, each in enumerate(given.tolist()):
        if is_missing(each):
            continue
        if isinstance(each, str) or each not in (0, 1):
            raise refuse(f"{name}[{number}]", each, wanted)
        found[number] = float(each)
    return found


def _agreement(judge: NDArray[np.bool_], people: NDArray[np.bool_]) -> JudgeAgreement:
    counts = np.bincount(2 * people.astype(np.int64) + judge, minlength=4)
    wrong, judge_alone, people_alone, right = (int(each) for each in counts)
    return JudgeAgreement(right, judge_alone, people_alone, wrong)


def _share(successes: int, others: int, confidence_level: float) -> Interval:
    if successes + others == 0:
        return Interval(0.0, 1.0, confidence_level)
    return clopper_pearson(successes, successes + others, confidence_level=confidence_level)


def _three(values: IntArray) -> tuple[int, int, int]:
    first, second, third = (int(each) for each in values)
    return first, second, third


def _reason(pvalue: float, rows: IntArray, table: IntArray, left_out: int) -> str:
    """The warnings of a result."""
    said = []
    if pvalue <= _DIFFERENT:
        said.append(f"the judge's errors favour one of the models (p = {pvalue:.2g}): its own difference is biased")
    unlabelled = [
        f"{rows[each]} rows where the judge prefers {('B', 'neither', 'A')[each]}"
        for each in range(3)
        if rows[each] and not table[each].any()
    ]
    if unlabelled:
        said.append(f"no label among {' and '.join(unlabelled)}")
    if left_out:
        said.append(f"{left_out} rows with a label of one answer alone are left out")
    return "; ".join(said)
