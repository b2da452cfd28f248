"""The textbook's rule for chi-square approximations, as a warning in words.

Cochran (1954): no expected count below 1, and at most a fifth of them below 5.
"""

from numpy.typing import ArrayLike

from .validation import as_reals


def expected_counts_warning(expected: ArrayLike) -> str:
    """What is wrong with a chi-square approximation at these expected counts; empty where nothing is.

    >>> expected_counts_warning([12.0, 7.5, 5.0, 9.1, 4.9])
    ''
    >>> expected_counts_warning([0.8, 7.5])
    'warning: the chi-square approximation is unsafe: the smallest expected count is 0.8, and 1 of 2 are below 5'
    """
    counts = as_reals(expected, "expected")
    low = int((counts < 5).sum())
    if counts.min() >= 1 and 5 * low <= counts.size:
        return ""
    return (
        f"warning: the chi-square approximation is unsafe: the smallest expected count is {counts.min():.3g}, "
        f"and {low} of {counts.size} are below 5"
    )
