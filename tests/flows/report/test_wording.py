"""Numbers in words, and the configuration as TOML."""

import math
import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.flows.report import wording
from sigstats.flows.report.toml_text import toml_text

plain = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8"), max_size=40),
)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=12), values, max_size=6))
def test_the_configuration_reads_back(config: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(config)) == config


@settings(deadline=None, derandomize=True)
@given(st.floats(-4000, -0.001))
def test_a_p_value_is_shown_within_its_rounding(log10_p: float) -> None:
    shown = wording.p_number(10.0**log10_p, log10_p).replace("\xa0", "")
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    mantissa, _, power = shown.removeprefix(">").partition("×10")
    read = math.log10(float(mantissa)) + (int(power.translate(digits)) if power else 0)
    assert abs(read - log10_p) <= math.log10(1.05) + 1e-6


def test_a_p_value_below_every_float_is_not_shown_as_zero() -> None:
    assert wording.p_number(0.0).replace("\xa0", " ") == "< 10⁻³⁰⁰"
    assert (
        wording.p_equation(0.0, at_most=True, name="Holm-adjusted p").replace("\xa0", " ") == "Holm-adjusted p < 10⁻³⁰⁰"
    )
