"""A comparison, or one model against a bar, as an assertion for tests.

When not to use: if a person reads the result, since an assertion shows only its message. If a baseline was tested on
the same rows, `sigstats.assert_no_regression` detects more than `sigstats.assert_at_least`.
"""

from collections.abc import Sequence
from typing import Any, Literal, Unpack

from sigstats._common.calls import renamed
from sigstats._common.messages import printable
from sigstats._common.validation import as_choice
from sigstats.comparison.answer import reasons
from sigstats.comparison.check import result as check_result
from sigstats.comparison.check.result import CheckResult
from sigstats.comparison.result import ComparisonResult

from ._arguments import CompareOptions
from .check import CheckOptions, check
from .compare import compare


@renamed("0.3", prediction_a="baseline", prediction_b="candidate")
def assert_no_regression(
    y: Any = None,
    baseline: Any = None,
    candidate: Any = None,
    *,
    fail_on: Literal["fail", "inconclusive"] = "fail",
    **options: Unpack[CompareOptions],
) -> ComparisonResult:
    """Raise AssertionError if a candidate is worse than a baseline; the message gives the reasons.

    Null hypothesis of a result row: that of `sigstats.compare`, the candidate is not worse than the baseline.

    Parameters
    ----------
    y, baseline, candidate
        Two data frames or three arrays, as `sigstats.compare` takes them.
    fail_on : {"fail", "inconclusive"}
        The mildest verdict that raises: with ``"inconclusive"``, a drop that is not excluded raises too.
    **options
        The options of `sigstats.compare`.

    Returns
    -------
    ComparisonResult
        The comparison, if nothing is raised; otherwise ``.result`` of the AssertionError.

    Raises
    ------
    AssertionError
        If the verdict is "fail", or if it is "inconclusive" and `fail_on` is ``"inconclusive"``.
    ValueError
        As `sigstats.compare`.

    Examples
    --------
    >>> import sigstats
    >>> y = [0, 1] * 500
    >>> sigstats.assert_no_regression(y, [0] * 1000, y).verdict
    'pass'
    >>> sigstats.assert_no_regression(y, y, [0] * 1000)
    Traceback (most recent call last):
    AssertionError: FAIL: accuracy on all rows fell by 50.00 points (46.91 to 53.09)
    Keep the baseline.
    """
    __tracebackhide__ = True  # pytest shows the line that calls, not this one
    as_choice(fail_on, "fail_on", ("fail", "inconclusive"))
    result = compare(y, baseline, candidate, **options)
    if result.verdict == "fail" or result.verdict == fail_on:
        raise _refused(result, reasons(result, others=True))
    return result


def assert_at_least(
    y: Any,
    prediction: Any = "prediction",
    *,
    fail_on: Literal["fail", "inconclusive"] = "fail",
    **options: Unpack[CheckOptions],
) -> CheckResult:
    """Raise AssertionError if a model is shown to be below a bar, on all rows or on any slice of them.

    Null hypothesis of a result row: that of `sigstats.check`, the measure reaches the bar.

    Parameters
    ----------
    y, prediction
        A data frame and the column of the predicted class, or two arrays, as `sigstats.check` takes them.
    fail_on : {"fail", "inconclusive"}
        The mildest verdict that raises: with ``"inconclusive"``, a value below the bar that is not excluded raises too.
    **options
        The options of `sigstats.check`: the bar by ``at_least`` or ``at_most``, and others.

    Returns
    -------
    CheckResult
        The result of the check, if nothing is raised; otherwise ``.result`` of the AssertionError.

    Raises
    ------
    AssertionError
        If the verdict is "fail", or if it is "inconclusive" and `fail_on` is ``"inconclusive"``.
    ValueError
        As `sigstats.check`.

    Examples
    --------
    >>> import sigstats
    >>> y = [0, 1] * 500
    >>> sigstats.assert_at_least(y, y, at_least=0.9).verdict
    'pass'
    >>> sigstats.assert_at_least(y, [0] * 1000, at_least=0.9)
    Traceback (most recent call last):
    AssertionError: FAIL: accuracy on all rows is 50.00% (46.85% to 53.15%), below 90%
    Do not accept the model.
    """
    __tracebackhide__ = True
    as_choice(fail_on, "fail_on", ("fail", "inconclusive"))
    result = check(y, prediction, **options)
    if result.verdict == "fail" or result.verdict == fail_on:
        raise _refused(result, check_result.reasons_of(result, others=True))
    return result


def _refused(result: ComparisonResult | CheckResult, others: Sequence[str]) -> AssertionError:
    """Make an error with the reasons as its message, and the result as its attribute."""
    error = AssertionError("\n".join(map(printable, [result.answer.headline, result.answer.advice, *others])))
    vars(error)["result"] = result
    return error
