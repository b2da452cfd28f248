"""A comparison as an assertion, for tests.

When not to use: where a person is to read what is inconclusive; an assertion says no more than its message.
"""

from typing import Any, Literal, Unpack

from .._common.messages import printable
from .._common.validation import as_choice
from ..comparison.result import ComparisonResult
from ..comparison.sentences import reasons, title_of
from .compare import CompareOptions, compare


def assert_no_regression(
    y: Any,
    prediction_a: Any = None,
    prediction_b: Any = None,
    *,
    fail_on: Literal["fail", "inconclusive"] = "fail",
    **options: Unpack[CompareOptions],
) -> ComparisonResult:
    """Raise AssertionError where a candidate is worse than a baseline; its message has the reasons.

    Parameters
    ----------
    y, prediction_a, prediction_b
        Two data frames, baseline and candidate, or three arrays, as `sigstats.compare` takes them.
    fail_on : {"fail", "inconclusive"}
        The mildest verdict that raises: with ``"inconclusive"``, a drop that is not excluded raises too.
    **options
        The options of `sigstats.compare`.

    Returns
    -------
    ComparisonResult
        The comparison, if nothing is raised.

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
    AssertionError: FAIL: regression
    worse: accuracy on all rows: −50.00 points (−53.09 to −46.91), adjusted p 3.1 × 10⁻¹⁵¹
    """
    __tracebackhide__ = True  # pytest shows the line that calls, not this one
    as_choice(fail_on, "fail_on", ("fail", "inconclusive"))
    found = compare(y, prediction_a, prediction_b, **options)
    if found.verdict == "fail" or found.verdict == fail_on:
        raise AssertionError("\n".join([title_of(found), *map(printable, reasons(found))]))
    return found
