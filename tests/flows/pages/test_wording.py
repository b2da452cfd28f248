"""Numbers in words."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats._common.numerals import number, p_equation, p_number, p_order


@settings(deadline=None, derandomize=True)
@given(st.floats(-4000, -0.001))
def test_a_p_value_is_shown_within_its_rounding(log10_p: float) -> None:
    shown = p_number(10.0**log10_p, log10_p).replace("\xa0", "")
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    mantissa, _, power = shown.removeprefix(">").partition("×10")
    read = math.log10(float(mantissa)) + (int(power.translate(digits)) if power else 0)
    assert abs(read - log10_p) <= math.log10(1.05) + 1e-6


def test_a_p_value_below_every_float_is_not_shown_as_zero() -> None:
    for p in (0.0, 5e-324, 1e-310, math.nextafter(1e-300, 0)):
        assert [text(p).replace("\xa0", " ") for text in (p_number, p_order)] == ["< 10⁻³⁰⁰"] * 2
    assert p_number(1e-300).replace("\xa0", " ") == "1 × 10⁻³⁰⁰"
    assert p_number(5e-324, -323.3).replace("\xa0", " ") == "5 × 10⁻³²⁴"
    assert p_equation(0.0, at_most=True, name="Holm-adjusted p").replace("\xa0", " ") == "Holm-adjusted p < 10⁻³⁰⁰"


def test_numbers_are_read_at_a_glance() -> None:
    assert [number(value, 1) for value in (1234567.25, -1000, 999.94, -0.04)] == [
        "1,234,567.2", "−1,000.0", "999.9", "0.0",
    ]  # fmt: skip
