"""Quantiles of Student's t, beside those of one and two degrees of freedom, which have formulas, and mpmath's."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigstats import intervals
from sigstats.intervals import student_quantile


@given(share=st.floats(1e-9, 0.4))
def test_it_has_all_digits_where_there_is_a_formula(share):
    assert student_quantile(1, share) == pytest.approx(-1 / math.tan(math.pi * share), rel=1e-12)
    two = (2 * share - 1) / math.sqrt(2 * share * (1 - share))
    assert student_quantile(2, share) == pytest.approx(two, rel=1e-12)


@pytest.mark.parametrize("error", [0, 2e-11, -1e-9])
@pytest.mark.parametrize(
    ("freedom", "probability", "expected"),  # by the roots of mpmath's betainc, 30 digits
    [(3, 0.975, 3.182446305283709593), (9, 0.995, 3.249835541592125627), (9.5, 0.025, -2.244137461492296491)],
)
def test_it_has_all_digits_whatever_scipy_has(monkeypatch, error, freedom, probability, expected):
    of_scipy = intervals.special.stdtrit
    monkeypatch.setattr(intervals.special, "stdtrit", lambda *of: of_scipy(*of) * (1 + error))
    assert student_quantile(freedom, probability) == pytest.approx(expected, rel=1e-14)
