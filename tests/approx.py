"""`pytest.approx` of this suite: relative alone, unless a test says how far from zero it may be.

pytest takes any two numbers within 1e-12 for equal, also where `rel` is given, so that a p-value of 1e-20 equals one of
1e-40. `tests/conftest.py` puts this function in its place, and no test has to remember. A comparison with a difference
or a sum that may be zero but for rounding gives `abs`.
"""

import functools

import pytest

#: pytest's own relative tolerance.
RELATIVE = 1e-6

_PYTEST_APPROX = pytest.approx


@functools.wraps(_PYTEST_APPROX)
def approx(expected, rel=None, **options):
    if options.get("abs") is None:
        rel, options["abs"] = RELATIVE if rel is None else rel, 0
    return _PYTEST_APPROX(expected, rel=rel, **options)
